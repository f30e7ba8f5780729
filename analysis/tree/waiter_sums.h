/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * waiter_sums.h - the intervals' own waits, by the probed function around and the caller of what blocked.
 *
 * Private to analysis/.  waiters.c finds the functions.
 */
#ifndef ANALYSIS_TREE_WAITER_SUMS_H
#define ANALYSIS_TREE_WAITER_SUMS_H

#include "analysis/path/critical_path.h"

struct waiter_sum {
	uint32_t function, caller;	/* function: FUNCTION_NONE for none */
	enum trace_state wait;
	__int128 x, xt;
	int64_t row_ns;			/* of the interval being added */
};

struct waiter_sums {
	struct map *index_of;		/* by what they are -> index + 1 */
	VEC(struct waiter_sum) list;
	VEC(uint32_t) touched;
};

struct waiter_sums *waiter_sums_new(void);
void waiter_sums_free(struct waiter_sums *s);	/* NULL is fine */

/* Adds the waits in a path of folded pieces, of an interval with this weight. */
void waiter_sums_add(struct waiter_sums *s, const struct timeline *tl, const pieces *path, int64_t latency_ns,
		     uint32_t weight);

#endif
