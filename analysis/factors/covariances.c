/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * covariances.c - the pairs of siblings that are worth a row.
 *
 * A node with n children has n (n - 1) / 2 pairs, nearly all of them negligible: 3,000 functions below one have 4.5
 * million. For at most CHILDREN_WITH_ALL children all pairs are kept; for more, those with a share of a thousandth or
 * more, at most the PAIRS_MAX largest.  Where even the nodes with few children have very many pairs together (200,000
 * functions, 50 below each one: five million), of these, too, only those of a thousandth.  The sum of the others
 * follows exactly:
 *
 *	sum of 2 Cov that are not kept = Var(node) - sum Var(child) - sum of 2 Cov that are kept
 *
 * Results made from covariances (factors of kind pair, contributions over a function's own call sites) lack the pairs
 * that are not kept: for such a node, pairs below a thousandth each.
 *
 * The variances of the children limit which pairs can have a thousandth (sibling_pairs.h); only these are summed.
 */
#include "analysis/factors/covariances.h"

#include <math.h>
#include <stdlib.h>
#include "analysis/factors/sibling_pairs.h"
#include "base/map.h"
#include "base/order.h"
#include "base/banned.h"

#define SHARE_MIN 0.001
#define PAIRS_MAX 4096

size_t covariances_all_max = COVARIANCES_ALL_MAX;

struct wide {				/* a node with many children */
	uint32_t parent;
	VEC(struct covariance) heap;	/* the smallest first; children of item i are 2 i + 1 and 2 i + 2 */
};

struct chooser {
	const struct analysis *a;
	const struct shown_tree *s;
	struct sibling_pairs *pairs;	/* for parents with many places below them */
	VEC(struct wide) wide;
	struct map *wide_of_node;	/* index + 1 */
	double share_min;		/* for pairs of few children */
};

typedef VEC(uint32_t) numbers;

/* A total order, so that the choice does not depend on the order in which pairs come. */
static bool is_smaller(const struct covariance *x, const struct covariance *y)
{
	if (fabs(x->share) != fabs(y->share))
		return fabs(x->share) < fabs(y->share);
	return x->a != y->a ? x->a > y->a : x->b > y->b;
}

static void swap(struct covariance *x, struct covariance *y)
{
	struct covariance kept = *x;

	*x = *y;
	*y = kept;
}

static void sift_down(struct wide *w)
{
	struct covariance *items = w->heap.items;

	for (size_t i = 0, least; ; i = least) {
		least = i;
		for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < w->heap.cnt; k++)
			if (is_smaller(&items[k], &items[least]))
				least = k;
		if (least == i)
			return;
		swap(&items[i], &items[least]);
	}
}

static void keep(struct wide *w, const struct covariance *c)
{
	if (!(fabs(c->share) >= SHARE_MIN))
		return;
	if (w->heap.cnt == PAIRS_MAX) {
		if (is_smaller(&w->heap.items[0], c)) {
			w->heap.items[0] = *c;
			sift_down(w);
		}
		return;
	}
	VEC_ADD(&w->heap, *c);
	for (size_t i = w->heap.cnt - 1; i > 0 && is_smaller(&w->heap.items[i], &w->heap.items[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&w->heap.items[i], &w->heap.items[(i - 1) / 2]);
}

static struct covariance covariance_of(const struct analysis *a, uint32_t x, uint32_t y, double covariance_ns2)
{
	return (struct covariance){ a->f->nodes.items[x].parent, x < y ? x : y, x < y ? y : x, covariance_ns2,
				    2 * analysis_share(a, covariance_ns2) };
}

/* The number of samples varies more than the time that they stand for. */
static bool is_exact(const struct analysis *a, const struct covariance *pair)
{
	return !a->f->nodes.items[pair->a].samples && !a->f->nodes.items[pair->b].samples;
}

/* x, y: places. */
static void take_pair(void *arg, uint32_t x, uint32_t y, double covariance_ns2)
{
	struct chooser *c = arg;
	struct covariance pair = covariance_of(c->a, c->s->node_of_place[x], c->s->node_of_place[y], covariance_ns2);
	uint64_t at;

	if (!is_exact(c->a, &pair))
		return;
	if (map_get(c->wide_of_node, pair.parent, &at))
		keep(&c->wide.items[at - 1], &pair);
	else if (fabs(pair.share) >= c->share_min)
		VEC_ADD(&c->a->f->covariances, pair);
}

/* children: nodes. */
static void add_wide(struct chooser *c, uint32_t parent, const numbers *children)
{
	_cleanup_(freep) uint32_t *places = xcalloc(children->cnt + 1, sizeof(*places));
	bool all = children->cnt <= CHILDREN_WITH_ALL;

	for (size_t i = 0; i < children->cnt; i++)
		places[i] = c->s->place_of_node[children->items[i]];
	sibling_pairs_add(c->pairs, places, children->cnt, all);
	if (all)
		return;
	VEC_EXTEND(&c->wide)->parent = parent;
	map_set(c->wide_of_node, parent, c->wide.cnt);
}

static void add_all(const struct chooser *c, const numbers *children)
{
	const struct analysis *a = c->a;

	for (size_t i = 0; i < children->cnt; i++) {
		for (size_t k = i + 1; k < children->cnt; k++) {
			uint32_t x = children->items[i], y = children->items[k];
			struct covariance pair = covariance_of(a, x, y, moments_of_siblings(a->m, a->v, c->s->place_of_node[x],
											    c->s->place_of_node[y]));

			if (fabs(pair.share) >= c->share_min && is_exact(a, &pair))
				VEC_ADD(&a->f->covariances, pair);
		}
	}
}

static int by_nodes(const void *x, const void *y)
{
	const struct covariance *p = x, *q = y;

	if (p->parent != q->parent)
		return p->parent < q->parent ? -1 : 1;
	if (p->a != q->a)
		return p->a < q->a ? -1 : 1;
	return p->b < q->b ? -1 : p->b > q->b;
}

/* Children have larger numbers than their parent, and are in this order. */
static numbers *children_of_nodes(const struct findings *f)
{
	numbers *ret = xcalloc(f->nodes.cnt + 1, sizeof(*ret));

	for (uint32_t i = 1; i < f->nodes.cnt; i++)
		VEC_ADD(&ret[f->nodes.items[i].parent], i);
	return ret;
}

static double least_share(const struct findings *f, const numbers *children)
{
	size_t pair_cnt = 0;

	for (size_t i = 0; i < f->nodes.cnt; i++)
		if (children[i].cnt > 1 && children[i].cnt <= CHILDREN_WITH_ALL)
			pair_cnt += children[i].cnt * (children[i].cnt - 1) / 2;
	return pair_cnt <= covariances_all_max ? 0 : SHARE_MIN;
}

static void choose_wide(struct chooser *c)
{
	const struct analysis *a = c->a;

	sibling_pairs_sum(c->pairs, a->variance_ns2 > 0 ? SHARE_MIN * a->variance_ns2 : INFINITY);
	sibling_pairs_each(c->pairs, take_pair, c);
	for (size_t i = 0; i < c->wide.cnt; i++) {
		struct wide *w = &c->wide.items[i];

		for (size_t k = 0; k < w->heap.cnt; k++)
			VEC_ADD(&a->f->covariances, w->heap.items[k]);
		VEC_RELEASE(&w->heap);
	}
	qsort(a->f->covariances.items, a->f->covariances.cnt, sizeof(*a->f->covariances.items), by_nodes);
}

void find_covariances(const struct analysis *a, const struct shown_tree *s)
{
	numbers *children = children_of_nodes(a->f);
	struct chooser c = { .a = a, .s = s, .pairs = sibling_pairs_new(a), .wide_of_node = map_new() };
	bool has_wide = false;

	c.share_min = least_share(a->f, children);
	for (uint32_t i = 0; i < a->f->nodes.cnt; i++) {
		bool is_wide = a->v->places.items[s->place_of_node[i]].child_cnt > CHILDREN_WITH_ALL;

		if (is_wide)
			add_wide(&c, i, &children[i]);
		else
			add_all(&c, &children[i]);
		has_wide |= is_wide;
		VEC_RELEASE(&children[i]);
	}
	if (has_wide)
		choose_wide(&c);
	VEC_RELEASE(&c.wide);
	map_free(c.wide_of_node);
	sibling_pairs_free(c.pairs);
	free(children);
}
