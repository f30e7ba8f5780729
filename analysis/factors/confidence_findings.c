/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * confidence_findings.c - the confidence intervals of nodes and factors, and which ranks hold.
 *
 * A factor's blocks are the sums of its places' blocks, for the influence is linear in X.  Example: f has
 * two places with F = -1, 1 and 2, -2: as one factor 1, -1, and se^2 = 2 * 2 / n^2.
 */
#include "analysis/factors/confidence_findings.h"

#include <stdlib.h>
#include <string.h>
#include "analysis/factors/paper_confidence.h"
#include "analysis/factors/ranks.h"
#include "base/banned.h"

struct influence_maker {
	const struct analysis *a;
	const struct shown_tree *shown;
	struct factor_columns *c;
	struct influence in;
	struct paper *paper;
};

static void set_nodes(const struct influence_maker *k)
{
	const struct analysis *a = k->a;
	const struct influence *in = &k->in;

	for (size_t i = 0; i < a->f->nodes.cnt; i++) {
		struct node *node = &a->f->nodes.items[i];
		const double *blocks = in->of_place + k->shown->place_of_node[i] * in->block_cnt;
		struct confidence c = confidence_of(blocks, analysis_blocks(a), a->m->n);

		node->has_ci95 = true;
		findings_ci95(node->share, c.half_width, node->ci95);
	}
}

/* A factor's blocks are the sum of those of its places, for each function the outermost. */
static double *sum_places(const struct influence_maker *k)
{
	const struct analysis *a = k->a;
	const struct influence *in = &k->in;
	size_t cnt = in->block_cnt;
	double *sums = xcalloc(a->f->factors.cnt * cnt + 1, sizeof(*sums));

	for (size_t i = 1; i < a->f->nodes.cnt; i++) {
		uint32_t place = k->shown->place_of_node[i], factor = k->c->of_node[i];
		const struct place *p = &a->v->places.items[place];

		if (p->kind == NODE_BLAME && place_has_runqueue_factor(k->c, a->v, p))
			factor = k->c->runqueue;
		if (factor == NODE_NONE || (p->kind == NODE_FUNCTION && !p->outermost))
			continue;
		for (size_t b = 0; b < cnt; b++)
			sums[factor * cnt + b] += in->of_place[place * cnt + b];
	}
	return sums;
}

static void set_factors(struct influence_maker *k, const double *sums, struct ranking *r)
{
	const struct analysis *a = k->a;
	size_t cnt = k->in.block_cnt;

	for (uint32_t i = 0; i < a->f->factors.cnt; i++) {
		struct factor *x = &a->f->factors.items[i];
		struct confidence c;

		if (x->kind == FACTOR_PAIR)
			continue;
		c = confidence_of(sums + i * cnt, analysis_blocks(a), a->m->n);
		x->has_ci95 = true;
		findings_ci95(x->share, c.half_width, x->ci95);
		k->c->autocorrelated |= c.correlated && x->share > FACTORS_THRESHOLD_DEFAULT;
		ranking_add(r, i, x->share, c, sums + i * cnt, cnt);
	}
}

static void set_ranks(struct findings *f, const struct ranking *r)
{
	for (size_t i = 0; i < r->candidates.cnt; i++) {
		const struct candidate *c = &r->candidates.items[i];
		struct factor *x = &f->factors.items[c->factor];

		x->has_resolved = c->rank != SIZE_MAX;
		x->resolved = c->resolved;
		x->rank_low = c->low;
		x->rank_high = c->high;
		x->rank_needed = c->needed;
	}
}

struct influence_maker *begin_confidence(const struct analysis *a, const struct shown_tree *shown, struct factor_columns *c,
					 struct row_reading *r)
{
	struct influence_maker *k = xcalloc(1, sizeof(*k));

	k->a = a;
	k->shown = shown;
	k->c = c;
	influence_begin(&k->in, a, r);
	if (k->in.block_cnt > 0 && !a->sums)
		k->paper = paper_begin(a, shown, c, &k->in, r);
	return k;
}

void end_confidence(struct influence_maker *k)
{
	_cleanup_(freep) double *sums = NULL;
	struct ranking r = { .f = k->a->f };

	if (k->in.block_cnt > 0) {
		influence_end(&k->in, k->a);
		set_nodes(k);
		sums = sum_places(k);
		set_factors(k, sums, &r);
		ranking_resolve(&r, k->in.weight, k->in.block_cnt);
		set_ranks(k->a->f, &r);
		if (k->paper)
			paper_end(k->paper);
		k->c->block_cnt = k->in.block_cnt;
		k->c->blocks_of_place = TAKE_PTR(k->in.of_place);
	}
	ranking_release(&r);
	influence_release(&k->in);
	free(k);
}
