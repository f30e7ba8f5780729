/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * factor_pairs.c - Algorithm 1 of the paper: contributions summed over the tree's nodes.
 *
 * A factor's contribution is the sum of Var over its nodes, a pair's the sum of 2 Cov over the parents that have both
 * as children, each divided by Var(T).  The covariance of two call sites of one function belongs to the function:
 * Var(f1 + f2) = Var f1 + Var f2 + 2 Cov.
 *
 * Example: A = B + C + body with Var 5 + 1 + .25 and 2 Cov(B,C) = -4, 2 Cov(B,body) = 2, 2 Cov(C,body) = -1 is Var(A)
 * = 3.25: B contributes 153.8 %, the pair (B, C) -123.1 %.
 *
 * Members of a pair are labelled by kind: "f", "body of f", "wait:lock in f", "wait:queue", and "body" for the
 * interval's own.  Among a thousand siblings there are half a million pairs, nearly all of them nothing: those below
 * a millionth of the variance are no factors (they stay in the tree's covariances, so that it closes).
 */
#include "analysis/factors/factors.h"

#include <math.h>
#include <string.h>
#include "base/map.h"
#include "base/banned.h"

#define NEGLIGIBLE 1e-6

struct pair_sum {
	uint32_t x, y;			/* factors, x < y */
	double share;
};

typedef VEC(struct pair_sum) pair_sums;

static double *sum_of(pair_sums *sums, struct map *index, uint32_t x, uint32_t y);
static void add_pair(struct findings *f, const struct pair_sum *sum);

void find_pairs(struct findings *f, struct factor_columns *c)
{
	const uint32_t *factor_of_node = c->of_node;
	_cleanup_(map_freep) struct map *index = map_new();
	pair_sums sums = { NULL, 0, 0 };

	for (size_t i = 1; i < f->nodes.cnt; i++)
		if (factor_of_node[i] != NODE_NONE)
			f->factors.items[factor_of_node[i]].paper_contribution +=
				f->nodes.items[i].variance_share;
	for (size_t i = 0; i < f->covariances.cnt; i++) {
		const struct covariance *pair = &f->covariances.items[i];
		uint32_t x = factor_of_node[pair->a], y = factor_of_node[pair->b];

		if (x == NODE_NONE || y == NODE_NONE)
			continue;
		if (x == y)
			f->factors.items[x].paper_contribution += pair->share;
		else
			*sum_of(&sums, index, x < y ? x : y, x < y ? y : x) += pair->share;
	}
	for (size_t i = 0; i < sums.cnt; i++)
		if (fabs(sums.items[i].share) >= NEGLIGIBLE) {
			map_set(c->of_pair, (uint64_t)sums.items[i].x << 32 | sums.items[i].y,
				f->factors.cnt);
			add_pair(f, &sums.items[i]);
		}
	VEC_RELEASE(&sums);
}

static double *sum_of(pair_sums *sums, struct map *index, uint32_t x, uint32_t y)
{
	uint64_t *slot = map_slot(index, (uint64_t)x << 32 | y);
	struct pair_sum sum = { x, y, 0 };

	if (*slot == 0) {
		VEC_ADD(sums, sum);
		*slot = sums->cnt;
	}
	return &sums->items[*slot - 1].share;
}

static const char *label_of(struct findings *f, const struct factor *x)
{
	switch (x->kind) {
	case FACTOR_BODY:
		return x->function ? arena_printf(f->arena, "body of %s", x->function) : "body";
	case FACTOR_WAIT:
		if (x->function)
			return arena_printf(f->arena, "wait:%s in %s", trace_state_name(x->wait),
					    x->function);
		return arena_printf(f->arena, "wait:%s", trace_state_name(x->wait));
	default:
		return x->function;
	}
}

static void add_pair(struct findings *f, const struct pair_sum *sum)
{
	const struct factor *x = &f->factors.items[sum->x], *y = &f->factors.items[sum->y];
	const char *first = label_of(f, x), *second = label_of(f, y);
	bool in_order = strcmp(first, second) <= 0;
	struct factor pair = {
		.kind = FACTOR_PAIR, .height = x->height > y->height ? x->height : y->height,
		.functions = { in_order ? first : second, in_order ? second : first },
		.share = sum->share, .variance_share = sum->share,
		.paper_contribution = sum->share,
	};

	pair.function = pair.functions[0];
	VEC_ADD(&f->factors, pair);
}

void fill_scores(struct findings *f)
{
	for (size_t i = 0; i < f->factors.cnt; i++) {
		struct factor *x = &f->factors.items[i];
		double above = f->root_height > x->height ? f->root_height - x->height : 0;

		x->specificity = above * above;
		x->score = x->share > 0 ? x->specificity * x->share : 0;
		x->paper_score = x->specificity * x->paper_contribution;
	}
}
