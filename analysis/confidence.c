/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * confidence.c - confidence intervals of shares by batch means.
 *
 * A share e = Cov(X,T)/Var(T) moves by f / n when an interval is added, with
 *
 *	f = ((X - mean X)(T - mean T) - e (T - mean T)^2) / Var(T)
 *
 * (its influence; over all n intervals it sums to 0).  With F(b) the sum over block b of B:
 *
 *	se^2 = B/(B - 1) sum F(b)^2 / n^2	e -+ t(.975, B - 1) se
 *
 * Example, n = 4, B = 2: T = 2, 0, 4, 2 and X = 2, 0, 2, 0: means 2 and 1, Var(T) 2, Cov 1, e = .5.
 * f = 0, (2 - 2)/2 = 0, (2 - 2)/2 = 0, 0: X follows T exactly by half.  With X = 2, 0, 4, 0, mean 1.5:
 * Cov = (.5*0 + 1.5*2 + 2.5*2 + 0)/4 = 2, e = 1, f = 0, (3 - 4)/2, (5 - 4)/2, 0: blocks -.5, .5,
 * se^2 = 2 * .5 / 16 = 1/16.
 *
 * Where the sums of neighbouring blocks still go together (lag-1 correlation above .2) the blocks are
 * too short: they are joined in twos, down to 16.
 */
#include "analysis/confidence.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>
#include "base/banned.h"

#define LAG_1_MAX 0.2

size_t blocks_for(uint64_t n)
{
	if (n < FINDINGS_INTERVALS_MIN)
		return 0;
	return n / 2 < CONFIDENCE_BLOCKS_MAX ? n / 2 : CONFIDENCE_BLOCKS_MAX;
}

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

void influence_begin(struct influence *in, struct analysis *a)
{
	const struct moments *m = a->m;

	memset(in, 0, sizeof(*in));
	if (m->n == 0 || !(moments_variance_of(m, 0) > 0) || blocks_for(a->recorded_cnt) == 0)
		return;
	in->block_cnt = blocks_for(a->recorded_cnt);
	in->block_of_row = a->block_of_row;
	in->n = m->n;
	in->place_cnt = a->v->places.cnt;
	in->by_block = xcalloc(in->place_cnt * in->block_cnt, sizeof(*in->by_block));
	in->deviations = deviations_of(m, a->latencies_ns);
	visit_rows(a, sum_products, NULL, in);
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

size_t blocks_join(double *blocks, size_t cnt)
{
	for (size_t b = 0; b < cnt / 2; b++)
		blocks[b] = blocks[2 * b] + blocks[2 * b + 1];
	if (cnt % 2)
		blocks[cnt / 2] = blocks[cnt - 1];
	return (cnt + 1) / 2;
}

static bool neighbours_alike(const double *blocks, size_t cnt)
{
	double squares = 0, products = 0;

	for (size_t b = 0; b < cnt; b++)
		squares += blocks[b] * blocks[b];
	for (size_t b = 0; b + 1 < cnt; b++)
		products += blocks[b] * blocks[b + 1];
	return products > LAG_1_MAX * squares;
}

/* Of Student's t; kept, for there are thousands of nodes and only a few numbers of blocks. */
static double t_quantile(size_t block_cnt)
{
	static double known[CONFIDENCE_BLOCKS_MAX + 1];

	if (known[block_cnt] == 0)
		known[block_cnt] = gsl_cdf_tdist_Pinv(0.975, (double)block_cnt - 1);
	return known[block_cnt];
}

struct confidence confidence_of(const double *blocks, size_t block_cnt, uint64_t n)
{
	double joined[CONFIDENCE_BLOCKS_MAX], squares = 0;
	struct confidence c = { 0, block_cnt, false };

	memcpy(joined, blocks, block_cnt * sizeof(*blocks));
	while (neighbours_alike(joined, c.block_cnt) && c.block_cnt / 2 >= CONFIDENCE_BLOCKS_MIN)
		c.block_cnt = blocks_join(joined, c.block_cnt);
	c.correlated = neighbours_alike(joined, c.block_cnt);
	for (size_t b = 0; b < c.block_cnt; b++)
		squares += joined[b] * joined[b];
	c.half_width = t_quantile(c.block_cnt) *
		       sqrt((double)c.block_cnt / ((double)c.block_cnt - 1) * squares) / (double)n;
	return c;
}
