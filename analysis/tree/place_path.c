/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place_path.c - tests whether a function is already around a place.
 *
 * The functions on the path to the place of the last query are counted.  The next one is nearby, so the count follows
 * it in a few steps.  Example: after f > g > h comes f > g > k: h is taken out, k was not there.
 */
#include "analysis/tree/variance_tree.h"

#include "base/banned.h"

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
