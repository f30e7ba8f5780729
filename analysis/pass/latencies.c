/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * latencies.c - reads the heads of all rows once: intervals recorded in full and root-only ones side by side.
 *
 *	full		10..30 sid 1, 20..60 sid 3 (weight 2: read twice)
 *	root-only	15..40 sid 2
 *	->  intervals 1, 2, 3; latencies per row 20, 40, 40; per recorded one 20, 40
 */
#include "analysis/pass/latencies.h"

#include "analysis/stats/confidence.h"
#include "base/banned.h"

struct heads {				/* being read */
	struct rows_walk w;
	struct latencies *l;
	size_t recorded_cnt, block_cnt;
	bool has_row;
};

static void next_head(struct heads *h)
{
	const struct rows_walk *w = &h->w;

	h->has_row = rows_next(&h->w);
	if (!h->has_row)
		return;
	h->l->of_row[w->row] = h->l->of_recorded[w->recorded] = w->head.end_ns - w->head.start_ns;
	h->l->copies[w->recorded] = w->copies;
	h->l->weights[w->recorded] = w->head.weight;
	h->l->block_of_row[w->row] = (unsigned char)(w->recorded * h->block_cnt / h->recorded_cnt);
}

static void begin_heads(struct heads *h, struct rows *rows, struct latencies *l)
{
	size_t cnt = rows_cnt(rows) + 1, recorded = rows_recorded(rows) + 1;

	l->recorded_cnt = recorded - 1;
	l->of_row = xcalloc(cnt, sizeof(*l->of_row));
	l->of_recorded = cnt == recorded ? l->of_row : xcalloc(recorded, sizeof(*l->of_recorded));
	l->copies = xcalloc(recorded, sizeof(*l->copies));
	l->weights = xcalloc(recorded, sizeof(*l->weights));
	l->block_of_row = xcalloc(cnt, sizeof(*l->block_of_row));
	*h = (struct heads){ .l = l, .recorded_cnt = recorded - 1, .block_cnt = blocks_for(recorded - 1) };
	rows_begin(&h->w, rows);
	h->w.heads_only = true;
	next_head(h);
}

static void add_interval(struct findings *f, const struct row_head *h, bool root_only)
{
	VEC_ADD(&f->intervals, (struct interval_row){
		.sid = h->sid, .root_only = root_only, .start_ns = h->start_ns, .end_ns = h->end_ns,
		.start_tid = h->start_tid, .end_tid = h->end_tid, .origin = h->origin });
}

static bool is_before(const struct row_head *a, const struct row_head *b)
{
	return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a->sid < b->sid;
}

void latencies_read(struct rows *rows, struct rows *root_only, struct latencies *full_l, struct latencies *root_l, struct findings *f)
{
	struct heads full, root;
	size_t last = SIZE_MAX;

	VEC_ROOM(&f->intervals, rows_recorded(rows) + rows_recorded(root_only));
	begin_heads(&full, rows, full_l);
	begin_heads(&root, root_only, root_l);
	VEC_ROOM(&f->intervals, rows_recorded(rows) + rows_recorded(root_only));
	while (full.has_row || root.has_row) {
		if (full.has_row && full.w.recorded == last) {	/* repeated for its weight */
			next_head(&full);
		} else if (full.has_row && (!root.has_row || is_before(&full.w.head, &root.w.head))) {
			add_interval(f, &full.w.head, false);
			last = full.w.recorded;
			next_head(&full);
		} else {
			add_interval(f, &root.w.head, true);
			next_head(&root);
		}
	}
	rows_end(&full.w);
	rows_end(&root.w);
}

void latencies_release(struct latencies *l)
{
	if (l->of_recorded != l->of_row)
		free(l->of_recorded);
	free(l->of_row);
	free(l->copies);
	free(l->weights);
	free(l->block_of_row);
}
