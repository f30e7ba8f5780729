/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * latencies.h - the latency of each interval, which is all that many passes need.
 *
 * Private to analysis/.
 */
#ifndef ANALYSIS_PASS_LATENCIES_H
#define ANALYSIS_PASS_LATENCIES_H

#include "analysis/findings/block_kind.h"
#include "analysis/findings/findings.h"
#include "analysis/tree/rows.h"

/* Per row, and per recorded interval; root-only: the same. */
struct latencies {
	int64_t *of_row, *of_recorded;	/* the same array if no interval has a weight */
	uint32_t *copies;		/* rows of each recorded one */
	uint32_t *weights;		/* the weight of an interval in full at the same rate */
	struct block_kind blocks;
	uint32_t host_cnt;		/* that have some of these intervals; 1 if no host is known */
	unsigned char *block_of_row;	/* number of its block */
	size_t recorded_cnt;		/* number of recorded intervals, whatever their weights (rows.h) */
};

/* Both latencies, and f->intervals of both, each once, in order of their starts.  f->origins says where they are from. */
void latencies_read(struct rows *rows, struct rows *root_only, struct latencies *full, struct latencies *root, struct findings *f);
void latencies_release(struct latencies *l);	/* also a _cleanup_ function */

#endif
