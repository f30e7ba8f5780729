/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * places.c - makes, finds and sorts places.
 *
 * Whether a function is already around a place: the functions on the path to the place of the last query are counted.  The next
 * one is nearby, so the count follows it in a few steps.  Example: after f > g > h comes f > g > k: h is taken out, k was not there.
 *
 * Order: places are numbered as rows find them, and rows come as the windows of the trace do.  Sums of floating-point numbers go
 * through the tree in the order of these numbers, so they are assigned anew at the end: level by level, siblings by kind, class of
 * wait, function and call site.  Example: found as interval 0, g 1, f 2, body of g 3: now interval 0, f 1, g 2, body of g 3.
 */
#include "analysis/tree/variance_tree.h"

#include <string.h>
#include "base/banned.h"
#include "base/map.h"

/* ---- whether a function is around a place ---- */

static void count_on_path(struct vtree *v, uint32_t place, uint32_t change)
{
	const struct place *p = &v->places.items[place];

	if (p->kind != NODE_FUNCTION)
		return;
	while (v->on_path.cnt <= p->function)
		VEC_ADD(&v->on_path, 0);
	v->on_path.items[p->function] += change;
}

/* Queries come from the top down, so the way from the last place to the next is short, however deep they lie. */
static void go_to(struct vtree *v, uint32_t place)
{
	const struct place *items = v->places.items;
	uint32_t from = v->path_end, to = place;

	while (from != to) {
		if (items[from].depth >= items[to].depth) {
			count_on_path(v, from, UINT32_MAX);	/* one fewer */
			from = items[from].parent;
		} else {
			count_on_path(v, to, 1);
			to = items[to].parent;
		}
	}
	v->path_end = place;
}

bool vtree_is_outermost(struct vtree *v, uint32_t parent, uint32_t function)
{
	go_to(v, parent);
	return function >= v->on_path.cnt || v->on_path.items[function] == 0;
}

/* ---- making and finding places ---- */

#define CHILDREN_FEW 4			/* of a place: with more of them, the maps have them all */

/* A small number that distinguishes a place from its siblings. */
static uint32_t label_of(struct vtree *v, const struct place *like)
{
	uint64_t *slot;

	if (like->kind == NODE_FUNCTION)
		slot = map_slot(v->function_labels,
				(uint64_t)like->function << 32 | like->call_site);
	else
		slot = map_slot(v->other_labels, (uint64_t)like->device << 56 | (uint64_t)like->kind << 48 |
				(uint64_t)like->is_wait << 44 | (uint64_t)like->wait << 40 |
				like->function);
	if (*slot == 0)
		*slot = ++v->label_cnt;
	return (uint32_t)*slot;
}

static uint64_t *slot_of(struct vtree *v, uint32_t parent, const struct place *like)
{
	return map_slot(v->place_of_label, (uint64_t)parent << 32 | label_of(v, like));
}

/* A place has got that child, the latest. */
static void keep_child(struct vtree *v, uint32_t parent, uint32_t child)
{
	uint32_t cnt = v->places.items[parent].child_cnt;
	uint32_t last = cnt == CHILDREN_FEW + 1 ? NODE_NONE : v->places.items[child].next_sibling;

	if (cnt <= CHILDREN_FEW)
		return;
	for (uint32_t i = child; i != last; i = v->places.items[i].next_sibling)
		*slot_of(v, parent, &v->places.items[i]) = i;
}

uint32_t vtree_add_place(struct vtree *v, uint32_t parent, const struct place *like)
{
	uint32_t id = (uint32_t)v->places.cnt;

	VEC_ADD(&v->places, *like);
	VEC_ADD(&v->ns, 0);
	v->places.items[id].parent = parent;
	v->places.items[id].depth = parent == NODE_NONE ? 0 : v->places.items[parent].depth + 1;
	v->places.items[id].first_child = NODE_NONE;
	v->places.items[id].next_sibling = NODE_NONE;
	v->places.items[id].body = NODE_NONE;
	v->places.items[id].outermost = like->kind == NODE_FUNCTION && vtree_is_outermost(v, parent, like->function);
	if (parent != NODE_NONE) {
		struct place *above = &v->places.items[parent];

		above->calls_by_place |= like->call_site != CALL_SITE_NONE;
		v->places.items[id].ordinal = above->child_cnt++;
		v->places.items[id].next_sibling = above->first_child;
		above->first_child = id;
		keep_child(v, parent, id);
	}
	return id;
}

static bool is_alike(const struct place *a, const struct place *b)
{
	return a->kind == b->kind && a->function == b->function && a->call_site == b->call_site && a->is_wait == b->is_wait &&
	       a->wait == b->wait && a->device == b->device;
}

/* A search through few children is quicker than the maps.  0: there is none like that; place 0 is the child of none. */
static uint32_t find_child(struct vtree *v, uint32_t parent, const struct place *like)
{
	uint32_t i = v->places.items[parent].first_child;

	if (v->places.items[parent].child_cnt > CHILDREN_FEW)
		return (uint32_t)*slot_of(v, parent, like);
	while (i != NODE_NONE && !is_alike(&v->places.items[i], like))
		i = v->places.items[i].next_sibling;
	return i == NODE_NONE ? 0 : i;
}

uint32_t vtree_child(struct vtree *v, uint32_t parent, const struct place *like)
{
	uint32_t found = find_child(v, parent, like);

	return found ? found : vtree_add_place(v, parent, like);
}

uint32_t vtree_find_other_child(struct vtree *v, uint32_t parent, enum node_kind kind, uint32_t function, enum trace_state state,
			       enum thread_kind device)
{
	struct place like = {
		.kind = kind, .function = function, .call_site = CALL_SITE_NONE,
		.is_wait = kind == NODE_WAIT || state != STATE_RUNNING, .wait = state, .device = device,
	};

	return vtree_child(v, parent, &like);
}

uint32_t vtree_add_body(struct vtree *v, uint32_t place)
{
	struct place like = {
		.kind = NODE_BODY, .function = v->places.items[place].function,
		.call_site = CALL_SITE_NONE,
	};
	uint32_t id = vtree_add_place(v, place, &like);

	v->places.items[place].body = id;
	return id;
}

uint32_t vtree_function_child(struct vtree *v, uint32_t parent, uint32_t function)
{
	struct place like = { .kind = NODE_FUNCTION, .function = function, .call_site = CALL_SITE_NONE };

	return v->places.items[parent].function == function && parent ? parent : vtree_child(v, parent, &like);
}

/* ---- the final order ---- */

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
