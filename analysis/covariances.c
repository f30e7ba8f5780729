/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * covariances.c - the pairs of siblings that are worth a row.
 *
 * A node with n children has n (n - 1) / 2 pairs, of which nearly all say nothing: 3,000 functions below one have 4.5 million.
 * All pairs are kept of at most CHILDREN_WITH_ALL children; of more, those with a share of a thousandth and more, at most
 * PAIRS_MAX, the largest.  What the others have together follows from the rest, exactly:
 *
 *	sum of 2 Cov that are not kept = Var(node) - sum Var(child) - sum of 2 Cov that are kept
 *
 * What is made of covariances (factors of kind pair, contributions over a function's own call sites) leaves out what is
 * not kept: of such a node, pairs below a thousandth each.
 *
 * Most pairs of so many children never met in an interval.  Then Cov(X,Y) = -mean X mean Y: pairs are looked at in order of
 * their means, until the product is too small.  Pairs that met are listed by moments.h.
 */
#include "analysis/passes.h"

#include <math.h>
#include <stdlib.h>
#include "base/map.h"
#include "base/order.h"
#include "base/banned.h"

#define SHARE_MIN 0.001
#define PAIRS_MAX 4096

struct wide {				/* a node with many children */
	uint32_t parent;
	uint32_t *children;		/* node ids, of the largest mean first */
	size_t child_cnt;
	VEC(struct covariance) heap;	/* the smallest first; children of item i are 2 i + 1 and 2 i + 2 */
};

struct chooser {
	struct analysis *a;
	VEC(struct wide) wide;
	struct map *wide_of_node;	/* index + 1 */
};

typedef VEC(uint32_t) numbers;

/* A total order, so that what is kept does not depend on the order in which pairs come. */
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

/* Below this nothing is kept any more. */
static double least_share(const struct wide *w)
{
	return w->heap.cnt == PAIRS_MAX ? fabs(w->heap.items[0].share) : SHARE_MIN;
}

static struct covariance covariance_of(const struct analysis *a, uint32_t parent, uint32_t x, uint32_t y)
{
	struct covariance c = { parent, x < y ? x : y, x < y ? y : x, 0, 0 };

	c.covariance_ns2 = moments_of_siblings(a->m, a->v, a->place_of_node[c.a], a->place_of_node[c.b]);
	c.share = 2 * analysis_share(a, c.covariance_ns2);
	return c;
}

/* Those of pairs that never met; the first too small product of a row ends it. */
static void keep_strangers(struct analysis *a, struct wide *w)
{
	const struct node *nodes = a->f->nodes.items;

	for (size_t i = 0; i < w->child_cnt; i++) {
		double mean = nodes[w->children[i]].mean_ns;

		for (size_t k = i + 1; k < w->child_cnt; k++) {
			uint32_t x = w->children[i], y = w->children[k];
			double product = mean * nodes[y].mean_ns;
			struct covariance c;

			if (2 * analysis_share(a, product) < least_share(w) * (1 - 1e-9))
				break;
			if (moments_have_met(a->m, a->v, a->place_of_node[x], a->place_of_node[y]))
				continue;
			c = covariance_of(a, w->parent, x, y);
			keep(w, &c);
		}
	}
}

static bool keep_met(uint32_t x, uint32_t y, void *arg)
{
	struct chooser *c = arg;
	struct analysis *a = c->a;
	uint32_t parent = a->v->places.items[x].parent;
	struct covariance pair;
	uint64_t at;

	if (a->node_of_place[x] == NODE_NONE || a->node_of_place[y] == NODE_NONE || a->node_of_place[parent] == NODE_NONE ||
	    !map_get(c->wide_of_node, a->node_of_place[parent], &at))
		return true;
	pair = covariance_of(a, a->node_of_place[parent], a->node_of_place[x], a->node_of_place[y]);
	keep(&c->wide.items[at - 1], &pair);
	return true;
}

static int by_mean(const void *x, const void *y, void *arg)
{
	const struct node *nodes = arg, *p = &nodes[*(const uint32_t *)x], *q = &nodes[*(const uint32_t *)y];

	if (p->mean_ns != q->mean_ns)
		return p->mean_ns > q->mean_ns ? -1 : 1;
	return p->id < q->id ? -1 : p->id > q->id;
}

static void add_wide(struct chooser *c, uint32_t parent, numbers *children)
{
	struct wide *w = VEC_EXTEND(&c->wide);

	w->parent = parent;
	w->children = children->items;
	w->child_cnt = children->cnt;
	*children = (numbers){ NULL, 0, 0 };
	qsort_r(w->children, w->child_cnt, sizeof(*w->children), by_mean, c->a->f->nodes.items);
	map_set(c->wide_of_node, parent, c->wide.cnt);
}

static void add_all(struct analysis *a, uint32_t parent, const numbers *children)
{
	for (size_t i = 0; i < children->cnt; i++) {
		for (size_t k = i + 1; k < children->cnt; k++) {
			struct covariance c = covariance_of(a, parent, children->items[i], children->items[k]);

			VEC_ADD(&a->f->covariances, c);
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

/* Children have larger numbers than their parent, and are in order of these. */
static numbers *children_of_nodes(const struct findings *f)
{
	numbers *ret = xcalloc(f->nodes.cnt + 1, sizeof(*ret));

	for (uint32_t i = 1; i < f->nodes.cnt; i++)
		VEC_ADD(&ret[f->nodes.items[i].parent], i);
	return ret;
}

void find_covariances(struct analysis *a)
{
	numbers *children = children_of_nodes(a->f);
	struct chooser c = { .a = a, .wide_of_node = map_new() };

	for (uint32_t i = 0; i < a->f->nodes.cnt; i++) {
		if (children[i].cnt <= CHILDREN_WITH_ALL)
			add_all(a, i, &children[i]);
		else
			add_wide(&c, i, &children[i]);
		VEC_RELEASE(&children[i]);
	}
	if (c.wide.cnt)
		moments_each_pair(a->m, a->v, keep_met, &c);
	for (size_t i = 0; i < c.wide.cnt; i++) {
		struct wide *w = &c.wide.items[i];

		keep_strangers(a, w);
		for (size_t k = 0; k < w->heap.cnt; k++)
			VEC_ADD(&a->f->covariances, w->heap.items[k]);
		VEC_RELEASE(&w->heap);
		free(w->children);
	}
	if (c.wide.cnt)
		qsort(a->f->covariances.items, a->f->covariances.cnt, sizeof(*a->f->covariances.items), by_nodes);
	VEC_RELEASE(&c.wide);
	map_free(c.wide_of_node);
	free(children);
}

double *findings_other_covariances(const struct findings *f)
{
	double *rest = xcalloc(f->nodes.cnt + 1, sizeof(*rest));
	_cleanup_(freep) size_t *child_cnt = xcalloc(f->nodes.cnt + 1, sizeof(*child_cnt));

	for (uint32_t i = 1; i < f->nodes.cnt; i++) {
		rest[f->nodes.items[i].parent] -= f->nodes.items[i].variance_ns2;
		child_cnt[f->nodes.items[i].parent]++;
	}
	for (size_t i = 0; i < f->covariances.cnt; i++)
		rest[f->covariances.items[i].parent] -= 2 * f->covariances.items[i].covariance_ns2;
	for (uint32_t i = 0; i < f->nodes.cnt; i++)
		rest[i] = child_cnt[i] > CHILDREN_WITH_ALL ? (rest[i] + f->nodes.items[i].variance_ns2) / 2 : NAN;
	return rest;
}
