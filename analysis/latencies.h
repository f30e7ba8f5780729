/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * latencies.h - how long each interval took: all that many passes need of the rows.
 *
 * Private to analysis/.
 */
#ifndef ANALYSIS_LATENCIES_H
#define ANALYSIS_LATENCIES_H

#include "analysis/passes.h"

/* Per row, and per recorded one; root-only: the same. */
struct latencies {
	int64_t *of_row, *of_recorded;	/* one array where each is read once */
	uint32_t *copies, *weights;
	unsigned char *block_of_row;
};

/* Both latencies, and f->intervals of both, each once, in order of their starts. */
void latencies_read(const struct collected *c, struct latencies *full, struct latencies *root, struct findings *f);
void latencies_release(struct latencies *l);	/* also a _cleanup_ function */

#endif
