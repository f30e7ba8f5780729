/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * factor_pairs.c - Algorithm 1 of the paper: contributions summed over the tree's nodes.
 *
 * A factor's contribution is the sum of Var over its nodes, a pair's the sum of 2 Cov over the
 * parents that have both as children, each divided by Var(T).  The covariance of two call sites
 * of one function belongs to the function: Var(f1 + f2) = Var f1 + Var f2 + 2 Cov.
 *
 * Example: A = B + C + body with Var 5 + 1 + .25 and 2 Cov(B,C) = -4, 2 Cov(B,body) = 2,
 * 2 Cov(C,body) = -1 is Var(A) = 3.25: B contributes 153.8 %, the pair (B, C) -123.1 %.
 *
 * Members of a pair are called by what they are: "f", "body of f", "wait:lock in f",
 * "wait:queue", and "body" for the interval's own.
 */
#include "analysis/passes.h"

#include <string.h>
#include "base/map.h"
#include "base/banned.h"

static uint32_t pair_of(struct analysis *a, struct map *index, uint32_t x, uint32_t y);
static void fill_scores(struct findings *f);

void find_pairs(struct analysis *a, const uint32_t *factor_of_node)
{
	struct findings *f = a->f;
	_cleanup_(map_freep) struct map *index = map_new();

	for (size_t i = 1; i < f->nodes.cnt; i++)
		if (factor_of_node[i] != NODE_NONE)
			f->factors.items[factor_of_node[i]].paper_contribution +=
				f->nodes.items[i].variance_share;
	for (size_t i = 0; i < f->covariances.cnt; i++) {
		const struct covariance *c = &f->covariances.items[i];
		uint32_t x = factor_of_node[c->a], y = factor_of_node[c->b], factor = x;

		if (x == NODE_NONE || y == NODE_NONE)
			continue;
		if (x != y)
			factor = pair_of(a, index, x < y ? x : y, x < y ? y : x);
		f->factors.items[factor].paper_contribution += c->share;
	}
	fill_scores(f);
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

static uint32_t pair_of(struct analysis *a, struct map *index, uint32_t x, uint32_t y)
{
	struct findings *f = a->f;
	uint64_t *slot = map_slot(index, (uint64_t)x << 32 | y);
	struct factor pair = { .kind = FACTOR_PAIR };
	const char *first, *second;

	if (*slot != 0)
		return (uint32_t)(*slot - 1);
	first = label_of(f, &f->factors.items[x]);
	second = label_of(f, &f->factors.items[y]);
	if (strcmp(first, second) > 0) {
		const char *swap = first;

		first = second;
		second = swap;
	}
	pair.function = pair.functions[0] = first;
	pair.functions[1] = second;
	pair.height = f->factors.items[x].height;
	if (f->factors.items[y].height > pair.height)
		pair.height = f->factors.items[y].height;
	VEC_ADD(&f->factors, pair);
	*slot = f->factors.cnt;
	return (uint32_t)(*slot - 1);
}

static void fill_scores(struct findings *f)
{
	for (size_t i = 0; i < f->factors.cnt; i++) {
		struct factor *x = &f->factors.items[i];
		double above = f->root_height > x->height ? f->root_height - x->height : 0;

		if (x->kind == FACTOR_PAIR)
			x->share = x->variance_share = x->paper_contribution;
		x->specificity = above * above;
		x->score = x->share > 0 ? x->specificity * x->share : 0;
		x->paper_score = x->specificity * x->paper_contribution;
	}
}
