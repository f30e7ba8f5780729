/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * times.c - rows of the variance tree, summed by column.
 *
 * Example: places interval > f > g > body with 5 ns in the body; f is column 0, g column 1, the rest none:
 * the row is (0, 5) (1, 5).
 */
#include "analysis/tree/times.h"

#include <string.h>
#include "base/banned.h"

struct times *times_new(const struct vtree *v, struct rows *rows, const uint32_t *column_of_place,
			size_t column_cnt)
{
	size_t cnt = v->places.cnt;
	struct times *t = xcalloc(1, sizeof(*t));

	t->column_cnt = column_cnt;
	t->row_cnt = rows_cnt(rows);
	t->rows = rows;
	t->column_of_place = xmalloc(cnt * sizeof(*t->column_of_place));
	memcpy(t->column_of_place, column_of_place, cnt * sizeof(*column_of_place));
	t->v = v;
	return t;
}

void times_free(struct times *t)
{
	if (!t)
		return;
	free(t->column_of_place);
	free(t);
}

void times_row_init(struct times_row *r, const struct times *t)
{
	memset(r, 0, sizeof(*r));
	r->times = t;
	r->at = xcalloc(t->column_cnt + 1, sizeof(*r->at));
}

void times_row(struct times_row *r, const cells *places)
{
	row_tree_fill(&r->tree, r->times->v, places);
	r->cells.cnt = 0;
	for (size_t k = 0; k < r->tree.list.cnt; k++) {
		uint32_t column = r->times->column_of_place[r->tree.list.items[k].place], at;

		if (column == NODE_NONE)
			continue;
		at = r->at[column];
		if (at >= r->cells.cnt || r->cells.items[at].column != column) {
			at = r->at[column] = (uint32_t)r->cells.cnt;
			VEC_ADD(&r->cells, (struct time_cell){ column, 0 });
		}
		r->cells.items[at].ns += r->tree.list.items[k].ns;
	}
}

void times_row_release(struct times_row *r)
{
	row_tree_release(&r->tree);
	VEC_RELEASE(&r->cells);
	free(r->at);
}

void times_batch_init(struct times_batch *r, const struct times *t)
{
	memset(r, 0, sizeof(*r));
	r->times = t;
	r->at = xcalloc(t->column_cnt + 1, sizeof(*r->at));
}

/* A column of one place shares that place's sums; the second place makes it a sum of its own. */
static void add_place(struct times_batch *r, uint32_t column, const batch_column ns, uint64_t rows_with)
{
	uint32_t at = r->at[column];
	struct times_column *c;

	if (at >= r->columns.cnt || r->columns.items[at].column != column) {
		r->at[column] = (uint32_t)r->columns.cnt;
		VEC_ADD(&r->columns, (struct times_column){ column, ns, rows_with });
		return;
	}
	c = &r->columns.items[at];
	if (c->ns != r->sums[at]) {
		memcpy(r->sums[at], c->ns, sizeof(r->sums[at]));
		c->ns = r->sums[at];
	}
	for (size_t i = 0; i < BATCH_ROWS; i++)
		r->sums[at][i] += ns[i];
	c->rows_with |= rows_with;
}

void times_batch(struct times_batch *r, const struct row_batch *b)
{
	if (r->sums_cap < b->nodes.cnt) {
		r->sums_cap = 2 * b->nodes.cnt;
		r->sums = xrealloc(r->sums, r->sums_cap, sizeof(*r->sums));
	}
	r->columns.cnt = 0;
	for (size_t k = 0; k < b->nodes.cnt; k++) {
		uint32_t column = r->times->column_of_place[b->nodes.items[k].place];

		if (column != NODE_NONE && b->rows_with[k])
			add_place(r, column, b->ns[k], b->rows_with[k]);
	}
}

void times_batch_release(struct times_batch *r)
{
	VEC_RELEASE(&r->columns);
	free(r->at);
	free(r->sums);
}

void times_begin(struct times_walk *w, const struct times *t)
{
	times_row_init(&w->times, t);
	rows_begin(&w->rows, t->rows);
}

bool times_next(struct times_walk *w)
{
	if (!rows_next(&w->rows))
		return false;
	w->row = w->rows.row;
	times_row(&w->times, &w->rows.cells);
	return true;
}

void times_end(struct times_walk *w)
{
	rows_end(&w->rows);
	times_row_release(&w->times);
}

void times_weighted(const struct times *t, const double *weights, double *ret)
{
	_cleanup_(freep) __int128 *sums = xcalloc(t->column_cnt + 1, sizeof(*sums));
	struct times_walk w;
	double rounding = 0;

	for (size_t i = 0; i < t->column_cnt; i++)
		ret[i] = 0;
	for (times_begin(&w, t); times_next(&w); ) {
		rounding += weights[w.row];
		for (size_t c = 0; c < w.times.cells.cnt; c++) {
			ret[w.times.cells.items[c].column] += weights[w.row] * (double)w.times.cells.items[c].ns;
			sums[w.times.cells.items[c].column] += w.times.cells.items[c].ns;
		}
	}
	times_end(&w);
	for (size_t i = 0; i < t->column_cnt && t->row_cnt; i++)
		ret[i] -= rounding * ((double)sums[i] / (double)t->row_cnt);
}
