/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ranks.c - which ranks of factors hold, and how much data would settle the others.
 *
 * A factor's rank is resolved if it is the same in 95 % of 1,000 draws.  A draw takes blocks at random, with
 * replacement, as many as there are; the share of a factor in it is
 *
 *	e* = e + sum F(b) / sum w(b)	over the blocks drawn
 *
 * (w: the block's part of n Var(T)).  Each draw has its own ranking: first the factors above the default threshold,
 * by specificity x share, then those below.  Its rank interval leaves out a fortieth of the draws on either side.
 * Example, two blocks with F = -1, 1 for f and 1, -1 for g, w = 2 each: f .5 and g .4 become 0 and .9 if the first
 * block is drawn twice.  Draws come from a fixed seed: the same run has the same answer.
 *
 * More intervals: the distance D of two scores s e has the standard error se of the blocks s F - s' F', which shrinks
 * with the root of n; n is enough when 1.96 se = D.  Among the scores that could change the factor's rank, the one that
 * needs the largest n counts.  Example: 15 % and 10 % of equal specificity, se 4 points, n = 1,000: (1.96 * 4 / 5)^2
 * = 2.46 times the intervals, 1,500 more.
 *
 * The blocks are the shortest that were long enough for every factor in the ranking.
 */
#include "analysis/factors/ranks.h"

#include <gsl/gsl_rng.h>
#include <math.h>
#include <string.h>
#include "base/banned.h"

#define DRAWS 1000
#define SAME_RANK_MIN 0.95
#define CANDIDATES_MAX 200		/* more cannot be distinguished anyway */
#define NORMAL_975 1.96

static const double threshold = FACTORS_THRESHOLD_DEFAULT;

void ranking_add(struct ranking *r, uint32_t factor, double value, struct confidence c,
		 const double *blocks, size_t cnt)
{
	struct candidate *x;

	if (r->block_cnt == 0)
		r->block_cnt = cnt;
	if (value + c.half_width <= threshold)
		return;
	x = VEC_EXTEND(&r->candidates);
	x->factor = factor;
	x->value = value;
	x->rank = SIZE_MAX;
	memcpy(x->blocks, blocks, cnt * sizeof(*blocks));
	if (value > threshold && c.block_cnt < r->block_cnt)
		r->block_cnt = c.block_cnt;
}

void ranking_release(struct ranking *r)
{
	VEC_RELEASE(&r->candidates);
}

static double specificity_of(const struct ranking *r, const struct candidate *c)
{
	return r->f->factors.items[c->factor].specificity;
}

static void rank_findings(struct ranking *r)
{
	const struct select_options o = { 0, threshold, r->paper, false };
	_cleanup_(freep) uint32_t *order = NULL;
	size_t cnt = factors_select(r->f, &o, &order);

	for (size_t rank = 0; rank < cnt; rank++)
		for (size_t i = 0; i < r->candidates.cnt; i++)
			if (r->candidates.items[i].factor == order[rank])
				r->candidates.items[i].rank = rank;
}

/* ---- draws ---- */

static void draw_values(struct ranking *r, gsl_rng *random)
{
	unsigned drawn[CONFIDENCE_BLOCKS_MAX] = { 0 };
	double weight = 0;

	for (size_t b = 0; b < r->block_cnt; b++)
		drawn[gsl_rng_uniform_int(random, r->block_cnt)]++;
	for (size_t b = 0; b < r->block_cnt; b++)
		weight += drawn[b] * r->weight[b];
	for (size_t i = 0; i < r->candidates.cnt; i++) {
		struct candidate *c = &r->candidates.items[i];
		double moved = 0;

		for (size_t b = 0; b < r->block_cnt; b++)
			moved += drawn[b] * c->blocks[b];
		c->drawn = weight > 0 ? c->value + moved / weight : 0;
		c->score = c->drawn > 0 ? specificity_of(r, c) * c->drawn : 0;
	}
}

static bool is_before(const struct candidate *a, const struct candidate *b)
{
	return a->score > b->score || (a->score == b->score && a->rank < b->rank);
}

/* cnt_at_rank: [candidate * (candidates + 1) + rank]. */
static void count_ranks(struct ranking *r, unsigned *cnt_at_rank)
{
	size_t cnt = r->candidates.cnt;

	for (size_t i = 0; i < cnt; i++) {
		struct candidate *c = &r->candidates.items[i];
		bool above = c->drawn > threshold;
		size_t before = 0;

		for (size_t k = 0; k < cnt; k++)
			before += r->candidates.items[k].drawn > threshold &&
				  (!above || is_before(&r->candidates.items[k], c));
		c->same_cnt += above && before == c->rank;
		cnt_at_rank[i * (cnt + 1) + before]++;
	}
}

static uint32_t rank_quantile(const unsigned *cnt_at_rank, unsigned draws)
{
	unsigned seen = 0;

	for (uint32_t rank = 0; ; rank++) {
		seen += cnt_at_rank[rank];
		if (seen >= draws)
			return rank + 1;
	}
}

static void make_draws(struct ranking *r)
{
	size_t cnt = r->candidates.cnt;
	_cleanup_(freep) unsigned *cnt_at_rank = xcalloc(cnt * (cnt + 1), sizeof(*cnt_at_rank));
	gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);

	gsl_rng_set(random, 1);
	for (unsigned draw = 0; draw < DRAWS; draw++) {
		draw_values(r, random);
		count_ranks(r, cnt_at_rank);
	}
	gsl_rng_free(random);
	for (size_t i = 0; i < cnt; i++) {
		struct candidate *c = &r->candidates.items[i];

		c->resolved = c->same_cnt >= SAME_RANK_MIN * DRAWS;
		c->low = rank_quantile(cnt_at_rank + i * (cnt + 1), DRAWS / 40 + 1);
		c->high = rank_quantile(cnt_at_rank + i * (cnt + 1), DRAWS - DRAWS / 40);
	}
}

/* ---- how much more ---- */

/* As a factor of n: (1.96 se / gap)^2, for a gap that moves with scale_a times a's blocks. */
static double times_needed(const struct ranking *r, double gap, const struct candidate *a, double scale_a,
			   const struct candidate *b, double scale_b)
{
	double squares = 0, n = (double)r->f->interval.cnt, cnt = (double)r->block_cnt, se;

	for (size_t k = 0; k < r->block_cnt; k++) {
		double d = scale_a * a->blocks[k] - (b ? scale_b * b->blocks[k] : 0);

		squares += d * d;
	}
	se = sqrt(cnt / (cnt - 1) * squares) / n;
	if (se < 1e-12 * scale_a)	/* both are the same time under two names */
		return 0;
	return gap > 0 ? NORMAL_975 * se / gap * (NORMAL_975 * se / gap) : INFINITY;
}

static double most_needed(const struct ranking *r, const struct candidate *c)
{
	double own = specificity_of(r, c), most = times_needed(r, c->value - threshold, c, 1, NULL, 0);

	for (size_t i = 0; i < r->candidates.cnt; i++) {
		const struct candidate *x = &r->candidates.items[i];
		double other = specificity_of(r, x), times = 0;

		if (x == c)
			continue;
		if (x->rank != SIZE_MAX)
			times = times_needed(r, fabs(own * c->value - other * x->value), c, own, x, other);
		else if (other * threshold >= own * c->value)	/* it would rank before the candidate */
			times = times_needed(r, threshold - x->value, x, 1, NULL, 0);
		most = fmax(most, times);
	}
	return most;
}

/* If the formula says that there is enough data, but the draws do not: a tenth more. */
static void find_needed(struct ranking *r)
{
	double n = (double)r->f->interval.cnt;

	for (size_t i = 0; i < r->candidates.cnt; i++) {
		struct candidate *c = &r->candidates.items[i];

		if (c->rank != SIZE_MAX && !c->resolved)
			c->needed = intervals_rounded(n * fmax(most_needed(r, c) - 1, 0.1));
	}
}

void ranking_resolve(struct ranking *r, const double *weight, size_t cnt)
{
	if (r->candidates.cnt == 0 || r->candidates.cnt > CANDIDATES_MAX)
		return;
	memcpy(r->weight, weight, cnt * sizeof(*weight));
	for (; cnt > r->block_cnt; cnt = (cnt + 1) / 2) {
		blocks_join(r->weight, cnt);
		for (size_t i = 0; i < r->candidates.cnt; i++)
			blocks_join(r->candidates.items[i].blocks, cnt);
	}
	rank_findings(r);
	make_draws(r);
	find_needed(r);
}
