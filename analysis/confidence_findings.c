/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * confidence_findings.c - the confidence intervals of nodes and factors, and which ranks hold.
 *
 * A factor's rank is resolved if it is the same in 95 % of 1,000 draws.  A draw takes blocks at random,
 * with replacement, as many as there are; the share of a factor in it is
 *
 *	e* = e + sum F(b) / sum w(b)	over the blocks drawn
 *
 * (w: the block's part of n Var(T)).  Of each draw the ranking is made anew: what is above the default
 * threshold, by specificity x share.  Example, two blocks with F = -1, 1 for f and 1, -1 for g, w = 2
 * each: f .5 and g .4 become 0 and .9 if the first block is drawn twice.  Draws come from a fixed
 * seed: the same run has the same answer.
 *
 * The blocks are the shortest that were long enough for every factor in the ranking.
 */
#include "analysis/confidence.h"

#include <gsl/gsl_rng.h>
#include <math.h>
#include <string.h>
#include "base/banned.h"

#define DRAWS 1000
#define SAME_RANK_MIN 0.95
#define CANDIDATES_MAX 200		/* more cannot be told apart anyway */

struct candidate {			/* may be above the threshold */
	uint32_t factor;
	double blocks[CONFIDENCE_BLOCKS_MAX];
	double share, score;		/* in this draw */
	size_t rank;			/* in the findings; SIZE_MAX: below the threshold */
	unsigned same_cnt;		/* draws with that rank */
};

struct ranking {
	struct findings *f;
	VEC(struct candidate) candidates;
	double weight[CONFIDENCE_BLOCKS_MAX];
	size_t block_cnt;
};

static void resolve_ranks(struct ranking *r);

static void set_nodes(struct analysis *a, const struct influence *in)
{
	for (size_t i = 0; i < a->f->nodes.cnt; i++) {
		struct node *node = &a->f->nodes.items[i];
		const double *blocks = in->of_place + a->place_of_node[i] * in->block_cnt;
		struct confidence c = confidence_of(blocks, in->block_cnt, a->m->n);

		node->has_ci95 = true;
		node->ci95[0] = node->share - c.half_width;
		node->ci95[1] = node->share + c.half_width;
	}
}

/* A factor's blocks are the sum of those of its places, of each function the outermost. */
static double *sum_places(const struct analysis *a, const struct influence *in,
			  const uint32_t *factor_of_node, size_t factor_cnt)
{
	size_t cnt = in->block_cnt;
	double *sums = xcalloc(factor_cnt * cnt + 1, sizeof(*sums));

	for (size_t i = 1; i < a->f->nodes.cnt; i++) {
		uint32_t place = a->place_of_node[i], factor = factor_of_node[i];
		const struct place *p = &a->v->places.items[place];

		if (factor == NODE_NONE || (p->kind == NODE_FUNCTION && !p->outermost))
			continue;
		for (size_t b = 0; b < cnt; b++)
			sums[factor * cnt + b] += in->of_place[place * cnt + b];
	}
	return sums;
}

static void add_candidate(struct ranking *r, uint32_t factor, const double *blocks, size_t cnt)
{
	struct candidate *c = VEC_EXTEND(&r->candidates);

	c->factor = factor;
	c->rank = SIZE_MAX;
	memcpy(c->blocks, blocks, cnt * sizeof(*blocks));
}

static void set_factors(struct analysis *a, const struct influence *in, const double *sums,
			struct ranking *r)
{
	size_t cnt = in->block_cnt;

	r->block_cnt = cnt;
	for (uint32_t i = 0; i < a->f->factors.cnt; i++) {
		struct factor *x = &a->f->factors.items[i];
		struct confidence c;

		if (x->kind == FACTOR_PAIR)
			continue;
		c = confidence_of(sums + i * cnt, cnt, a->m->n);
		x->has_ci95 = true;
		x->ci95[0] = x->share - c.half_width;
		x->ci95[1] = x->share + c.half_width;
		if (x->ci95[1] <= FACTORS_THRESHOLD_DEFAULT)
			continue;
		add_candidate(r, i, sums + i * cnt, cnt);
		if (x->share <= FACTORS_THRESHOLD_DEFAULT)
			continue;
		a->autocorrelated |= c.correlated;
		if (c.block_cnt < r->block_cnt)
			r->block_cnt = c.block_cnt;
	}
}

void find_confidence(struct analysis *a, const uint32_t *factor_of_node)
{
	_cleanup_(freep) double *sums = NULL;
	struct ranking r = { .f = a->f };
	struct influence in;

	influence_init(&in, a->v, a->m, a->latencies_ns);
	if (in.block_cnt > 0) {
		set_nodes(a, &in);
		sums = sum_places(a, &in, factor_of_node, a->f->factors.cnt);
		set_factors(a, &in, sums, &r);
		memcpy(r.weight, in.weight, in.block_cnt * sizeof(*in.weight));
		for (size_t cnt = in.block_cnt; cnt > r.block_cnt; cnt = (cnt + 1) / 2) {
			blocks_join(r.weight, cnt);
			for (size_t i = 0; i < r.candidates.cnt; i++)
				blocks_join(r.candidates.items[i].blocks, cnt);
		}
		resolve_ranks(&r);
	}
	VEC_RELEASE(&r.candidates);
	influence_release(&in);
}

/* ---- ranks ---- */

static void rank_findings(struct ranking *r)
{
	const struct select_options o = { 0, FACTORS_THRESHOLD_DEFAULT, false, false };
	_cleanup_(freep) uint32_t *order = NULL;
	size_t cnt = factors_select(r->f, &o, &order);

	for (size_t rank = 0; rank < cnt; rank++)
		for (size_t i = 0; i < r->candidates.cnt; i++)
			if (r->candidates.items[i].factor == order[rank])
				r->candidates.items[i].rank = rank;
}

static void draw_shares(struct ranking *r, gsl_rng *random)
{
	unsigned drawn[CONFIDENCE_BLOCKS_MAX] = { 0 };
	double weight = 0;

	for (size_t b = 0; b < r->block_cnt; b++)
		drawn[gsl_rng_uniform_int(random, r->block_cnt)]++;
	for (size_t b = 0; b < r->block_cnt; b++)
		weight += drawn[b] * r->weight[b];
	for (size_t i = 0; i < r->candidates.cnt; i++) {
		struct candidate *c = &r->candidates.items[i];
		const struct factor *x = &r->f->factors.items[c->factor];
		double moved = 0;

		for (size_t b = 0; b < r->block_cnt; b++)
			moved += drawn[b] * c->blocks[b];
		c->share = weight > 0 ? x->share + moved / weight : 0;
		c->score = c->share > 0 ? x->specificity * c->share : 0;
	}
}

static bool is_before(const struct candidate *a, const struct candidate *b)
{
	return a->score > b->score || (a->score == b->score && a->rank < b->rank);
}

static void count_same_ranks(struct ranking *r)
{
	for (size_t i = 0; i < r->candidates.cnt; i++) {
		struct candidate *c = &r->candidates.items[i];
		size_t before = 0;

		if (c->rank == SIZE_MAX || c->share <= FACTORS_THRESHOLD_DEFAULT)
			continue;
		for (size_t k = 0; k < r->candidates.cnt; k++)
			before += r->candidates.items[k].share > FACTORS_THRESHOLD_DEFAULT &&
				  is_before(&r->candidates.items[k], c);
		c->same_cnt += before == c->rank;
	}
}

static void resolve_ranks(struct ranking *r)
{
	gsl_rng *random;

	if (r->candidates.cnt == 0 || r->candidates.cnt > CANDIDATES_MAX)
		return;
	rank_findings(r);
	random = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(random, 1);
	for (unsigned draw = 0; draw < DRAWS; draw++) {
		draw_shares(r, random);
		count_same_ranks(r);
	}
	gsl_rng_free(random);
	for (size_t i = 0; i < r->candidates.cnt; i++) {
		const struct candidate *c = &r->candidates.items[i];
		struct factor *x = &r->f->factors.items[c->factor];

		x->has_resolved = c->rank != SIZE_MAX;
		x->resolved = c->same_cnt >= SAME_RANK_MIN * DRAWS;
	}
}
