/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * paper_confidence.c - confidence intervals of the paper's contributions, and which of its ranks hold.
 *
 * A contribution is a sum of variances and of covariances of siblings, divided by Var(T).  Per block b
 *
 *	C(b) = sum over b of (X - mean X)^2		and of 2 (X - mean X)(Y - mean Y) for siblings X, Y
 *	F(b) = C(b) / Var(T) - contribution * w(b)	w(b): sum over b of (T - mean T)^2 / Var(T)
 *
 * F sums to 0, and confidence.c makes the interval of it.  Example, n = 4 in two blocks: X = 0, 2 | 1, 1 is
 * all that varies in T: C = 2, 0 and Var(T) = .5, w = 4, 0, contribution 1: F = 0, 0, for it is all.
 *
 * Sums of a block are exact integers, centred once at their end: X may be long and vary little.  Among a
 * thousand siblings there are half a million pairs: the PAIRS_MAX largest have an interval.
 */
#include "analysis/factors/paper_confidence.h"

#include <math.h>
#include <string.h>
#include "analysis/factors/ranks.h"
#include "analysis/tree/row_tree.h"
#include "base/map.h"
#include "base/banned.h"

#define PAIRS_MAX 4096
#define PAIR_MIN 1e-3			/* smaller ones are in no ranking */

struct block_sums {			/* sums of a place, or of two siblings */
	uint32_t a, b;			/* places; the same: squares */
	uint32_t factor;		/* that they count for */
};

struct partner {			/* of a place: a sibling with which it has a sum */
	uint32_t place, sum;
};

struct paper {
	const struct analysis *a;
	const struct influence *in;
	const struct shown_tree *shown;
	const struct factor_columns *c;
	VEC(struct block_sums) sums;
	uint32_t *square_of_place;	/* index into sums, plus one */
	struct partner *partners;	/* partners[first_partner[place] .. first_partner[place + 1] - 1] */
	uint32_t *first_partner;
	struct row_tree tree;
	__int128 *x;			/* [block * places + place] */
	__int128 *xy;			/* [block * sums + sum] */
	double *of_factor;		/* C(b): [factor * blocks + block] */
};

static uint64_t key_of(uint32_t a, uint32_t b)
{
	return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static uint32_t add_sums(struct paper *p, uint32_t a, uint32_t b, uint32_t factor)
{
	struct block_sums *s = VEC_EXTEND(&p->sums);

	s->a = a;
	s->b = b;
	s->factor = factor;
	return (uint32_t)p->sums.cnt;
}

static uint32_t larger_place(const struct block_sums *s)
{
	return s->a > s->b ? s->a : s->b;
}

static int larger_first(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* The smallest pair that has an interval. */
static double pair_limit(const struct findings *f)
{
	_cleanup_(freep) double *sizes = xcalloc(f->factors.cnt + 1, sizeof(*sizes));
	size_t cnt = 0;

	for (size_t i = 0; i < f->factors.cnt; i++)
		if (f->factors.items[i].kind == FACTOR_PAIR)
			sizes[cnt++] = fabs(f->factors.items[i].share);
	if (cnt <= PAIRS_MAX)
		return PAIR_MIN;
	qsort(sizes, cnt, sizeof(*sizes), larger_first);
	return fmax(sizes[PAIRS_MAX - 1], PAIR_MIN);
}

/* Chooses the necessary sums: squares of all nodes that are factors, products of siblings. */
static void choose_sums(struct paper *p)
{
	const struct findings *f = p->a->f;
	double limit = pair_limit(f);

	for (uint32_t i = 1; i < f->nodes.cnt; i++) {
		uint32_t place = p->shown->place_of_node[i];

		if (p->c->of_node[i] != NODE_NONE)
			p->square_of_place[place] = add_sums(p, place, place, p->c->of_node[i]);
	}
	for (size_t i = 0; i < f->covariances.cnt; i++) {
		const struct covariance *c = &f->covariances.items[i];
		uint32_t x = p->c->of_node[c->a], y = p->c->of_node[c->b];
		uint32_t a = p->shown->place_of_node[c->a], b = p->shown->place_of_node[c->b];
		uint64_t pair;

		if (x == NODE_NONE || y == NODE_NONE)
			continue;
		if (x != y) {
			if (!map_get(p->c->of_pair, key_of(x, y), &pair) ||
			    fabs(f->factors.items[pair].share) < limit)
				continue;
			x = (uint32_t)pair;
		}
		add_sums(p, a, b, x);
	}
}

/* The larger place of a pair knows the smaller one, so that a row's places are visited once each. */
static void find_partners(struct paper *p)
{
	size_t places = p->a->v->places.cnt, pairs = 0;
	_cleanup_(freep) uint32_t *next = xcalloc(places + 1, sizeof(*next));

	p->first_partner = xcalloc(places + 1, sizeof(*p->first_partner));
	for (size_t i = 0; i < p->sums.cnt; i++)
		if (p->sums.items[i].a != p->sums.items[i].b)
			p->first_partner[larger_place(&p->sums.items[i])]++;
	for (size_t i = 0; i <= places; i++) {
		uint32_t cnt = p->first_partner[i];

		p->first_partner[i] = next[i] = (uint32_t)pairs;
		pairs += cnt;
	}
	p->partners = xcalloc(pairs + 1, sizeof(*p->partners));
	for (uint32_t i = 0; i < p->sums.cnt; i++) {
		const struct block_sums *s = &p->sums.items[i];
		uint32_t larger = larger_place(s);

		if (s->a != s->b)
			p->partners[next[larger]++] = (struct partner){ s->a + s->b - larger, i };
	}
}

static void add_row(void *arg, size_t row, const cells *places)
{
	struct paper *p = arg;
	size_t block = p->a->full->block_of_row[row];
	__int128 *x = p->x + block * p->a->v->places.cnt, *xy = p->xy + block * p->sums.cnt;
	const struct listed *list;

	row_tree_fill(&p->tree, p->a->v, places);
	list = p->tree.list.items;
	for (size_t k = 0; k < p->tree.list.cnt; k++) {
		uint32_t place = list[k].place, square = p->square_of_place[place];

		x[place] += list[k].ns;
		if (square)
			xy[square - 1] += (__int128)list[k].ns * list[k].ns;
		for (uint32_t i = p->first_partner[place]; i < p->first_partner[place + 1]; i++) {
			uint32_t other = row_tree_find(&p->tree, p->partners[i].place);

			if (other != NODE_NONE)
				xy[p->partners[i].sum] += (__int128)list[k].ns * list[other].ns;
		}
	}
}

static void add_batch(void *arg, const struct row_batch *b)
{
	struct paper *p = arg;
	__int128 *x = p->x + b->group * p->a->v->places.cnt, *xy = p->xy + b->group * p->sums.cnt;

	for (uint32_t k = 0; k < b->nodes.cnt; k++) {
		uint32_t place = b->nodes.items[k].place, square = p->square_of_place[place];

		x[place] += batch_sum(b->ns[k]);
		if (square)
			xy[square - 1] += row_batch_product(b, k, k);
		for (uint32_t i = p->first_partner[place]; i < p->first_partner[place + 1]; i++) {
			uint32_t other = b->node_of_place[p->partners[i].place];

			if (other != NODE_NONE)
				xy[p->partners[i].sum] += row_batch_product(b, k, other);
		}
	}
}

static double centred(const struct paper *p, const struct block_sums *s, size_t block)
{
	size_t places = p->a->v->places.cnt, sum = (size_t)(s - p->sums.items);

	return moments_centred(p->a->m->n, p->a->m->places.items[s->a].x, p->a->m->places.items[s->b].x,
			       p->in->row_cnt[block], p->x[block * places + s->a], p->x[block * places + s->b],
			       p->xy[block * p->sums.cnt + sum]);
}

static void sum_factors(struct paper *p)
{
	size_t blocks = p->in->block_cnt;

	for (size_t i = 0; i < p->sums.cnt; i++) {
		const struct block_sums *s = &p->sums.items[i];

		for (size_t b = 0; b < blocks; b++)
			p->of_factor[s->factor * blocks + b] += (s->a == s->b ? 1 : 2) * centred(p, s, b);
	}
}

static void set_factors(struct paper *p, struct ranking *r)
{
	size_t blocks = p->in->block_cnt;
	double limit = pair_limit(p->a->f);

	for (uint32_t i = 0; i < p->a->f->factors.cnt; i++) {
		struct factor *x = &p->a->f->factors.items[i];
		double *f = p->of_factor + i * blocks;
		struct confidence c;

		if (x->kind == FACTOR_PAIR && fabs(x->share) < limit)
			continue;
		for (size_t b = 0; b < blocks; b++)
			f[b] = f[b] / p->a->variance_ns2 - x->paper_contribution * p->in->weight[b];
		c = confidence_of(f, analysis_blocks(p->a), p->a->m->n);
		x->has_paper_ci95 = true;
		x->paper_ci95[0] = x->paper_contribution - c.half_width;
		x->paper_ci95[1] = x->paper_contribution + c.half_width;
		if (x->kind == FACTOR_PAIR) {
			x->has_ci95 = true;
			x->ci95[0] = x->paper_ci95[0];
			x->ci95[1] = x->paper_ci95[1];
		}
		ranking_add(r, i, x->paper_contribution, c, f, blocks);
	}
}

static void set_ranks(struct findings *f, const struct ranking *r)
{
	for (size_t i = 0; i < r->candidates.cnt; i++) {
		const struct candidate *c = &r->candidates.items[i];
		struct factor *x = &f->factors.items[c->factor];

		x->has_paper_resolved = c->rank != SIZE_MAX;
		x->paper_resolved = c->resolved;
	}
}

struct paper *paper_begin(const struct analysis *a, const struct shown_tree *shown, const struct factor_columns *c,
			  const struct influence *in, struct row_reading *r)
{
	size_t places = a->v->places.cnt, blocks = in->block_cnt;
	struct paper *p = xcalloc(1, sizeof(*p));

	p->a = a;
	p->in = in;
	p->shown = shown;
	p->c = c;
	p->square_of_place = xcalloc(places, sizeof(*p->square_of_place));
	choose_sums(p);
	find_partners(p);
	p->x = xcalloc(places * blocks, sizeof(*p->x));
	p->xy = xcalloc(p->sums.cnt * blocks + 1, sizeof(*p->xy));
	visit_rows(r, add_row, add_batch, p);
	return p;
}

void paper_end(struct paper *p)
{
	struct ranking r = { .f = p->a->f, .paper = true };

	p->of_factor = xcalloc(p->a->f->factors.cnt * p->in->block_cnt + 1, sizeof(*p->of_factor));
	sum_factors(p);
	set_factors(p, &r);
	ranking_resolve(&r, p->in->weight, p->in->block_cnt);
	set_ranks(p->a->f, &r);
	ranking_release(&r);
	row_tree_release(&p->tree);
	free(p->partners);
	free(p->first_partner);
	VEC_RELEASE(&p->sums);
	free(p->square_of_place);
	free(p->x);
	free(p->xy);
	free(p->of_factor);
	free(p);
}
