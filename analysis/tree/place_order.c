/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place_order.c - numbers places by their identity alone.
 *
 * Places are numbered as rows find them, and rows come as the windows of the trace do.  Sums of floating-point
 * numbers go through the tree in the order of these numbers, so they are assigned anew at the end: level by level,
 * siblings by kind, class of wait, function and call site.  Example: found as interval 0, g 1, f 2, body of g 3: now
 * interval 0, f 1, g 2, body of g 3.
 */
#include "analysis/tree/variance_tree.h"

#include <string.h>
#include "base/banned.h"

struct ordering {
	const struct vtree *v;
	const struct trace *t;
};

/* One key of an order: says which is first and returns, or goes on to the next key. */
#define BY(x, y)					\
	do {						\
		if ((x) != (y))				\
			return (x) < (y) ? -1 : 1;	\
	} while (0)

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_functions(const struct trace *t, uint32_t a, uint32_t b)
{
	const struct function *x, *y;
	int r;

	if (a == b || a >= t->functions.cnt || b >= t->functions.cnt)	/* devices, none */
		return (a > b) - (a < b);
	x = &t->functions.items[a];
	y = &t->functions.items[b];
	r = strcmp(x->name, y->name);
	if (r == 0)
		r = compare_text(x->file, y->file);
	if (r)
		return r;
	BY(x->line, y->line);
	BY(x->key, y->key);
	return (a > b) - (a < b);
}

static int compare_sites(const struct trace *t, uint32_t a, uint32_t b)
{
	if (a == b || a == CALL_SITE_NONE || b == CALL_SITE_NONE)
		return (a > b) - (a < b);
	return strcmp(t->call_sites.items[a], t->call_sites.items[b]);
}

static int compare_siblings(const void *pa, const void *pb, void *arg)
{
	const struct ordering *o = arg;
	uint32_t i = *(const uint32_t *)pa, j = *(const uint32_t *)pb;
	const struct place *a = &o->v->places.items[i], *b = &o->v->places.items[j];
	int r;

	BY(a->kind, b->kind);
	BY(a->is_wait, b->is_wait);
	BY(a->wait, b->wait);
	BY(a->device, b->device);
	r = compare_functions(o->t, a->function, b->function);
	if (r == 0)
		r = compare_sites(o->t, a->call_site, b->call_site);
	return r ? r : (i > j) - (i < j);
}

static uint32_t new_id(const uint32_t *new_ids, uint32_t id)
{
	return id == NODE_NONE ? NODE_NONE : new_ids[id];
}

static void move_sample_cnt(struct vtree *v, const uint32_t *old_ids)
{
	_cleanup_(freep) uint64_t *before = v->sample_cnt.cnt ? xcalloc(v->sample_cnt.cnt, sizeof(*before)) : NULL;

	for (size_t i = 0; i < v->sample_cnt.cnt; i++)
		before[i] = v->sample_cnt.items[i];
	for (size_t i = 0; i < v->sample_cnt.cnt; i++)
		v->sample_cnt.items[i] = before[old_ids[i]];
}

/* old_ids: [new]. */
static void move_places(struct vtree *v, const uint32_t *old_ids, const uint32_t *new_ids)
{
	struct place *places = xcalloc(v->places.cnt, sizeof(*places));

	for (size_t i = 0; i < v->places.cnt; i++) {
		places[i] = v->places.items[old_ids[i]];
		places[i].parent = new_id(new_ids, places[i].parent);
		places[i].first_child = new_id(new_ids, places[i].first_child);
		places[i].next_sibling = new_id(new_ids, places[i].next_sibling);
		places[i].body = new_id(new_ids, places[i].body);
	}
	free(v->places.items);
	v->places.items = places;
	v->places.cap = v->places.cnt;
	move_sample_cnt(v, old_ids);
}

uint32_t *vtree_renumber(struct vtree *v, const struct trace *t)
{
	struct ordering o = { v, t };
	_cleanup_(freep) uint32_t *old_ids = xcalloc(v->places.cnt, sizeof(*old_ids));
	uint32_t *new_ids = xcalloc(v->places.cnt, sizeof(*new_ids));
	size_t cnt = 1;			/* the interval is first */

	for (size_t parent = 0; parent < cnt; parent++) {
		size_t first = cnt;

		for (uint32_t i = v->places.items[old_ids[parent]].first_child; i != NODE_NONE;
		     i = v->places.items[i].next_sibling)
			old_ids[cnt++] = i;
		if (cnt - first > 1)
			qsort_r(old_ids + first, cnt - first, sizeof(*old_ids), compare_siblings, &o);
	}
	for (uint32_t i = 0; i < cnt; i++)
		new_ids[old_ids[i]] = i;
	move_places(v, old_ids, new_ids);
	return new_ids;
}
