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

/*
 * Rows of several hosts come in turns, each host's in a block of its own, and a batch has one block.  So each of the blocks that
 * come in turns has batches of its own; a block that is over makes room for the next one.
 */
struct turns {
	struct row_batches **batches;
	uint32_t *blocks;
	uint64_t *used_at;		/* the last row; 0: none yet */
	size_t cnt;
	uint64_t row_cnt;
};

enum { PLACES_AT_MOST = 1 << 19 };	/* in all batches together: they have arrays of this length for each kind of row */

static void turns_begin(struct turns *t, const struct row_reading *r, const struct analysis *a)
{
	size_t most = PLACES_AT_MOST / a->v->places.cnt;

	t->cnt = analysis_host_cnt(a) < analysis_blocks(a).cnt ? analysis_host_cnt(a) : analysis_blocks(a).cnt;
	t->cnt = t->cnt > most ? most : t->cnt;
	t->cnt = t->cnt ? t->cnt : 1;
	t->batches = xcalloc(t->cnt, sizeof(*t->batches));
	t->blocks = xcalloc(t->cnt, sizeof(*t->blocks));
	t->used_at = xcalloc(t->cnt, sizeof(*t->used_at));
	for (size_t i = 0; i < t->cnt; i++)
		t->batches[i] = row_batches_new(a->v, take_batch, (void *)r);
}

/* Those of that block, or the ones that were not used for longest. */
static struct row_batches *turns_of(struct turns *t, uint32_t block)
{
	size_t found = 0;

	for (size_t i = 0; i < t->cnt; i++) {
		if (t->used_at[i] && t->blocks[i] == block) {
			found = i;
			break;
		}
		if (t->used_at[i] < t->used_at[found])
			found = i;
	}
	t->blocks[found] = block;
	t->used_at[found] = ++t->row_cnt;
	return t->batches[found];
}

static void turns_end(struct turns *t)
{
	for (size_t i = 0; i < t->cnt; i++) {
		row_batches_end(t->batches[i]);
		row_batches_free(t->batches[i]);
	}
	free(t->batches);
	free(t->blocks);
	free(t->used_at);
}

void read_rows(struct row_reading *r, const struct analysis *a)
{
	struct turns turns = { .row_cnt = 0 };
	struct rows_walk w;

	if (r->visitors.cnt == 0)
		return;
	turns_begin(&turns, r, a);
	for (rows_begin(&w, a->rows); rows_next(&w); ) {
		uint32_t block = a->full->block_of_row[w.row];
		bool taken = row_batches_add(turns_of(&turns, block), &w.cells, w.row, block);

		for (size_t i = 0; i < r->visitors.cnt; i++)
			if (!taken || !r->visitors.items[i].take)
				r->visitors.items[i].visit(r->visitors.items[i].arg, w.row, &w.cells);
	}
	rows_end(&w);
	turns_end(&turns);
	VEC_RELEASE(&r->visitors);
}
