/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * moments.h - exact first and second moments of every place, over all intervals.
 *
 * Private to analysis/.  An interval in which a place took no time counts as 0.  Sums are
 * 128-bit integers, so the result is the same for any order of the intervals; they cannot
 * overflow while n * L^2 < 2^124, L the longest latency in ns (MOMENTS_BOUND).
 */
#ifndef ANALYSIS_TREE_MOMENTS_H
#define ANALYSIS_TREE_MOMENTS_H

#include "analysis/tree/variance_tree.h"

struct sums {				/* over all rows */
	__int128 x, xx, xt;		/* X, X^2, X * T */
};

struct pair_table;			/* sums of products of siblings, of one parent */

struct moments {
	uint64_t n;
	VEC(struct sums) places;	/* one per place; places[0] is T itself */
	VEC(struct pair_table) pairs;	/* one per place, for its children */
	struct row_scratch *scratch;
	struct row_batches *batches;	/* rows that are not in the sums yet */
	const struct vtree *v;		/* of those */
};

struct moments *moments_new(void);
void moments_free(struct moments *m);
DEFINE_CLEANUP(struct moments *, moments_free);

/* Rows in any order, all of one tree; each sums to the interval's latency, and counts weight times. */
void moments_add_row(struct moments *m, const struct vtree *v, const cells *row, uint32_t weight);

/* No more rows come; before this call the sums are incomplete. */
void moments_end(struct moments *m);

/* All weights had this common divisor: makes the sums as if they had been added divided by it. */
void moments_divide(struct moments *m, uint32_t unit);

/* Sums that were made elsewhere: those of a place, of a tree with that many places; the product of two siblings. */
void moments_set(struct moments *m, const struct vtree *v, uint32_t place, const struct sums *sums);
void moments_set_pair(struct moments *m, const struct vtree *v, uint32_t a, uint32_t b, __int128 xy);

/* Gives places the numbers of vtree_renumber(), new_ids[old]. */
void moments_renumber(struct moments *m, const struct vtree *v, const uint32_t *new_ids);

/* Population covariance (divisor n) from sums of X, Y and X * Y. */
double moments_covariance(uint64_t n, __int128 x, __int128 y, __int128 xy);
double moments_mean(uint64_t n, __int128 x);

/* Sum of (X - mean X)(Y - mean Y) over cnt of the n intervals: x, y and xy are their sums, all_x and all_y those of all. */
double moments_centred(uint64_t n, __int128 all_x, __int128 all_y, uint64_t cnt, __int128 x, __int128 y, __int128 xy);

double moments_variance_of(const struct moments *m, uint32_t place);
double moments_with_latency(const struct moments *m, uint32_t place);	/* Cov(X, T) */
/* For a parent with at most CHILDREN_WITH_ALL places below it; for others see sibling_pairs.h. */
double moments_of_siblings(const struct moments *m, const struct vtree *v, uint32_t a, uint32_t b);

#endif
