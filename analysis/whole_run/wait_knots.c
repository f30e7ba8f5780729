/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wait_knots.c - knots and sinks, and knots made smaller (wPerf 3.2, 4.2, 4.3).
 *
 * A strongly connected component without an edge out of it is a knot, or a sink if it has no edge at all.  A knot
 * without a device whose threads use less than one processor sleeps most of the time: such background knots are
 * reported and removed, and the rest is searched again.  Any other is trimmed: its lightest edge goes, until it is a
 * simple cycle or all edges left are above the threshold; if it falls apart, each part that cannot be escaped is
 * trimmed in turn.  Sinks without records are reported and removed like background knots, but a vertex that waits for
 * them does not become a sink by that.
 *
 * Example, threshold 18:  A -> B 87, B -> Disk 40, Disk -> B 35, B -> A 2.  All is one knot. Without B -> A it falls
 * apart: A waits for the rest, B and Disk are the knot, a simple cycle.
 *
 * Removing one edge at a time would visit all edges for each.  Instead a binary search finds how many can go before
 * the knot falls apart: removing more edges never joins it again.
 */
#include "analysis/whole_run/wait_knots.h"

#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "base/saturate.h"

#define NONE UINT32_MAX

struct search {
	const struct knot_graph *g;
	struct knots *ret;
	uint32_t *local;		/* vertex -> its index in the current part, or NONE */
	bool *waits_outside;		/* of each vertex: it waits for one that was removed */
};

/* Vertices and the edges among them. */
struct part {
	numbers vertices, edges;
};

static void part_release(struct part *p)
{
	VEC_RELEASE(&p->vertices);
	VEC_RELEASE(&p->edges);
}

/* The edges of a part by the vertex they leave (or, backward, enter), in local numbers. */
struct adjacency {
	uint32_t *first, *to;		/* to[first[v]] .. to[first[v + 1] - 1] */
};

static struct adjacency adjacency_new(const struct search *s, const struct part *p, size_t skip,
				      bool backward)
{
	struct adjacency a = {
		.first = xcalloc(p->vertices.cnt + 2, sizeof(*a.first)),
		.to = xcalloc(p->edges.cnt + 1, sizeof(*a.to)),
	};

	for (size_t i = skip; i < p->edges.cnt; i++) {
		const struct knot_edge *e = &s->g->edges[p->edges.items[i]];

		a.first[s->local[backward ? e->to : e->from] + 2]++;
	}
	for (size_t v = 2; v < p->vertices.cnt + 2; v++)
		a.first[v] += a.first[v - 1];
	for (size_t i = skip; i < p->edges.cnt; i++) {
		const struct knot_edge *e = &s->g->edges[p->edges.items[i]];
		uint32_t from = s->local[backward ? e->to : e->from];

		a.to[a.first[from + 1]++] = s->local[backward ? e->from : e->to];
	}
	return a;
}

static void adjacency_release(struct adjacency *a)
{
	free(a->first);
	free(a->to);
}

static void number_vertices(struct search *s, const struct part *p)
{
	for (size_t i = 0; i < p->vertices.cnt; i++)
		s->local[p->vertices.items[i]] = (uint32_t)i;
}

/* ---- strongly connected components (Tarjan, without recursion) ---- */

struct tarjan {
	struct adjacency a;
	uint32_t *order, *low, *next, *component;	/* order: 0 is not seen yet */
	bool *open;
	numbers path, stack;
	uint32_t seen, component_cnt;
};

static void enter(struct tarjan *t, uint32_t v)
{
	t->order[v] = t->low[v] = ++t->seen;
	t->next[v] = t->a.first[v];
	t->open[v] = true;
	VEC_ADD(&t->path, v);
	VEC_ADD(&t->stack, v);
}

/* Everything that v reaches has been visited. */
static void leave(struct tarjan *t, uint32_t v)
{
	t->path.cnt--;
	if (t->low[v] == t->order[v]) {
		uint32_t w;

		do {
			w = t->stack.items[--t->stack.cnt];
			t->open[w] = false;
			t->component[w] = t->component_cnt;
		} while (w != v);
		t->component_cnt++;
	}
	if (t->path.cnt) {
		uint32_t from = t->path.items[t->path.cnt - 1];

		if (t->low[v] < t->low[from])
			t->low[from] = t->low[v];
	}
}

static void visit(struct tarjan *t, uint32_t start)
{
	enter(t, start);
	while (t->path.cnt) {
		uint32_t v = t->path.items[t->path.cnt - 1], to;

		if (t->next[v] == t->a.first[v + 1]) {
			leave(t, v);
			continue;
		}
		to = t->a.to[t->next[v]++];
		if (t->order[to] == 0)
			enter(t, to);
		else if (t->open[to] && t->order[to] < t->low[v])
			t->low[v] = t->order[to];
	}
}

/* The component of each vertex of p; the caller frees it. */
static uint32_t *components(struct search *s, const struct part *p, uint32_t *ret_cnt)
{
	size_t cnt = p->vertices.cnt;
	struct tarjan t = {
		.a = adjacency_new(s, p, 0, false),
		.order = xcalloc(cnt + 1, sizeof(uint32_t)),
		.low = xcalloc(cnt + 1, sizeof(uint32_t)),
		.next = xcalloc(cnt + 1, sizeof(uint32_t)),
		.component = xcalloc(cnt + 1, sizeof(uint32_t)),
		.open = xcalloc(cnt + 1, sizeof(bool)),
	};

	for (uint32_t v = 0; v < cnt; v++)
		if (t.order[v] == 0)
			visit(&t, v);
	*ret_cnt = t.component_cnt;
	adjacency_release(&t.a);
	free(t.order);
	free(t.low);
	free(t.next);
	free(t.open);
	VEC_RELEASE(&t.path);
	VEC_RELEASE(&t.stack);
	return t.component;
}

/* ---- is a part still one knot without its first edges? ---- */

static size_t reached(const struct search *s, const struct part *p, size_t skip, bool backward)
{
	struct adjacency a = adjacency_new(s, p, skip, backward);
	_cleanup_(freep) bool *seen = xcalloc(p->vertices.cnt + 1, sizeof(*seen));
	numbers todo = { NULL, 0, 0 };
	size_t cnt = 1;

	seen[0] = true;
	VEC_ADD(&todo, 0);
	while (todo.cnt) {
		uint32_t v = todo.items[--todo.cnt];

		for (uint32_t i = a.first[v]; i < a.first[v + 1]; i++) {
			if (seen[a.to[i]])
				continue;
			seen[a.to[i]] = true;
			cnt++;
			VEC_ADD(&todo, a.to[i]);
		}
	}
	VEC_RELEASE(&todo);
	adjacency_release(&a);
	return cnt;
}

static bool holds_together(const struct search *s, const struct part *p, size_t skip)
{
	return reached(s, p, skip, false) == p->vertices.cnt &&
	       reached(s, p, skip, true) == p->vertices.cnt;
}

/* ---- results ---- */

static void add_knot(struct search *s, struct part *p, bool sink, bool background)
{
	struct knot *k = VEC_EXTEND(&s->ret->items);

	k->sink = sink;
	k->background = background;
	k->vertices = p->vertices;
	k->edges = p->edges;
	*p = (struct part){ { NULL, 0, 0 }, { NULL, 0, 0 } };
}

static bool is_background(const struct search *s, const struct part *p)
{
	double cpu = 0;

	for (size_t i = 0; i < p->vertices.cnt; i++) {
		const struct knot_vertex *v = &s->g->vertices[p->vertices.items[i]];

		if (v->foreground)
			return false;
		cpu += v->cpu;
	}
	return cpu < 1;
}

static int lightest_first(const void *pa, const void *pb, void *arg)
{
	const struct knot_edge *edges = arg;
	const struct knot_edge *a = &edges[*(const uint32_t *)pa], *b = &edges[*(const uint32_t *)pb];

	if (a->weight_ns != b->weight_ns)
		return a->weight_ns < b->weight_ns ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

/* ---- the search ---- */

static void find(struct search *s, struct part *p);

static void trim(struct search *s, struct part *p, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		VEC_ADD(&s->ret->trimmed, p->edges.items[i]);
	memmove(p->edges.items, p->edges.items + cnt, (p->edges.cnt - cnt) * sizeof(*p->edges.items));
	p->edges.cnt -= cnt;
}

/* p is a knot. */
static void refine(struct search *s, struct part *p)
{
	size_t light = 0, low = 0, high;

	qsort_r(p->edges.items, p->edges.cnt, sizeof(*p->edges.items), lightest_first,
		(void *)s->g->edges);
	while (light < p->edges.cnt &&
	       s->g->edges[p->edges.items[light]].weight_ns <= s->g->threshold_ns)
		light++;
	if (p->vertices.cnt == 1) {
		add_knot(s, p, false, false);
		return;
	}
	number_vertices(s, p);
	high = light;
	while (low < high) {		/* `low` edges can be removed */
		size_t mid = high - (high - low) / 2;

		if (holds_together(s, p, mid))
			low = mid;
		else
			high = mid - 1;
	}
	if (low == light || p->edges.cnt - low == p->vertices.cnt) {
		trim(s, p, low);
		add_knot(s, p, false, false);
		return;
	}
	trim(s, p, low + 1);
	find(s, p);
}

typedef VEC(struct part) parts;

/* The components that no edge leaves, with the edges inside; for those without inner edges, the edges into them. */
static parts take_ends(struct search *s, const struct part *p)
{
	parts ends = { NULL, 0, 0 };
	uint32_t cnt;
	_cleanup_(freep) uint32_t *component = (number_vertices(s, p), components(s, p, &cnt));
	_cleanup_(freep) uint32_t *end_of = xcalloc(cnt + 1, sizeof(*end_of));	/* plus one */
	_cleanup_(freep) bool *left = xcalloc(cnt + 1, sizeof(*left));

#define COMPONENT(v) component[s->local[v]]
	for (size_t i = 0; i < p->edges.cnt; i++) {
		const struct knot_edge *e = &s->g->edges[p->edges.items[i]];

		if (COMPONENT(e->from) != COMPONENT(e->to))
			left[COMPONENT(e->from)] = true;
	}
	for (size_t i = 0; i < p->vertices.cnt; i++) {
		if (left[component[i]])
			continue;
		if (end_of[component[i]] == 0) {
			VEC_EXTEND(&ends);
			end_of[component[i]] = (uint32_t)ends.cnt;
		}
		VEC_ADD(&ends.items[end_of[component[i]] - 1].vertices, p->vertices.items[i]);
	}
	for (size_t i = 0; i < p->edges.cnt; i++) {
		const struct knot_edge *e = &s->g->edges[p->edges.items[i]];
		struct part *end = end_of[COMPONENT(e->to)] ? &ends.items[end_of[COMPONENT(e->to)] - 1]
							     : NULL;

		/* Into a component of one vertex: kept for a sink, dropped if the vertex waits for itself. */
		if (end && (COMPONENT(e->from) == COMPONENT(e->to) || end->vertices.cnt == 1))
			VEC_ADD(&end->edges, p->edges.items[i]);
	}
#undef COMPONENT
	return ends;
}

/* A component of one vertex with an edge to itself is a knot, and has only that edge. */
static bool is_sink(const struct search *s, struct part *end)
{
	if (end->vertices.cnt > 1)
		return false;
	for (size_t i = 0; i < end->edges.cnt; i++) {
		const struct knot_edge *e = &s->g->edges[end->edges.items[i]];

		if (e->from == e->to) {
			end->edges.items[0] = end->edges.items[i];
			end->edges.cnt = 1;
			return false;
		}
	}
	return true;
}

/* Removes the vertices of q from p, with all their edges. */
static void remove_part(struct search *s, struct part *p, const numbers *vertices)
{
	size_t kept = 0;

	for (size_t i = 0; i < vertices->cnt; i++)
		s->local[vertices->items[i]] = NONE;
	for (size_t i = 0; i < p->edges.cnt; i++) {
		const struct knot_edge *e = &s->g->edges[p->edges.items[i]];

		if (s->local[e->from] != NONE && s->local[e->to] != NONE)
			p->edges.items[kept++] = p->edges.items[i];
	}
	p->edges.cnt = kept;
	kept = 0;
	for (size_t i = 0; i < p->vertices.cnt; i++)
		if (s->local[p->vertices.items[i]] != NONE)
			p->vertices.items[kept++] = p->vertices.items[i];
	p->vertices.cnt = kept;
}

/* Whether it has no records, and a thread waits for it. */
static bool is_outside(const struct search *s, const struct part *sink)
{
	return sink->edges.cnt && s->g->vertices[sink->vertices.items[0]].outside;
}

static void note_who_waits(struct search *s, const struct part *sink)
{
	for (size_t i = 0; i < sink->edges.cnt; i++)
		s->waits_outside[s->g->edges[sink->edges.items[i]].from] = true;
}

/* Reports background knots and outside sinks, and removes them from p; false if there are none. */
static bool set_aside(struct search *s, struct part *p, parts *ends)
{
	bool any = false;

	for (size_t i = 0; i < ends->cnt; i++) {
		struct part *end = &ends->items[i];
		bool sink = is_sink(s, end);

		if (sink ? !is_outside(s, end) : !is_background(s, end))
			continue;
		if (sink)
			note_who_waits(s, end);
		remove_part(s, p, &end->vertices);
		add_knot(s, end, sink, !sink);
		any = true;
	}
	return any;
}

static bool is_known_sink(const struct search *s, const struct part *end)
{
	return end->edges.cnt && !s->waits_outside[end->vertices.items[0]];
}

static void find(struct search *s, struct part *p)
{
	for (bool again = true; again; ) {
		parts ends = take_ends(s, p);

		again = set_aside(s, p, &ends);
		for (size_t i = 0; i < ends.cnt; i++) {
			struct part *end = &ends.items[i];

			if (again)
				;
			else if (!is_sink(s, end))
				refine(s, end);
			else if (is_known_sink(s, end))
				add_knot(s, end, true, false);
			part_release(end);
		}
		VEC_RELEASE(&ends);
	}
}

/* ---- all of it ---- */

static int64_t weight_of(const struct knot_graph *g, const struct knot *k)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < k->edges.cnt; i++)
		sum_ns = sum_saturated(sum_ns, g->edges[k->edges.items[i]].weight_ns);
	return sum_ns;
}

static int compare_numbers(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return (a > b) - (a < b);
}

static int knots_first(const void *pa, const void *pb, void *arg)
{
	const struct knot *a = pa, *b = pb;
	int64_t weight_a = weight_of(arg, a), weight_b = weight_of(arg, b);

	if (a->background != b->background)
		return a->background - b->background;
	if (a->sink != b->sink)
		return a->sink - b->sink;
	if (weight_a != weight_b)
		return weight_a > weight_b ? -1 : 1;
	return compare_numbers(&a->vertices.items[0], &b->vertices.items[0]);
}

static int heaviest_first(const void *pa, const void *pb, void *arg)
{
	return -lightest_first(pa, pb, arg);
}

void knots_find(const struct knot_graph *g, struct knots *ret)
{
	struct search s = { .g = g, .ret = ret };
	struct part all = { { NULL, 0, 0 }, { NULL, 0, 0 } };

	s.local = xcalloc((size_t)g->vertex_cnt + 1, sizeof(*s.local));
	s.waits_outside = xcalloc((size_t)g->vertex_cnt + 1, sizeof(*s.waits_outside));
	for (uint32_t v = 0; v < g->vertex_cnt; v++)
		if (!g->vertices[v].ignored)
			VEC_ADD(&all.vertices, v);
	for (uint32_t i = 0; i < g->edge_cnt; i++) {
		const struct knot_edge *e = &g->edges[i];

		if (e->weight_ns >= g->prefilter_ns && e->weight_ns > 0 &&
		    !g->vertices[e->from].ignored && !g->vertices[e->to].ignored)
			VEC_ADD(&all.edges, i);
	}
	if (all.vertices.cnt)
		find(&s, &all);
	part_release(&all);
	free(s.local);
	free(s.waits_outside);
	for (size_t i = 0; i < ret->items.cnt; i++) {
		struct knot *k = &ret->items.items[i];

		qsort(k->vertices.items, k->vertices.cnt, sizeof(uint32_t), compare_numbers);
		qsort_r(k->edges.items, k->edges.cnt, sizeof(uint32_t), heaviest_first,
			(void *)g->edges);
	}
	if (ret->items.cnt > 1)
		qsort_r(ret->items.items, ret->items.cnt, sizeof(*ret->items.items), knots_first,
			(void *)g);
}

void knots_release(struct knots *k)
{
	for (size_t i = 0; i < k->items.cnt; i++) {
		VEC_RELEASE(&k->items.items[i].vertices);
		VEC_RELEASE(&k->items.items[i].edges);
	}
	VEC_RELEASE(&k->items);
	VEC_RELEASE(&k->trimmed);
}
