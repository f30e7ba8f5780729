/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collected.h - the sums over the intervals of one name, window by window: analyzer.c makes them, analyze.c reads
 * them.
 *
 * Private to analysis/.
 */
#ifndef ANALYSIS_COLLECTED_H
#define ANALYSIS_COLLECTED_H

#include "analysis/analyze.h"
#include "analysis/tree/intervals.h"
#include "analysis/tree/moments.h"
#include "analysis/tree/nestings.h"
#include "analysis/tree/rows.h"
#include "analysis/tree/thread_spans.h"

struct collected {			/* of the intervals of one name */
	struct counted_intervals counted;
	struct vtree *v;
	struct waiter_sums *waiters;
	struct before_sums *before;
	struct put_aside *put_aside;
	struct moments *m;
	struct rows *rows;		/* of the intervals in full */
	struct rows *root_only;		/* empty rows */
	struct summing *summing;	/* NULL: rows are kept; else sums take their place */
	bool is_final;			/* no more rows come: places have their final numbers */
};

struct analyzer {
	VEC(struct collected *) by_name;	/* NULL: no such interval yet, or not wanted */
	struct nestings *nestings;
	struct lives *lives;
	bool nestings_final;
	bool sums_up;
	int64_t window_ns;		/* if it sums up */
	uint64_t clamped;
};

/* analyzer.c: of the intervals of that name; made if there is none. */
struct collected *analyzer_collected(struct analyzer *a, uint32_t name);

/* analyze.c: what the rows of one name say.  clamped: of the whole trace. */
int analyze_collected(const struct trace *names, struct collected *c, const struct nestings *nestings,
		      const struct lives *lives, uint64_t clamped, uint32_t name, const struct analyze_options *o, struct findings **ret);

#endif
