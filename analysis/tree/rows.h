/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rows.h - one row per interval: its identity, and the time it spent in each terminal place.
 *
 * Private to analysis/.  Rows are added in any order and read, as often as needed, in order of their intervals' start
 * and SID.  A few MB are kept in memory, the rest in a file without a name.
 *
 *	struct rows_walk w;
 *	for (rows_begin(&w, rows); rows_next(&w); )
 *		... w.row, w.head, w.cells.items[0 .. w.cells.cnt - 1]
 *	rows_end(&w);
 *
 * A row of weight 3 is read three times, one after the other, so all sums, counts and orders are weighted; only
 * measures of certainty count recorded intervals.  Weights are taken relative to their common divisor:
 *
 *	weights 8, 24, 8	rows_cnt 5, rows_recorded 3:  row 0, 1 1 1, 2
 */
#ifndef ANALYSIS_TREE_ROWS_H
#define ANALYSIS_TREE_ROWS_H

#include "trace/model.h"

struct cell {				/* of a row: time in a terminal place */
	uint32_t place;
	int64_t ns;
};
typedef VEC(struct cell) cells;

struct noted_work {			/* VPROF_WORK in the interval */
	uint32_t name;			/* index into trace.work_names */
	int64_t value;
};
typedef VEC(struct noted_work) noted_works;

struct row_head {
	int64_t start_ns, end_ns;
	uint64_t sid, start_tid, end_tid;
	uint32_t weight;		/* number of intervals that it represents; 0: 1 */
	uint32_t origin;		/* as of the interval */
};

struct rows;

struct rows *rows_new(void);
/* Its rows are read once each, whatever their weight. */
struct rows *rows_new_unrepeated(void);
void rows_free(struct rows *r);
DEFINE_CLEANUP(struct rows *, rows_free);

void rows_add(struct rows *r, const struct row_head *head, const struct cell *cells, size_t cell_cnt,
	      const struct noted_work *works, size_t work_cnt);

size_t rows_cnt(const struct rows *r);		/* as they are read, with repetitions */
size_t rows_recorded(const struct rows *r);
size_t rows_recorded_of(const struct rows *r, uint32_t origin);
uint32_t rows_unit(const struct rows *r);	/* common divisor of all weights; 1 if there are none */

/* From now on places are read under these numbers, new_ids[old]; takes over the array. */
void rows_renumber(struct rows *r, uint32_t *new_ids);

/* 0, or the negative errno of the first write or read that failed: rows are missing then. */
int rows_error(const struct rows *r);

/* How many bytes are kept in memory before they go to the file.  Tests make it small. */
extern size_t rows_memory_bytes;

struct rows_walk {
	size_t row;			/* from 0 */
	size_t recorded;		/* the same, without repetitions */
	uint32_t copies;		/* how many times it is read in all */
	struct row_head head;
	cells cells;
	noted_works works;
	bool heads_only;		/* set after rows_begin(): cells and works are skipped */
	/* private */
	struct rows *rows;
	struct row_reader *readers;
	size_t reader_cnt, next;
	uint32_t copies_left;
	uint32_t *heap;			/* of readers, the one with the earliest row first */
};

/* No row may be added during a walk. */
void rows_begin(struct rows_walk *w, struct rows *r);
bool rows_next(struct rows_walk *w);
void rows_end(struct rows_walk *w);

#endif
