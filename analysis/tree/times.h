/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * times.h - the time of each column in each interval, as sparse rows.
 *
 * Private to analysis/.  A column is a factor or a part of the latency, as its maker numbers them.  A column without
 * time in an interval is not in its row and counts as 0.  Rows are computed from those of the variance tree each time
 * they are read.
 *
 *	struct times_walk w;
 *	for (times_begin(&w, times); times_next(&w); )
 *		... w.row, w.times.cells.items[0 .. w.times.cells.cnt - 1]
 *	times_end(&w);
 */
#ifndef ANALYSIS_TREE_TIMES_H
#define ANALYSIS_TREE_TIMES_H

#include "analysis/tree/row_batches.h"
#include "analysis/tree/row_tree.h"

struct time_cell {
	uint32_t column;
	int64_t ns;
};

struct times {
	size_t column_cnt, row_cnt;
	struct rows *rows;
	uint32_t *column_of_place;	/* NODE_NONE: none */
	const struct vtree *v;
};

/* A place's time counts for its own column and for those of all places above it; NODE_NONE: none.  v outlives it. */
struct times *times_new(const struct vtree *v, struct rows *rows, const uint32_t *column_of_place,
			size_t column_cnt);
void times_free(struct times *t);
DEFINE_CLEANUP(struct times *, times_free);

typedef VEC(struct time_cell) time_cells;

/* One row, for a caller that has the row of places already: times_row() fills cells. */
struct times_row {
	time_cells cells;
	/* private */
	const struct times *times;
	struct row_tree tree;
	uint32_t *at;			/* per column: in cells, if it is there */
};

void times_row_init(struct times_row *r, const struct times *t);
void times_row(struct times_row *r, const cells *places);
void times_row_release(struct times_row *r);

/* The same for a batch: its columns that took time, each with its rows. */
struct times_column {
	uint32_t column;
	const uint32_t *ns;		/* a batch_column */
	uint64_t rows_with;
};

struct times_batch {
	VEC(struct times_column) columns;
	/* private */
	const struct times *times;
	uint32_t *at;			/* per column: in columns, if it is there */
	batch_column *sums;		/* allocated for this many columns */
	size_t sums_cap;
};

void times_batch_init(struct times_batch *r, const struct times *t);
void times_batch(struct times_batch *r, const struct row_batch *b);
void times_batch_release(struct times_batch *r);

struct times_walk {
	size_t row;
	struct times_row times;		/* .cells */
	/* private */
	struct rows_walk rows;
};

void times_begin(struct times_walk *w, const struct times *t);
bool times_next(struct times_walk *w);
void times_end(struct times_walk *w);

/* ret[column] = sum over the rows of weights[row] * (its time - its mean), for weights that sum to 0 but for
 * rounding: times may be long and vary little. */
void times_weighted(const struct times *t, const double *weights, double *ret);

#endif
