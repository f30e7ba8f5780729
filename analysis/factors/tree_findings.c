/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree_findings.c - turns places into the nodes that are shown, with their variances.
 *
 * Not shown: places that never took time nor were called; a body that is its function's only child (a leaf is its own
 * body); a blame without a name that is its wait's only child (nothing of that wait is explained).  A hidden child
 * has the sums of its parent, so the rest still closes:
 *
 *	Var(parent) = sum Var(child) + 2 sum Cov(child, child'),  share(parent) = sum share(child)
 *
 * Children stand in order of share, the largest first; parents before children.
 */
#include "analysis/factors/tree_findings.h"

#include <string.h>
#include "analysis/factors/covariances.h"
#include "analysis/path/put_aside.h"
#include "base/str.h"
#include "base/banned.h"
#include "base/order.h"
#include "base/search.h"

typedef VEC(uint32_t) places;

static void add_node(const struct analysis *a, const struct call_graph *g, struct shown_tree *s, uint32_t place);
static void shown_children(const struct analysis *a, uint32_t place, places *ret);
static void sort_children(const struct analysis *a, places *children);

void show_tree(const struct analysis *a, const struct call_graph *g, struct shown_tree *ret)
{
	places stack = { NULL, 0, 0 }, children = { NULL, 0, 0 };

	ret->node_of_place = xmalloc(a->v->places.cnt * sizeof(*ret->node_of_place));
	memset(ret->node_of_place, 0xff, a->v->places.cnt * sizeof(*ret->node_of_place));
	ret->place_of_node = xcalloc(a->v->places.cnt, sizeof(*ret->place_of_node));
	VEC_ADD(&stack, 0);
	while (stack.cnt > 0) {
		uint32_t place = stack.items[--stack.cnt];

		add_node(a, g, ret, place);
		shown_children(a, place, &children);
		sort_children(a, &children);
		for (size_t i = children.cnt; i-- > 0; )
			VEC_ADD(&stack, children.items[i]);
	}
	find_covariances(a, ret);
	find_root(a, g, ret);
	VEC_RELEASE(&stack);
	VEC_RELEASE(&children);
}

void shown_tree_release(struct shown_tree *s)
{
	free(s->node_of_place);
	free(s->place_of_node);
}

static bool is_residue(const struct place *p)
{
	return p->kind == NODE_BODY ||
	       (p->kind == NODE_BLAME && p->function == FUNCTION_NONE && !p->is_wait);
}

static void shown_children(const struct analysis *a, uint32_t place, places *ret)
{
	const struct place *items = a->v->places.items;

	ret->cnt = 0;
	for (uint32_t i = items[place].first_child; i != NODE_NONE; i = items[i].next_sibling)
		if (items[i].presence > 0)
			VEC_ADD(ret, i);
	if (ret->cnt == 1 && is_residue(&items[ret->items[0]]))
		ret->cnt = 0;
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static const char *site_text(const struct analysis *a, const struct place *p)
{
	return p->call_site == CALL_SITE_NONE ? NULL : a->t->call_sites.items[p->call_site];
}

static int compare_places(const void *x, const void *y, void *arg)
{
	const struct analysis *a = arg;
	uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
	const struct place *p = &a->v->places.items[i], *q = &a->v->places.items[j];
	double share_p = moments_with_latency(a->m, i), share_q = moments_with_latency(a->m, j);
	int r;

	if (share_p != share_q)
		return share_p > share_q ? -1 : 1;
	if (p->kind != q->kind)
		return p->kind < q->kind ? -1 : 1;
	r = compare_text(analysis_function_name(a, p->function),
			 analysis_function_name(a, q->function));
	if (r == 0)
		r = compare_text(analysis_function_file(a, p->function),
				 analysis_function_file(a, q->function));
	if (r == 0)
		r = compare_text(site_text(a, p), site_text(a, q));
	if (r != 0)
		return r;
	if (p->wait != q->wait)
		return p->wait < q->wait ? -1 : 1;
	if (p->device != q->device)
		return p->device < q->device ? -1 : 1;
	return (i > j) - (i < j);
}

static void sort_children(const struct analysis *a, places *children)
{
	if (children->cnt > 1)
		qsort_r(children->items, children->cnt, sizeof(*children->items), compare_places, (void *)a);
}

/* The calls of that function in its caller said where they are: what says nothing came another way. */
static bool are_told(const struct analysis *a, const struct place *p)
{
	const struct place *items = a->v->places.items;

	if (!items[p->parent].calls_by_place)
		return false;
	for (uint32_t i = items[p->parent].first_child; i != NODE_NONE; i = items[i].next_sibling)
		if (items[i].kind == p->kind && items[i].function == p->function && items[i].call_site != CALL_SITE_NONE)
			return true;
	return false;
}

void place_call_sites(const struct analysis *a, uint32_t place, strings *ret)
{
	const struct place *p = &a->v->places.items[place];
	uint32_t caller = p->parent == NODE_NONE ? FUNCTION_NONE
						 : a->v->places.items[p->parent].function;
	const struct call *calls = a->t->calls.items;
	size_t first;

	ret->cnt = 0;
	if (p->call_site != CALL_SITE_NONE) {
		VEC_ADD(ret, a->t->call_sites.items[p->call_site]);
		return;
	}
	if (p->kind != NODE_FUNCTION || caller == FUNCTION_NONE || are_told(a, p))
		return;
	first = partition_point(i, a->t->calls.cnt, calls[i].caller < caller ||
				(calls[i].caller == caller && calls[i].callee < p->function));
	for (size_t i = first; i < a->t->calls.cnt && calls[i].caller == caller && calls[i].callee == p->function; i++)
		if (calls[i].call_site != CALL_SITE_NONE)
			VEC_ADD(ret, a->t->call_sites.items[calls[i].call_site]);
	strings_sort_unique(ret);
}

static const char *joined_call_sites(const struct analysis *a, uint32_t place)
{
	_cleanup_(str_release) struct str s = STR_INIT;
	strings sites = { NULL, 0, 0 };

	place_call_sites(a, place, &sites);
	for (size_t i = 0; i < sites.cnt; i++) {
		if (i > 0)
			str_addc(&s, ',');
		str_add(&s, sites.items[i]);
	}
	VEC_RELEASE(&sites);
	return s.len ? arena_strdup(a->f->arena, str_cstr(&s)) : NULL;
}

static void add_node(const struct analysis *a, const struct call_graph *g, struct shown_tree *s, uint32_t place)
{
	const struct place *p = &a->v->places.items[place];
	double n = (double)a->m->n, variance = moments_variance_of(a->m, place);
	uint32_t before, after;
	uint32_t id = (uint32_t)a->f->nodes.cnt;
	struct node *node = VEC_EXTEND(&a->f->nodes);

	*node = (struct node){
		.id = id,
		.parent = p->parent == NODE_NONE ? NODE_NONE : s->node_of_place[p->parent],
		.kind = p->kind,
		.function = analysis_function_name(a, p->function),
		.file = analysis_function_file(a, p->function),
		.line = analysis_function_line(a, p->function),
		.call_site = joined_call_sites(a, place),
		.is_wait = p->is_wait, .wait = p->wait, .device = place_device(p),
		.mean_ns = moments_mean(a->m->n, a->m->places.items[place].x),
		.variance_ns2 = variance,
		.share = analysis_share(a, moments_with_latency(a->m, place)),
		.variance_share = analysis_share(a, variance),
		.calls_per_interval = n > 0 ? (double)p->calls / n : 0,
		.presence = n > 0 ? (double)p->presence / n : 0,
	};

	if (p->function < a->t->functions.cnt) {
		node->is_system = a->t->functions.items[p->function].is_system;
		node->is_loop = a->t->functions.items[p->function].is_loop;
	}
	if (place < a->v->sample_cnt.cnt)
		node->samples = a->v->sample_cnt.items[place];
	if (node->samples)
		node->variance_ns2 = node->variance_share = 0;
	if (p->kind == NODE_WAIT && p->wait == STATE_QUEUE && put_aside_most(a->v->put_aside, &before, &after)) {
		node->put_aside = analysis_function_name(a, before);
		node->taken_up = analysis_function_name(a, after);
	}
	if ((p->kind == NODE_FUNCTION || p->kind == NODE_BODY) && p->function != FUNCTION_NONE)
		node->open = g->open[p->function];
	s->node_of_place[place] = id;
	s->place_of_node[id] = place;
}
