/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * row_reading.h - one reading of the rows for all passes that need them next.
 *
 * Private to analysis/.  Example: factors and parts both ask for rows; one reading passes each full batch to both,
 * and rows that do not fill a batch one by one.  A visitor without batches gets every row.  The groups of batches are
 * the blocks of time.
 *
 *	struct row_reading r = { 0 };
 *
 *	visit_rows(&r, sum_row, sum_batch, factors);		any number of times
 *	read_rows(&r, a);
 */
#ifndef ANALYSIS_PASS_ROW_READING_H
#define ANALYSIS_PASS_ROW_READING_H

#include "analysis/pass/pass.h"
#include "analysis/tree/row_batches.h"

/* Called with each row by read_rows(). */
typedef void (*row_visitor)(void *arg, size_t row, const cells *places);

struct visitor {
	row_visitor visit;
	batch_taker take;		/* of rows that are alike; NULL: every row by itself, in order */
	void *arg;
};

struct row_reading {
	VEC(struct visitor) visitors;
};

void visit_rows(struct row_reading *r, row_visitor visit, batch_taker take, void *arg);

/* Reads all rows once for every visitor, then forgets the visitors. */
void read_rows(struct row_reading *r, const struct analysis *a);

#endif
