/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * times.h - how long each of some things took in each interval, as sparse rows.
 *
 * Private to analysis/.  A column is whatever its maker numbers: factors, or the parts of the latency.
 * What took no time in an interval is not in its row and counts as 0.  Rows are made anew from those of the
 * variance tree each time they are read.
 *
 *	struct times_walk w;
 *	for (times_begin(&w, times); times_next(&w); )
 *		... w.row, w.cells.items[0 .. w.cells.cnt - 1]
 *	times_end(&w);
 */
#ifndef ANALYSIS_TIMES_H
#define ANALYSIS_TIMES_H

#include "analysis/rows.h"
#include "analysis/variance_tree.h"

struct time_cell {
	uint32_t column;
	int64_t ns;
};

struct times {
	size_t column_cnt, row_cnt;
	struct rows *rows;
	uint32_t *column_of_place;	/* NODE_NONE: none */
	uint32_t *next_above;		/* per place: the nearest above it that has a column, or NODE_NONE */
};

/* A place's time counts for its own column and for those of all places above it; NODE_NONE: none. */
struct times *times_new(const struct vtree *v, struct rows *rows, const uint32_t *column_of_place,
			size_t column_cnt);
void times_free(struct times *t);
DEFINE_CLEANUP(struct times *, times_free);

struct times_walk {
	size_t row;
	VEC(struct time_cell) cells;
	/* private */
	const struct times *times;
	struct rows_walk rows;
	int64_t *ns;			/* per column */
};

void times_begin(struct times_walk *w, const struct times *t);
bool times_next(struct times_walk *w);
void times_end(struct times_walk *w);

/* ret[column] = sum over the rows of weights[row] * (its time - its mean), for weights that sum to 0 but for
 * rounding: times may be long and vary little. */
void times_weighted(const struct times *t, const double *weights, double *ret);

#endif
