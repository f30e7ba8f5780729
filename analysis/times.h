/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * times.h - how long each of some things took in each interval, as sparse rows.
 *
 * Private to analysis/.  A column is whatever its maker numbers: factors, or the parts of the latency.
 * What took no time in an interval is not in its row and counts as 0.
 */
#ifndef ANALYSIS_TIMES_H
#define ANALYSIS_TIMES_H

#include "analysis/variance_tree.h"

struct time_cell {
	uint32_t column;
	int64_t ns;
};

struct times {
	size_t column_cnt, row_cnt;
	VEC(struct time_cell) cells;
	VEC(size_t) rows;		/* where each row's cells begin; one more than there are rows */
};

/* A place's time counts for its own column and for those of all places above it; NODE_NONE: none. */
struct times *times_new(const struct vtree *v, const uint32_t *column_of_place, size_t column_cnt);
void times_free(struct times *t);
DEFINE_CLEANUP(struct times *, times_free);

/* ret[column] = sum over the rows of weights[row] * (its time - its mean), for weights that sum to 0 but for
 * rounding: times may be long and vary little. */
void times_weighted(const struct times *t, const double *weights, double *ret);

#endif
