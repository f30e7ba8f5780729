/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * latencies.c - reads the heads of all rows once: intervals recorded in full and root-only ones side by side.
 *
 *	full		10..30 sid 1, 20..60 sid 3 (weight 2: read twice)
 *	root-only	15..40 sid 2
 *	->  intervals 1, 2, 3; latencies per row 20, 40, 40; per recorded one 20, 40
 *
 * Blocks are stretches of equal numbers of recorded intervals, one host after the other; of CONFIDENCE_HOSTS_MIN hosts
 * or more they are the hosts.
 */
#include "analysis/pass/latencies.h"

#include <stdlib.h>
#include "analysis/findings/hosts.h"
#include "analysis/stats/confidence.h"
#include "base/banned.h"

struct heads {				/* being read */
	struct rows_walk w;
	struct latencies *l;
	uint32_t *host_of_origin;
	uint32_t origin_cnt;		/* 0: nobody said */
	size_t *next_of_host;		/* its next interval, counted host after host; of blocks of hosts: its block */
	size_t block;
	bool has_row;
};

/* The block of a recorded interval. */
static size_t next_block(struct heads *h, uint32_t origin)
{
	size_t *next = &h->next_of_host[origin < h->origin_cnt ? h->host_of_origin[origin] : 0];

	return h->l->blocks.of_hosts ? *next : (*next)++ * h->l->blocks.cnt / h->l->recorded_cnt;
}

static void next_head(struct heads *h)
{
	const struct rows_walk *w = &h->w;
	size_t last = h->w.recorded;

	h->has_row = rows_next(&h->w);
	if (!h->has_row)
		return;
	if (w->recorded != last)
		h->block = next_block(h, w->head.origin);
	h->l->of_row[w->row] = h->l->of_recorded[w->recorded] = w->head.end_ns - w->head.start_ns;
	h->l->copies[w->recorded] = w->copies;
	h->l->weights[w->recorded] = w->head.weight;
	h->l->block_of_row[w->row] = (unsigned char)h->block;
}

/* Numbers the hosts that have intervals, and decides what the blocks are. */
static void cut_into_blocks(struct heads *h, const struct rows *rows, uint32_t host_cnt)
{
	_cleanup_(freep) size_t *cnt_of_host = xcalloc(host_cnt + 1, sizeof(*cnt_of_host));
	struct latencies *l = h->l;
	size_t before = 0, number = 0;

	for (uint32_t i = 0; i < h->origin_cnt; i++)
		cnt_of_host[h->host_of_origin[i]] += rows_recorded_of(rows, i);
	for (uint32_t i = 0; i < host_cnt; i++)
		l->host_cnt += cnt_of_host[i] > 0;
	l->blocks.cnt = blocks_for(l->recorded_cnt);
	l->blocks.of_hosts = l->host_cnt >= CONFIDENCE_HOSTS_MIN && l->blocks.cnt > 0;
	if (l->blocks.of_hosts && l->host_cnt < l->blocks.cnt)
		l->blocks.cnt = l->host_cnt;
	for (uint32_t i = 0; i < host_cnt; i++) {
		h->next_of_host[i] = l->blocks.of_hosts ? number * l->blocks.cnt / l->host_cnt : before;
		number += cnt_of_host[i] > 0;
		before += cnt_of_host[i];
	}
}

static void begin_heads(struct heads *h, struct rows *rows, struct latencies *l, const struct findings *f)
{
	size_t cnt = rows_cnt(rows) + 1, recorded = rows_recorded(rows) + 1;
	uint32_t host_cnt;

	*l = (struct latencies){ .recorded_cnt = recorded - 1 };
	l->of_row = xcalloc(cnt, sizeof(*l->of_row));
	l->of_recorded = cnt == recorded ? l->of_row : xcalloc(recorded, sizeof(*l->of_recorded));
	l->copies = xcalloc(recorded, sizeof(*l->copies));
	l->weights = xcalloc(recorded, sizeof(*l->weights));
	l->block_of_row = xcalloc(cnt, sizeof(*l->block_of_row));
	*h = (struct heads){ .l = l, .origin_cnt = (uint32_t)f->origins.cnt };
	h->host_of_origin = hosts_of_origins(f->origins.items, f->origins.cnt, &host_cnt);
	h->next_of_host = xcalloc(host_cnt + 1, sizeof(*h->next_of_host));
	cut_into_blocks(h, rows, host_cnt);
	rows_begin(&h->w, rows);
	h->w.heads_only = true;
	next_head(h);
}

static void end_heads(struct heads *h)
{
	rows_end(&h->w);
	free(h->host_of_origin);
	free(h->next_of_host);
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
	begin_heads(&full, rows, full_l, f);
	begin_heads(&root, root_only, root_l, f);
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
	end_heads(&full);
	end_heads(&root);
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
