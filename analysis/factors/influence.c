/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * influence.c - sums, over blocks of time, of how far an interval moves each place's share.
 *
 * The formula is at the top of confidence.c.  Products with T are summed up for terminal places, row by row, and
 * added up the tree at the end: the influence is linear in X.
 */
#include "analysis/factors/influence.h"

#include <string.h>
#include "base/banned.h"

static void sum_products(void *arg, size_t row, const cells *places)
{
	struct influence *in = arg;
	double deviation = in->deviations[row];
	double *sums = in->by_block + in->block_of_row[row] * in->place_cnt;

	for (size_t c = 0; c < places->cnt; c++)
		sums[places->items[c].place] += (double)places->items[c].ns * deviation;
}

/* From terminal places up the tree: parents have smaller numbers. */
static void sum_up(struct influence *in, const struct vtree *v)
{
	size_t blocks = in->block_cnt;

	in->of_place = xcalloc(in->place_cnt * blocks, sizeof(*in->of_place));
	for (size_t i = 0; i < in->place_cnt; i++)
		for (size_t b = 0; b < blocks; b++)
			in->of_place[i * blocks + b] = in->by_block[b * in->place_cnt + i];
	for (size_t i = in->place_cnt; i-- > 1; )
		for (size_t b = 0; b < blocks; b++)
			in->of_place[v->places.items[i].parent * blocks + b] += in->of_place[i * blocks + b];
}

/* latency - mean, without losing the digits of a long mean. */
static double *deviations_of(const struct moments *m, const int64_t *latencies_ns)
{
	double *deviations = xcalloc(m->n + 1, sizeof(*deviations));
	__int128 n = (__int128)m->n, sum = m->places.items[0].x, whole = sum / n;
	double fraction = (double)((long double)(sum - whole * n) / (long double)n);

	for (size_t row = 0; row < m->n; row++)
		deviations[row] = (double)(latencies_ns[row] - (int64_t)whole) - fraction;
	return deviations;
}

void influence_begin(struct influence *in, const struct analysis *a, struct row_reading *r)
{
	const struct moments *m = a->m;

	memset(in, 0, sizeof(*in));
	if (a->sums) {
		influence_take_sums(in, a);
		return;
	}
	if (m->n == 0 || !(moments_variance_of(m, 0) > 0) || analysis_blocks(a).cnt == 0)
		return;
	in->block_cnt = analysis_blocks(a).cnt;
	in->block_of_row = a->full->block_of_row;
	in->n = m->n;
	in->place_cnt = a->v->places.cnt;
	in->by_block = xcalloc(in->place_cnt * in->block_cnt, sizeof(*in->by_block));
	in->deviations = deviations_of(m, a->full->of_row);
	visit_rows(r, sum_products, NULL, in);
}

static void sum_deviations(struct influence *in, double variance, double *ret_first)
{
	in->weight = xcalloc(in->block_cnt, sizeof(*in->weight));
	in->row_cnt = xcalloc(in->block_cnt, sizeof(*in->row_cnt));
	for (size_t row = 0; row < in->n; row++) {
		size_t block = in->block_of_row[row];

		in->row_cnt[block]++;
		ret_first[block] += in->deviations[row];
		in->weight[block] += in->deviations[row] * in->deviations[row] / variance;
	}
}

void influence_end(struct influence *in, const struct analysis *a)
{
	const struct moments *m = a->m;
	double variance = moments_variance_of(m, 0);
	_cleanup_(freep) double *first = xcalloc(in->block_cnt, sizeof(*first));	/* sums of the deviations */

	if (a->sums)
		return;
	sum_up(in, a->v);
	sum_deviations(in, variance, first);
	for (uint32_t i = 0; i < in->place_cnt; i++) {
		double mean = moments_mean(m->n, m->places.items[i].x);
		double share = moments_with_latency(m, i) / variance;
		double *blocks = in->of_place + i * in->block_cnt;

		for (size_t b = 0; b < in->block_cnt; b++)
			blocks[b] = (blocks[b] - mean * first[b]) / variance -
				    share * in->weight[b];
	}
}

void influence_release(struct influence *in)
{
	free(in->by_block);
	free(in->deviations);
	free(in->of_place);
	free(in->row_cnt);
	free(in->weight);
	memset(in, 0, sizeof(*in));
}
