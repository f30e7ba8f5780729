/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * call_graph.c - heights on the condensation of the call graph.
 *
 * Functions that reach each other are one node; a node's height is 0 without a way out of it,
 * else 1 + the highest node it calls.
 *
 *	A calls P; P calls Q; Q calls P and L:	L 0, {P, Q} 1, A 2
 *
 * Tarjan's algorithm closes a component only after all components it calls, so heights fall out
 * in the same pass.  It is written with a stack of its own: call graphs from real programs are
 * deep enough to overflow the machine's.
 */
#include "analysis/tree/call_graph.h"

#include "base/map.h"
#include "base/banned.h"

struct visit {				/* one function being explored */
	uint32_t function;
	size_t next_edge;
};

struct search {
	const struct call_edge *edges;
	const size_t *first_edge;	/* per function, and one more */
	uint32_t *heights, *circles;
	uint32_t *number, *low;		/* Tarjan's; number 0: not seen yet */
	bool *closed;
	uint32_t seen_cnt;
	VEC(struct visit) visits;
	VEC(uint32_t) pending;		/* seen, their component not closed */
};

static void explore(struct search *s, uint32_t from);

static int compare_edges(const void *pa, const void *pb)
{
	const struct call_edge *a = pa, *b = pb;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	return (a->callee > b->callee) - (a->callee < b->callee);
}

void heights_of(struct call_edge *edges, size_t edge_cnt, size_t function_cnt, uint32_t *heights, uint32_t *circles)
{
	_cleanup_(freep) size_t *first_edge = xcalloc(function_cnt + 2, sizeof(*first_edge));
	_cleanup_(freep) uint32_t *number = xcalloc(function_cnt + 1, sizeof(*number));
	_cleanup_(freep) uint32_t *low = xcalloc(function_cnt + 1, sizeof(*low));
	_cleanup_(freep) bool *closed = xcalloc(function_cnt + 1, sizeof(*closed));
	struct search s = {
		.edges = edges, .first_edge = first_edge, .heights = heights, .circles = circles,
		.number = number, .low = low, .closed = closed,
	};

	if (edge_cnt > 1)
		qsort(edges, edge_cnt, sizeof(*edges), compare_edges);
	for (size_t i = 0; i < edge_cnt; i++)
		first_edge[edges[i].caller + 1]++;
	for (size_t v = 0; v < function_cnt; v++)
		first_edge[v + 1] += first_edge[v];
	for (size_t v = 0; v < function_cnt; v++)
		if (number[v] == 0)
			explore(&s, (uint32_t)v);
	VEC_RELEASE(&s.visits);
	VEC_RELEASE(&s.pending);
}

static void enter(struct search *s, uint32_t function)
{
	struct visit v = { function, s->first_edge[function] };

	s->number[function] = s->low[function] = ++s->seen_cnt;
	s->heights[function] = 0;
	VEC_ADD(&s->visits, v);
	VEC_ADD(&s->pending, function);
}

/* All callees outside are closed and have their heights: take the highest over the component. */
static void close_component(struct search *s, uint32_t root)
{
	size_t first = s->pending.cnt;
	uint32_t height = 0;

	do {
		first--;
		s->closed[s->pending.items[first]] = true;
	} while (s->pending.items[first] != root);
	for (size_t i = first; i < s->pending.cnt; i++)
		if (s->heights[s->pending.items[i]] > height)
			height = s->heights[s->pending.items[i]];
	for (size_t i = first; i < s->pending.cnt; i++) {
		s->heights[s->pending.items[i]] = height;
		if (s->circles)
			s->circles[s->pending.items[i]] = root;
	}
	s->pending.cnt = first;
}

static void explore(struct search *s, uint32_t from)
{
	enter(s, from);
	while (s->visits.cnt > 0) {
		struct visit *v = &s->visits.items[s->visits.cnt - 1];
		uint32_t caller = v->function, callee;

		if (v->next_edge == s->first_edge[caller + 1]) {
			if (s->low[caller] == s->number[caller])
				close_component(s, caller);
			s->visits.cnt--;
			continue;
		}
		callee = s->edges[v->next_edge].callee;
		if (s->number[callee] == 0) {
			enter(s, callee);	/* and then look at this edge again */
			continue;
		}
		v->next_edge++;
		if (s->closed[callee]) {
			if (s->heights[callee] + 1 > s->heights[caller])
				s->heights[caller] = s->heights[callee] + 1;
		} else if (s->low[callee] < s->low[caller]) {
			s->low[caller] = s->low[callee];
		}
	}
}

static void add_edge(struct map *known, uint32_t caller, uint32_t callee)
{
	if (caller != callee)
		map_set(known, (uint64_t)caller << 32 | callee, 1);
}

static bool collect_edge(uint64_t key, uint64_t value, void *arg)
{
	struct call_edge **end = arg;

	(void)value;
	*(*end)++ = (struct call_edge) { (uint32_t)(key >> 32), (uint32_t)key };
	return true;
}

struct call_graph *call_graph_new(const struct trace *t, const struct nestings *seen)
{
	_cleanup_(map_freep) struct map *known = map_new();
	_cleanup_(freep) struct call_edge *edges = NULL;
	struct call_graph *g = xcalloc(1, sizeof(*g));
	struct call_edge *end;

	g->function_cnt = t->functions.cnt;
	g->heights = xcalloc(g->function_cnt + 1, sizeof(*g->heights));
	g->open = xcalloc(g->function_cnt + 1, sizeof(*g->open));
	for (size_t i = 0; i < t->calls.cnt; i++) {
		const struct function *callee = &t->functions.items[t->calls.items[i].callee];

		if (callee->left_out)
			continue;
		add_edge(known, t->calls.items[i].caller, t->calls.items[i].callee);
		if (!callee->probed)
			g->open[t->calls.items[i].caller] = true;
	}
	for (size_t i = 0; i < seen->list.cnt; i++)
		if (!t->functions.items[seen->list.items[i].callee].left_out)
			add_edge(known, seen->list.items[i].caller, seen->list.items[i].callee);
	end = edges = xcalloc(map_cnt(known) + 1, sizeof(*edges));
	map_each(known, collect_edge, &end);
	g->circles = xcalloc(g->function_cnt + 1, sizeof(*g->circles));
	heights_of(edges, map_cnt(known), g->function_cnt, g->heights, g->circles);
	return g;
}

void call_graph_free(struct call_graph *g)
{
	if (!g)
		return;
	free(g->heights);
	free(g->open);
	free(g->circles);
	free(g);
}
