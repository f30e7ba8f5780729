/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * root.c - H, the height of the interval's root in the call graph (paper 3.2.2).
 *
 * An interval is not a function, so its root is
 *  - the function named like the interval, if there is one (of several the highest);
 *  - else the function that is all of every interval: the interval's only child;
 *  - else a node of its own above the functions at the top: 1 + the highest of them.
 *
 * Example: interval "txn" is all commit (height 3): H = 3.  Interval "request" has a queue wait
 * and handle (height 2) below it: H = 3.
 */
#include "analysis/factors/tree_findings.h"

#include <string.h>
#include "base/banned.h"

static uint32_t named_like_interval(const struct analysis *a, const struct call_graph *g)
{
	uint32_t best = FUNCTION_NONE;

	for (uint32_t i = 0; i < a->t->functions.cnt; i++)
		if (strcmp(a->t->functions.items[i].name, a->f->interval.name) == 0 &&
		    (best == FUNCTION_NONE || g->heights[i] > g->heights[best]))
			best = i;
	return best;
}

void find_root(const struct analysis *a, const struct call_graph *g, struct shown_tree *s)
{
	uint32_t named = named_like_interval(a, g), only = FUNCTION_NONE, highest = 0;
	size_t child_cnt = 0, grandchild_cnt = 0;

	for (size_t i = 1; i < a->f->nodes.cnt; i++) {
		const struct place *p = &a->v->places.items[s->place_of_node[i]];

		grandchild_cnt += a->f->nodes.items[i].parent == 1;
		if (a->f->nodes.items[i].parent != 0)
			continue;
		child_cnt++;
		if (p->kind != NODE_FUNCTION)
			continue;
		only = p->function;
		if (g->heights[p->function] > highest)
			highest = g->heights[p->function];
	}
	if (child_cnt != 1)
		only = FUNCTION_NONE;
	if (named != FUNCTION_NONE)
		a->f->root_height = g->heights[named];
	else if (only != FUNCTION_NONE)
		a->f->root_height = g->heights[only];
	else
		a->f->root_height = 1 + highest;
	/* Node 1 is the only child.  A leaf remains a factor, since nothing else would be left to rank. */
	s->root_function = grandchild_cnt > 0 ? only : FUNCTION_NONE;
}
