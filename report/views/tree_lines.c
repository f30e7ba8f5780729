/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree_lines.c - decides which nodes of a variance tree get a line, and where it is.
 *
 *	request 100                            request 100
 *	├─ commit 31.6                         ├─ commit › flush 31.2
 *	│ ├─ flush 31.2                        │ ├─ lock wait 16
 *	│ │ ├─ lock wait 16                    │ └─ fsync 15.2
 *	│ │ └─ fsync 15.2                      ├─ (queue wait) 67.9
 *	│ └─ 1 more 0.4                        └─ 3 more 0.9
 *	├─ (queue wait) 67.9
 *	└─ 2 more 0.5
 *
 * Children smaller than min_share are summed up in one line, "2 more", those of a wait that blame one function in
 * several ways in a line of its own, "by flush (3 ways)", if that is as large.  A function that has but one larger
 * child, a function which carries nearly all of it, needs no line: it is printed in front of that child's name.  All
 * figures of the line are the last one's; the other children of the functions before it go into the sum next to the
 * line, so that every list still adds up to the line above it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "report/views/tree_lines.h"

#define LEVELS_MAX 100			/* deeper ones only in JSON and CSV */
#define CHAIN 0.8			/* all of a chain is within this of its head, not just of the one before:
					 * eight times 0.8 would be a sixth */

/* The tree as lists of children: first[parent], next[sibling], best share first. */
struct family {
	uint32_t *first, *next;
};

struct walk {
	const struct node *nodes;
	const struct view_options *o;
	const struct glyphs *g;
	struct family family;
	struct str prefix;		/* of the lines below the current node */
	bool any_chain;
	tree_lines *lines;
};

/* The nodes without a line. */
struct rest {
	size_t cnt;
	double share, mean_ns;
	uint32_t by;			/* as in struct tree_line */
};
typedef VEC(struct rest) rests;

static int by_share(const void *a, const void *b, void *arg)
{
	const struct node *nodes = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (nodes[x].share != nodes[y].share)
		return nodes[x].share > nodes[y].share ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void family_init(struct family *y, const struct findings *f)
{
	size_t cnt = f->nodes.cnt;
	_cleanup_(freep) uint32_t *order = xcalloc(cnt + 1, sizeof(*order));

	y->first = xcalloc(cnt + 1, sizeof(*y->first));
	y->next = xcalloc(cnt + 1, sizeof(*y->next));
	for (uint32_t i = 0; i < cnt; i++) {
		order[i] = i;
		y->first[i] = y->next[i] = NODE_NONE;
	}
	qsort_r(order, cnt, sizeof(*order), by_share, f->nodes.items);
	/* Smallest first, each before those added earlier: the best ends up in front. */
	for (size_t i = cnt; i-- > 0;) {
		uint32_t id = order[i], parent = f->nodes.items[id].parent;

		if (parent == NODE_NONE)
			continue;
		y->next[id] = y->first[parent];
		y->first[parent] = id;
	}
}

static bool shown(const struct walk *w, uint32_t id)
{
	return fabs(w->nodes[id].share) >= w->o->min_share;
}

static void rest_add(struct rest *r, const struct node *n)
{
	r->cnt++;
	r->share += n->share;
	r->mean_ns += n->mean_ns;
}

static struct rest *rest_of_function(const struct walk *w, rests *list, const struct node *n)
{
	for (size_t i = 0; i < list->cnt; i++) {
		const struct node *by = &w->nodes[list->items[i].by];

		if (strcmp(by->function, n->function) == 0 &&
		    strcmp(by->file ? by->file : "", n->file ? n->file : "") == 0)
			return &list->items[i];
	}
	VEC_ADD(list, (struct rest){ .by = n->id });
	return &list->items[list->cnt - 1];
}

/* A function that is blamed in several ways without lines of their own gets one line for all of them, if that is
 * large enough. */
static void sum_by_function(const struct walk *w, uint32_t parent, struct rest *rest, rests *ret)
{
	size_t cnt = 0;

	for (uint32_t id = w->family.first[parent]; id != NODE_NONE; id = w->family.next[id])
		if (!shown(w, id) && w->nodes[id].kind == NODE_BLAME && w->nodes[id].function)
			rest_add(rest_of_function(w, ret, &w->nodes[id]), &w->nodes[id]);
	for (size_t i = 0; i < ret->cnt; i++) {
		const struct rest *r = &ret->items[i];

		if (r->cnt < 2 || fabs(r->share) < w->o->min_share)
			continue;
		rest->cnt -= r->cnt;
		rest->share -= r->share;
		rest->mean_ns -= r->mean_ns;
		ret->items[cnt++] = *r;
	}
	ret->cnt = cnt;
}

/* The only child that is shown, or NODE_NONE: there are none, or several. */
static uint32_t only_child(const struct walk *w, uint32_t parent)
{
	uint32_t only = NODE_NONE;

	for (uint32_t id = w->family.first[parent]; id != NODE_NONE; id = w->family.next[id]) {
		if (!shown(w, id))
			continue;
		if (only != NODE_NONE)
			return NODE_NONE;
		only = id;
	}
	return only;
}

/* A path of functions, or of those to blame. */
static bool carries(const struct node *head, const struct node *n)
{
	bool is_blamed = head->kind == NODE_BLAME && !head->is_wait && n->function;

	return (head->kind == NODE_FUNCTION || is_blamed) && n->kind == head->kind && head->share > 0 &&
	       n->share >= CHAIN * head->share && head->share >= CHAIN * n->share;
}

/* A place of several that call the function has its own line: in a chain its name would be the first to be cut. */
static bool is_one_of_places(const struct walk *w, uint32_t id)
{
	const struct node *n = &w->nodes[id];

	for (uint32_t other = n->kind == NODE_FUNCTION && n->call_site ? w->family.first[n->parent] : NODE_NONE; other != NODE_NONE;
	     other = w->family.next[other])
		if (other != id && w->nodes[other].kind == NODE_FUNCTION && w->nodes[other].function && n->function &&
		    strcmp(w->nodes[other].function, n->function) == 0)
			return true;
	return false;
}

/* The last of the chain that begins with head; adds its siblings on the way to r. */
static uint32_t chain_end(const struct walk *w, uint32_t head, struct rest *r)
{
	uint32_t end = head, next;

	while (!w->o->no_collapse && !is_one_of_places(w, end) && (next = only_child(w, end)) != NODE_NONE &&
	       carries(&w->nodes[head], &w->nodes[next])) {
		for (uint32_t id = w->family.first[end]; id != NODE_NONE; id = w->family.next[id])
			if (id != next)
				rest_add(r, &w->nodes[id]);
		end = next;
	}
	return end;
}

static char *branch_of(const struct walk *w, const char *branch)
{
	return xasprintf("%s%s", str_cstr(&w->prefix), branch);
}

static void walk_children(struct walk *w, uint32_t parent, unsigned depth);

static void add_sum(struct walk *w, const struct rest *r, bool last)
{
	VEC_ADD(w->lines, (struct tree_line){
		.branch = branch_of(w, last ? w->g->last_branch : w->g->branch), .head = NODE_NONE, .node = NODE_NONE,
		.rest_cnt = r->cnt, .rest_share = r->share, .rest_mean_ns = r->mean_ns, .by = r->by });
}

static void walk_child(struct walk *w, uint32_t id, bool last, unsigned depth)
{
	size_t len = w->prefix.len;
	struct rest beside = { .by = NODE_NONE };
	uint32_t end = chain_end(w, id, &beside);

	w->any_chain |= end != id;
	VEC_ADD(w->lines, (struct tree_line){
		.branch = branch_of(w, last ? w->g->last_branch : w->g->branch),
		.head = id, .node = end });
	str_add(&w->prefix, last ? w->g->blank : w->g->trunk);
	walk_children(w, end, depth + 1);
	w->prefix.len = len;
	w->prefix.data[len] = '\0';
}

/* depth: of the children, in lines. */
static void walk_children(struct walk *w, uint32_t parent, unsigned depth)
{
	unsigned limit = w->o->depth && w->o->depth < LEVELS_MAX ? w->o->depth : LEVELS_MAX;
	size_t shown_cnt = 0, walked = 0;
	struct rest rest = { .by = NODE_NONE };
	rests sums = { NULL, 0, 0 };

	if (depth > limit)
		return;
	for (uint32_t id = w->family.first[parent]; id != NODE_NONE; id = w->family.next[id]) {
		if (!shown(w, id)) {
			rest_add(&rest, &w->nodes[id]);
			continue;
		}
		shown_cnt++;
		chain_end(w, id, &rest);
	}
	sum_by_function(w, parent, &rest, &sums);
	for (uint32_t id = w->family.first[parent]; id != NODE_NONE; id = w->family.next[id])
		if (shown(w, id))
			walk_child(w, id, ++walked == shown_cnt && rest.cnt == 0 && sums.cnt == 0, depth);
	for (size_t i = 0; i < sums.cnt; i++)
		add_sum(w, &sums.items[i], i + 1 == sums.cnt && rest.cnt == 0);
	/* Below a drawn node only children that matter get a line. */
	if (rest.cnt && (shown_cnt || sums.cnt || depth == 1))
		add_sum(w, &rest, true);
	VEC_RELEASE(&sums);
}

bool tree_lines_make(const struct findings *f, const struct view_options *o, const struct glyphs *g,
		     tree_lines *ret)
{
	struct walk w = { .nodes = f->nodes.items, .o = o, .g = g, .prefix = STR_INIT, .lines = ret };

	family_init(&w.family, f);
	VEC_ADD(ret, (struct tree_line){ .branch = xstrdup("") });
	walk_children(&w, 0, 1);
	free(w.family.first);
	free(w.family.next);
	str_release(&w.prefix);
	return w.any_chain;
}

void tree_lines_release(tree_lines *lines)
{
	for (size_t i = 0; i < lines->cnt; i++)
		free(lines->items[i].branch);
	VEC_RELEASE(lines);
}
