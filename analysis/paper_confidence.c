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
#include "analysis/confidence.h"

#include <math.h>
#include <string.h>
#include "base/map.h"
#include "base/banned.h"

#define PAIRS_MAX 4096
#define PAIR_MIN 1e-3			/* smaller ones are in nobody's ranking */

struct block_sums {			/* of a place, or of two siblings */
	uint32_t a, b;			/* places; the same: squares */
	uint32_t factor;		/* that they count for */
	__int128 xy[CONFIDENCE_BLOCKS_MAX];
};

struct paper {
	const struct analysis *a;
	const struct influence *in;
	const uint32_t *factor_of_node;
	VEC(struct block_sums) sums;
	struct map *pair_of_siblings;	/* place << 32 | place -> index into sums, plus one */
	uint32_t *square_of_place;	/* index into sums, plus one */
	bool *has_pairs;		/* per place: is in pair_of_siblings */
	__int128 *x;			/* [place * blocks + block] */
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

/* Which sums are needed: squares of all nodes that are factors, products of siblings. */
static void choose_sums(struct paper *p)
{
	const struct findings *f = p->a->f;
	double limit = pair_limit(f);

	for (uint32_t i = 1; i < f->nodes.cnt; i++) {
		uint32_t place = p->a->place_of_node[i];

		if (p->factor_of_node[i] != NODE_NONE)
			p->square_of_place[place] = add_sums(p, place, place, p->factor_of_node[i]);
	}
	for (size_t i = 0; i < f->covariances.cnt; i++) {
		const struct covariance *c = &f->covariances.items[i];
		uint32_t x = p->factor_of_node[c->a], y = p->factor_of_node[c->b];
		uint32_t a = p->a->place_of_node[c->a], b = p->a->place_of_node[c->b];
		uint64_t pair;

		if (x == NODE_NONE || y == NODE_NONE)
			continue;
		if (x != y) {
			if (!map_get(p->a->factor_of_pair, key_of(x, y), &pair) ||
			    fabs(f->factors.items[pair].share) < limit)
				continue;
			x = (uint32_t)pair;
		}
		map_set(p->pair_of_siblings, key_of(a, b), add_sums(p, a, b, x));
		p->has_pairs[a] = p->has_pairs[b] = true;
	}
}

struct row_scratch {
	int64_t *ns;			/* per place, whole subtree */
	VEC(uint32_t) touched;
	VEC(uint32_t) paired;		/* those of them that are in a pair */
};

static void add_products(struct paper *p, size_t block, const struct row_scratch *s)
{
	for (size_t i = 0; i < s->paired.cnt; i++) {
		uint32_t a = s->paired.items[i], parent = p->a->v->places.items[a].parent;

		for (size_t k = 0; k < i; k++) {
			uint32_t b = s->paired.items[k];
			uint64_t at;

			if (p->a->v->places.items[b].parent == parent &&
			    map_get(p->pair_of_siblings, key_of(a, b), &at))
				p->sums.items[at - 1].xy[block] += (__int128)s->ns[a] * s->ns[b];
		}
	}
}

static void add_row(struct paper *p, size_t row, const cells *cells, struct row_scratch *s)
{
	const struct vtree *v = p->a->v;
	size_t blocks = p->in->block_cnt, block = p->a->block_of_row[row];

	s->touched.cnt = s->paired.cnt = 0;
	for (size_t c = 0; c < cells->cnt; c++) {
		for (uint32_t i = cells->items[c].place; i != NODE_NONE;
		     i = v->places.items[i].parent) {
			if (s->ns[i] == 0) {
				VEC_ADD(&s->touched, i);
				if (p->has_pairs[i])
					VEC_ADD(&s->paired, i);
			}
			s->ns[i] += cells->items[c].ns;
		}
	}
	add_products(p, block, s);
	for (size_t k = 0; k < s->touched.cnt; k++) {
		uint32_t i = s->touched.items[k], at = p->square_of_place[i];

		p->x[i * blocks + block] += s->ns[i];
		if (at)
			p->sums.items[at - 1].xy[block] += (__int128)s->ns[i] * s->ns[i];
		s->ns[i] = 0;
	}
}

static double centred(const struct paper *p, const struct block_sums *s, size_t block)
{
	size_t blocks = p->in->block_cnt;

	return moments_centred(p->a->m->n, p->a->m->places.items[s->a].x, p->a->m->places.items[s->b].x,
			       p->in->row_cnt[block], p->x[s->a * blocks + block], p->x[s->b * blocks + block],
			       s->xy[block]);
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
		c = confidence_of(f, blocks, p->a->m->n);
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

void find_paper_confidence(struct analysis *a, const struct influence *in,
			   const uint32_t *factor_of_node)
{
	size_t places = a->v->places.cnt, blocks = in->block_cnt;
	struct ranking r = { .f = a->f, .paper = true };
	struct paper p = {
		.a = a, .in = in, .factor_of_node = factor_of_node, .pair_of_siblings = map_new(),
		.square_of_place = xcalloc(places, sizeof(*p.square_of_place)),
		.has_pairs = xcalloc(places, sizeof(*p.has_pairs)),
		.x = xcalloc(places * blocks, sizeof(*p.x)),
		.of_factor = xcalloc(a->f->factors.cnt * blocks + 1, sizeof(*p.of_factor)),
	};
	struct row_scratch s = { .ns = xcalloc(places, sizeof(*s.ns)) };
	struct rows_walk w;

	choose_sums(&p);
	for (rows_begin(&w, a->rows); rows_next(&w); )
		add_row(&p, w.row, &w.cells, &s);
	rows_end(&w);
	sum_factors(&p);
	set_factors(&p, &r);
	ranking_resolve(&r, in->weight, blocks);
	set_ranks(a->f, &r);
	ranking_release(&r);
	free(s.ns);
	VEC_RELEASE(&s.touched);
	VEC_RELEASE(&s.paired);
	map_free(p.pair_of_siblings);
	VEC_RELEASE(&p.sums);
	free(p.square_of_place);
	free(p.has_pairs);
	free(p.x);
	free(p.of_factor);
}
