/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * times.c - rows of the variance tree, summed by column.
 *
 * Example: places interval > f > g > body with 5 ns in the body; f is column 0, g column 1, the rest none:
 * the row is (0, 5) (1, 5).
 */
#include "analysis/times.h"

#include "base/banned.h"

static void add_row(struct times *t, const struct vtree *v, const uint32_t *column_of_place, size_t row,
		    int64_t *ns)
{
	size_t first = t->cells.cnt;

	for (size_t c = v->rows.items[row]; c < v->rows.items[row + 1]; c++) {
		for (uint32_t i = v->cells.items[c].place; i != NODE_NONE;
		     i = v->places.items[i].parent) {
			uint32_t column = column_of_place[i];

			if (column == NODE_NONE)
				continue;
			if (ns[column] == 0)
				VEC_ADD(&t->cells, (struct time_cell){ column, 0 });
			ns[column] += v->cells.items[c].ns;
		}
	}
	for (size_t c = first; c < t->cells.cnt; c++) {
		t->cells.items[c].ns = ns[t->cells.items[c].column];
		ns[t->cells.items[c].column] = 0;
	}
	VEC_ADD(&t->rows, t->cells.cnt);
}

struct times *times_new(const struct vtree *v, const uint32_t *column_of_place, size_t column_cnt)
{
	_cleanup_(freep) int64_t *ns = xcalloc(column_cnt + 1, sizeof(*ns));
	struct times *t = xcalloc(1, sizeof(*t));

	t->column_cnt = column_cnt;
	t->row_cnt = vtree_row_cnt(v);
	VEC_ADD(&t->rows, 0);
	for (size_t row = 0; row < t->row_cnt; row++)
		add_row(t, v, column_of_place, row, ns);
	return t;
}

void times_free(struct times *t)
{
	if (!t)
		return;
	VEC_RELEASE(&t->cells);
	VEC_RELEASE(&t->rows);
	free(t);
}

void times_weighted(const struct times *t, const double *weights, double *ret)
{
	_cleanup_(freep) __int128 *sums = xcalloc(t->column_cnt + 1, sizeof(*sums));
	double rounding = 0;

	for (size_t i = 0; i < t->column_cnt; i++)
		ret[i] = 0;
	for (size_t row = 0; row < t->row_cnt; row++) {
		rounding += weights[row];
		for (size_t c = t->rows.items[row]; c < t->rows.items[row + 1]; c++) {
			ret[t->cells.items[c].column] += weights[row] * (double)t->cells.items[c].ns;
			sums[t->cells.items[c].column] += t->cells.items[c].ns;
		}
	}
	for (size_t i = 0; i < t->column_cnt && t->row_cnt; i++)
		ret[i] -= rounding * ((double)sums[i] / (double)t->row_cnt);
}
