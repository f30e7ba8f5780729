/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * factors.h - functions, bodies and waits, each summed over all its places, and pairs of siblings.
 *
 * Private to analysis/.
 */
#ifndef ANALYSIS_FACTORS_FACTORS_H
#define ANALYSIS_FACTORS_FACTORS_H

#include "analysis/factors/tree_findings.h"
#include "analysis/pass/row_reading.h"
#include "analysis/pass/summary.h"
#include "analysis/tree/times.h"

#define PRESENCE_UNKNOWN UINT64_MAX

struct presence {			/* of a factor */
	uint64_t cnt;			/* intervals in which it took time */
	__int128 t;			/* sum of their latencies */
};

struct factor_sums {
	__int128 x, xx, xt;
	__int128 tail_x;		/* over the intervals of the tail */
};

struct factor_columns {			/* the time of each factor */
	struct times *times;		/* per interval and factor, except for pairs */
	struct presence *presences;	/* per factor, except for pairs */
	uint32_t runqueue;		/* the factor of all places of place_has_runqueue_factor(); NODE_NONE: there is none */
	uint32_t *of_node;		/* factors; NODE_NONE: the interval, blames, the root function */
	struct map *of_pair;		/* factor << 32 | larger factor -> the pair's */
	bool autocorrelated;		/* confidence intervals are too narrow */
	double *blocks_of_place;	/* after end_factors(): influence.h's of_place, block_cnt of each place */
	size_t block_cnt;		/* 0: too few intervals, or nothing varies */
};

/* f->factors; rows are read between the two. */
struct factor_maker *begin_factors(const struct analysis *a, const struct call_graph *g, const struct shown_tree *shown,
				   struct row_reading *r, struct factor_columns *ret);
void end_factors(struct factor_maker *k, const struct tail_rows *tail);
void factor_columns_release(struct factor_columns *c);	/* also a _cleanup_ function */

/* runqueue.c: time in the run queue, of the intervals' threads and of those they waited for; each piece counts once. */
bool place_has_runqueue_factor(const struct factor_columns *c, const struct vtree *v, const struct place *p);	/* if it has a factor of its own */
bool place_is_runqueue(const struct vtree *v, const struct place *p);	/* if that is recorded at all */
bool has_runqueue(const struct analysis *a);

/* factor_sums.c: where there are no rows, what would have been summed over them. */
void factors_take_sums(const struct analysis *a, const struct factor_columns *c, struct factor_sums *sums);

/* factor_pairs.c: pairs, and paper_contribution of all. */
void find_pairs(struct findings *f, struct factor_columns *c);
void fill_scores(struct findings *f);		/* ... of all, once they have their shares */

#endif
