/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * times.c - rows of the variance tree, summed by column.
 *
 * Example: places interval > f > g > body with 5 ns in the body; f is column 0, g column 1, the rest none:
 * the row is (0, 5) (1, 5).
 */
#include "analysis/times.h"

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
	t->column_of_place = xcalloc(cnt, sizeof(*t->column_of_place));
	t->next_above = xcalloc(cnt, sizeof(*t->next_above));
	memcpy(t->column_of_place, column_of_place, cnt * sizeof(*column_of_place));
	for (size_t i = 0; i < cnt; i++) {	/* parents have smaller numbers */
		uint32_t parent = v->places.items[i].parent;

		t->next_above[i] = parent == NODE_NONE || column_of_place[parent] != NODE_NONE
					   ? parent : t->next_above[parent];
	}
	return t;
}

void times_free(struct times *t)
{
	if (!t)
		return;
	free(t->column_of_place);
	free(t->next_above);
	free(t);
}

void times_begin(struct times_walk *w, const struct times *t)
{
	memset(w, 0, sizeof(*w));
	w->times = t;
	w->ns = xcalloc(t->column_cnt + 1, sizeof(*w->ns));
	rows_begin(&w->rows, t->rows);
}

bool times_next(struct times_walk *w)
{
	const struct times *t = w->times;

	if (!rows_next(&w->rows))
		return false;
	w->row = w->rows.row;
	w->cells.cnt = 0;
	for (size_t c = 0; c < w->rows.cells.cnt; c++) {
		uint32_t i = w->rows.cells.items[c].place;

		if (t->column_of_place[i] == NODE_NONE)
			i = t->next_above[i];
		for (; i != NODE_NONE; i = t->next_above[i]) {
			uint32_t column = t->column_of_place[i];

			if (w->ns[column] == 0)
				VEC_ADD(&w->cells, (struct time_cell){ column, 0 });
			w->ns[column] += w->rows.cells.items[c].ns;
		}
	}
	for (size_t c = 0; c < w->cells.cnt; c++) {
		w->cells.items[c].ns = w->ns[w->cells.items[c].column];
		w->ns[w->cells.items[c].column] = 0;
	}
	return true;
}

void times_end(struct times_walk *w)
{
	rows_end(&w->rows);
	VEC_RELEASE(&w->cells);
	free(w->ns);
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
		for (size_t c = 0; c < w.cells.cnt; c++) {
			ret[w.cells.items[c].column] += weights[w.row] * (double)w.cells.items[c].ns;
			sums[w.cells.items[c].column] += w.cells.items[c].ns;
		}
	}
	times_end(&w);
	for (size_t i = 0; i < t->column_cnt && t->row_cnt; i++)
		ret[i] -= rounding * ((double)sums[i] / (double)t->row_cnt);
}
