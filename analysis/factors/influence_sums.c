/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * influence_sums.c - how far each block moves the shares, of the blocks' sums: what influence.c makes of rows.
 *
 * Sums of (X - mean X)(T - mean T) over a block follow from its sums of X, T and X T, in integers around the means.
 */
#include "analysis/factors/influence.h"

#include "base/banned.h"

static double centred_t(const struct analysis *a, const struct window_block *b)
{
	__int128 t = a->m->places.items[0].x;

	return moments_centred(a->m->n, t, t, b->n, b->t, b->t, b->tt);
}

void influence_take_sums(struct influence *in, const struct analysis *a)
{
	const struct place_sums *s = a->sums;
	const struct moments *m = a->m;
	double variance = m->n ? moments_variance_of(m, 0) : 0;

	if (s->kind.cnt == 0 || !(variance > 0))
		return;
	in->block_cnt = s->kind.cnt;
	in->n = m->n;
	in->place_cnt = a->v->places.cnt;
	in->of_place = xcalloc(in->place_cnt * in->block_cnt, sizeof(*in->of_place));
	in->weight = xcalloc(in->block_cnt, sizeof(*in->weight));
	in->row_cnt = xcalloc(in->block_cnt, sizeof(*in->row_cnt));
	for (size_t b = 0; b < in->block_cnt; b++) {
		in->weight[b] = centred_t(a, &s->blocks[b]) / variance;
		in->row_cnt[b] = s->blocks[b].n;
	}
	for (uint32_t i = 0; i < in->place_cnt; i++) {
		double share = moments_with_latency(m, i) / variance;

		for (size_t b = 0; b < in->block_cnt; b++) {
			const struct window_block *block = &s->blocks[b];
			double both = moments_centred(m->n, m->places.items[i].x, m->places.items[0].x, block->n, block->x[i],
						      block->t, block->xt[i]);

			in->of_place[i * in->block_cnt + b] = both / variance - share * in->weight[b];
		}
	}
}
