/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * row_batches.h - rows that are alike, up to 64 at a time, by columns.
 *
 * Private to analysis/.  Requests mostly have few shapes: their rows have nearly the same places.  Such rows are of
 * one kind; put side by side, what each place took is a column, a sum over 64 rows is a few vector instructions, and
 * what has to be known of a place is looked up once for all of them.  Example, three rows of one kind:
 *
 *	nodes		interval   f    body of f   g	body of g
 *	parent		-          0    1           0	3
 *	rows_with	111        111  111         101	101
 *	ns of row 0	8          5    5           3	3
 *	ns of row 1	6          6    6           0	0
 *	ns of row 2	9          4    4           5	5
 *
 * All sums and products are exact: latencies of a batch are below 2^29 ns, so sums of 64 products fit into 64 bits.
 * A row that is longer, or of no kind, is not taken: the caller handles it alone.
 */
#ifndef ANALYSIS_TREE_ROW_BATCHES_H
#define ANALYSIS_TREE_ROW_BATCHES_H

#include "analysis/tree/variance_tree.h"

#define BATCH_ROWS 64

typedef uint32_t batch_column[BATCH_ROWS];	/* 0 after the last row */

struct batch_node {
	uint32_t place;
	uint32_t parent;		/* index, smaller than its own; the first, which is the interval, has 0 */
	uint32_t only_child;		/* the descendant that has all its time, or itself */
};

struct row_batch {
	size_t cnt;			/* rows */
	size_t rows[BATCH_ROWS];	/* the numbers with which they were added */
	uint32_t group;			/* ... and the group, of all of them */
	VEC(struct batch_node) nodes;	/* the places that took time, and the places above them, parents first */
	batch_column *ns;		/* per node: its whole subtree */
	uint64_t *rows_with;		/* per node: bit r is set if row r took time there */
	uint32_t *node_of_place;	/* NODE_NONE: none */
};

struct row_batches;

typedef void (*batch_taker)(void *arg, const struct row_batch *b);

struct row_batches *row_batches_new(const struct vtree *v, batch_taker take, void *arg);
/* Forgets rows that were not yielded yet. */
void row_batches_free(struct row_batches *b);
DEFINE_CLEANUP(struct row_batches *, row_batches_free);

/* Number of kinds at a time, at most ROW_BATCHES_KINDS_MAX.  Tests make it small; the sums are the same. */
#define ROW_BATCHES_KINDS_MAX 16
extern size_t row_batches_kinds;

/* false: the row is in no batch.  Rows of different groups are never in one. */
bool row_batches_add(struct row_batches *b, const cells *row, size_t number, uint32_t group);

/* Yields all batches that are not empty. */
void row_batches_end(struct row_batches *b);

uint64_t batch_sum(const batch_column x);
uint64_t batch_sum_of_rows(const batch_column x, uint64_t rows);
/* where: 0 or all bits set for each row; sums the rows with all bits. */
uint64_t batch_sum_where(const batch_column x, const batch_column where);
/* The rows of a batch with such latencies, one bit each; also as in where. */
uint64_t batch_rows_from(const struct row_batch *b, int64_t latency_ns, batch_column ret_where);
uint64_t batch_rows_to(const struct row_batch *b, int64_t latency_ns, batch_column ret_where);
/* sum of x * y over the rows; rows_with: those in which neither is 0. */
uint64_t batch_product(const batch_column x, const batch_column y, uint64_t rows_with);

static inline uint64_t row_batch_product(const struct row_batch *b, uint32_t i, uint32_t k)
{
	return batch_product(b->ns[i], b->ns[k], b->rows_with[i] & b->rows_with[k]);
}

#endif
