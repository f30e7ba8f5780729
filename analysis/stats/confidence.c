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
 * Example, n = 4, B = 2: T = 2, 0, 4, 2 and X = 2, 0, 2, 0: means 2 and 1, Var(T) 2, Cov 1, e = .5. f = 0, (2 - 2)/2
 * = 0, (2 - 2)/2 = 0, 0: X follows T exactly by half.  With X = 2, 0, 4, 0, mean 1.5: Cov = (.5*0 + 1.5*2 + 2.5*2 +
 * 0)/4 = 2, e = 1, f = 0, (3 - 4)/2, (5 - 4)/2, 0: blocks -.5, .5, se^2 = 2 * .5 / 16 = 1/16.
 *
 * If the sums of neighbouring blocks still correlate (lag-1 correlation above .2), the blocks are too short: they are
 * joined in pairs, down to 16.  Blocks of hosts are as they are: their order means nothing.
 */
#include "analysis/stats/confidence.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>
#include "analysis/findings/findings.h"
#include "base/banned.h"

#define LAG_1_MAX 0.2

size_t blocks_for(uint64_t n)
{
	if (n < FINDINGS_INTERVALS_MIN)
		return 0;
	return n / 2 < CONFIDENCE_BLOCKS_MAX ? n / 2 : CONFIDENCE_BLOCKS_MAX;
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

/* The quantile of Student's t; cached, because there are thousands of nodes but few numbers of blocks. */
static double t_quantile(size_t block_cnt)
{
	static double known[CONFIDENCE_BLOCKS_MAX + 1];

	if (known[block_cnt] == 0)
		known[block_cnt] = gsl_cdf_tdist_Pinv(0.975, (double)block_cnt - 1);
	return known[block_cnt];
}

struct confidence confidence_of(const double *blocks, struct block_kind kind, uint64_t n)
{
	double joined[CONFIDENCE_BLOCKS_MAX], squares = 0;
	struct confidence c = { 0, kind.cnt, false };

	memcpy(joined, blocks, kind.cnt * sizeof(*blocks));
	while (!kind.of_hosts && neighbours_alike(joined, c.block_cnt) && c.block_cnt / 2 >= CONFIDENCE_BLOCKS_MIN)
		c.block_cnt = blocks_join(joined, c.block_cnt);
	c.correlated = !kind.of_hosts && neighbours_alike(joined, c.block_cnt);
	for (size_t b = 0; b < c.block_cnt; b++)
		squares += joined[b] * joined[b];
	c.half_width = t_quantile(c.block_cnt) *
		       sqrt((double)c.block_cnt / ((double)c.block_cnt - 1) * squares) / (double)n;
	return c;
}
