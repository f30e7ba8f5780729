/* SPDX-License-Identifier: GPL-3.0-or-later */
/* row_reading.c - see row_reading.h. */
#include "analysis/pass/row_reading.h"

#include "base/banned.h"

void visit_rows(struct row_reading *r, row_visitor visit, batch_taker take, void *arg)
{
	VEC_ADD(&r->visitors, (struct visitor){ visit, take, arg });
}

static void take_batch(void *arg, const struct row_batch *b)
{
	const struct row_reading *r = arg;

	for (size_t i = 0; i < r->visitors.cnt; i++)
		if (r->visitors.items[i].take)
			r->visitors.items[i].take(r->visitors.items[i].arg, b);
}

void read_rows(struct row_reading *r, const struct analysis *a)
{
	_cleanup_(row_batches_freep) struct row_batches *batches = row_batches_new(a->v, take_batch, r);
	struct rows_walk w;

	if (r->visitors.cnt == 0)
		return;
	for (rows_begin(&w, a->rows); rows_next(&w); ) {
		bool taken = row_batches_add(batches, &w.cells, w.row, a->full->block_of_row[w.row]);

		for (size_t i = 0; i < r->visitors.cnt; i++)
			if (!taken || !r->visitors.items[i].take)
				r->visitors.items[i].visit(r->visitors.items[i].arg, w.row, &w.cells);
	}
	rows_end(&w);
	row_batches_end(batches);
	VEC_RELEASE(&r->visitors);
}
