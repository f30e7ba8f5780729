/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * carrier.c - one tree of calls made of all paths, below the interval and below waits, and the way down to its carrier.
 */
#include "analysis/causes/carrier.h"

#include <string.h>
#include "base/banned.h"

#define CARRIES 0.5			/* of what is around it */
#define ITS_OWN 1.02			/* times what the path has of it: all paths together */

struct frame {				/* a function on a path from the outermost one */
	const char *name;
	uint32_t parent, first_child, next_sibling;
	double share;			/* with all below it */
};

struct call_paths {
	VEC(struct frame) calls;		/* [0]: what is around all; parents first */
	uint32_t *of_leaf;
	VEC(uint32_t) path;		/* nodes, the innermost first */
};

static uint32_t call_below(struct call_paths *p, uint32_t parent, const char *name)
{
	for (uint32_t i = p->calls.items[parent].first_child; i; i = p->calls.items[i].next_sibling)
		if (strcmp(p->calls.items[i].name, name) == 0)
			return i;
	VEC_ADD(&p->calls, (struct frame){ name, parent, 0, p->calls.items[parent].first_child, 0 });
	return p->calls.items[parent].first_child = (uint32_t)p->calls.cnt - 1;
}

/* Of a wait, its function is the node above; those to blame for one are below it. */
static void take_path(struct call_paths *p, const struct findings *f, uint32_t doer)
{
	const struct node *n = &f->nodes.items[doer];
	enum node_kind kind;

	if ((n->kind == NODE_WAIT || n->kind == NODE_BODY) && n->parent != NODE_NONE)
		n = &f->nodes.items[n->parent];
	kind = n->kind;
	for (p->path.cnt = 0; n->kind == kind && n->function && n->parent != NODE_NONE; n = &f->nodes.items[n->parent])
		VEC_ADD(&p->path, n->id);
}

static void add_leaf(struct call_paths *p, const struct findings *f, size_t leaf, const struct carried *x)
{
	uint32_t at = 0;

	if (x->doer == NODE_NONE)
		return;
	take_path(p, f, x->doer);
	for (size_t i = p->path.cnt; i-- > 0; ) {
		const char *name = f->nodes.items[p->path.items[i]].function;

		if (!at || strcmp(p->calls.items[at].name, name) != 0)
			at = call_below(p, at, name);
	}
	p->of_leaf[leaf] = at;
	for (;; at = p->calls.items[at].parent) {
		p->calls.items[at].share += x->share;
		if (!at)
			break;
	}
}

static uint32_t largest_child(const struct call_paths *p, uint32_t at)
{
	uint32_t best = 0;

	for (uint32_t i = p->calls.items[at].first_child; i; i = p->calls.items[i].next_sibling)
		if (!best || p->calls.items[i].share > p->calls.items[best].share)
			best = i;
	return best;
}

static bool is_around(const struct call_paths *p, uint32_t outer, uint32_t inner)
{
	while (inner > outer)
		inner = p->calls.items[inner].parent;
	return inner == outer;
}

/* Of all calls of that name, the outermost ones. */
static double share_of_name(const struct call_paths *p, const char *name)
{
	double share = 0;

	for (uint32_t i = 1; i < p->calls.cnt; i++) {
		uint32_t above = p->calls.items[i].parent;

		if (strcmp(p->calls.items[i].name, name) != 0)
			continue;
		while (above && strcmp(p->calls.items[above].name, name) != 0)
			above = p->calls.items[above].parent;
		share += above ? 0 : p->calls.items[i].share;
	}
	return share;
}

static uint32_t carrier_of(const struct call_paths *p)
{
	uint32_t at = 0, next;

	while ((next = largest_child(p, at)) && p->calls.items[next].share > CARRIES * p->calls.items[at].share)
		at = next;
	while (at && p->calls.items[at].parent &&
	       share_of_name(p, p->calls.items[at].name) > ITS_OWN * p->calls.items[at].share)
		at = p->calls.items[at].parent;
	return at;
}

const char *find_carrier(const struct findings *f, struct carried *leaves, size_t cnt)
{
	struct call_paths p = { .of_leaf = xcalloc(cnt + 1, sizeof(*p.of_leaf)) };
	const char *name = NULL;
	uint32_t carrier;

	VEC_ADD(&p.calls, (struct frame){ .name = "" });
	for (size_t i = 0; i < cnt; i++)
		add_leaf(&p, f, i, &leaves[i]);
	carrier = p.calls.items[0].share > 0 ? carrier_of(&p) : 0;
	if (carrier)
		name = p.calls.items[carrier].name;
	for (size_t i = 0; i < cnt; i++)
		leaves[i].is_below = carrier && p.of_leaf[i] && is_around(&p, carrier, p.of_leaf[i]);
	VEC_RELEASE(&p.calls);
	VEC_RELEASE(&p.path);
	free(p.of_leaf);
	return name;
}
