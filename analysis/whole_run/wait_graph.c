/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wait_graph.c - a trace's wait-for graph: the steps of wait_passes.h, then the knots.
 *
 * Example: wPerf's figure 1.  A hands requests to B (2 ms of A's work, 5 of B's) and B syncs each
 * to the disk (5 ms) before it takes the next.  A waits for B, B for the disk, and the disk for
 * B's next request: the knot is B and the disk, although A waits longest.
 */
#include "analysis/whole_run/wait_graph.h"

#include <stdlib.h>
#include <string.h>
#include "analysis/whole_run/wait_knots.h"
#include "analysis/whole_run/wait_passes.h"
#include "base/map.h"
#include "base/banned.h"
#include "base/saturate.h"

static void copy_numbers(struct arena *a, const numbers *from, uint32_t **ret, size_t *ret_cnt)
{
	*ret = ARENA_NEW(a, uint32_t, from->cnt ? from->cnt : 1);
	if (from->cnt)
		memcpy(*ret, from->items, from->cnt * sizeof(**ret));
	*ret_cnt = from->cnt;
}

static void copy_knots(struct wait_graph *g, const struct knots *found)
{
	for (size_t i = 0; i < found->items.cnt; i++) {
		const struct knot *from = &found->items.items[i];
		struct wait_knot *k = VEC_EXTEND(&g->knots);

		k->sink = from->sink;
		k->background = from->background;
		copy_numbers(g->arena, &from->vertices, &k->vertices.items, &k->vertices.cnt);
		copy_numbers(g->arena, &from->edges, &k->edges.items, &k->edges.cnt);
	}
	for (size_t i = 0; i < found->trimmed.cnt; i++)
		VEC_ADD(&g->trimmed, found->trimmed.items[i]);
}

static void find_knots(struct wait_graph *g, int64_t whole_run_ns)
{
	struct knot_vertex *vertices = xcalloc(g->vertices.cnt + 1, sizeof(*vertices));
	struct knot_edge *edges = xcalloc(g->edges.cnt + 1, sizeof(*edges));
	struct knot_graph kg = {
		.vertices = vertices, .edges = edges, .prefilter_ns = g->prefilter_ns,
		.threshold_ns = g->threshold_ns, .vertex_cnt = (uint32_t)g->vertices.cnt,
		.edge_cnt = (uint32_t)g->edges.cnt,
	};
	struct knots found = { { NULL, 0, 0 }, { NULL, 0, 0 } };

	for (size_t i = 0; i < g->vertices.cnt; i++) {
		const struct wait_vertex *v = &g->vertices.items[i];

		vertices[i].ignored = v->id == VERTEX_ID_NONE || v->kind == VERTEX_TIMER || v->kind == VERTEX_PEER;
		vertices[i].outside = v->kind == VERTEX_UNKNOWN;
		vertices[i].foreground = v->foreground || v->kind == VERTEX_DISK ||
					 v->kind == VERTEX_NIC;
		vertices[i].cpu = whole_run_ns ? (double)v->running_ns / (double)whole_run_ns : 0;
	}
	for (size_t i = 0; i < g->edges.cnt; i++) {
		struct wait_edge *e = &g->edges.items[i];

		e->prefiltered = e->weight_ns < g->prefilter_ns;
		edges[i] = (struct knot_edge){ e->from, e->to, e->weight_ns };
	}
	knots_find(&kg, &found);
	copy_knots(g, &found);
	knots_release(&found);
	free(vertices);
	free(edges);
}

/* The waits of a class (NULL: all), with weights. */
static void weigh(const struct wait_world *w, const struct wait_choice *c, waits *ret)
{
	wait_select(w, c, ret);
	wait_cascade(w, ret);
}

static int build(struct wait_world *w, const struct wait_graph_options *o, struct wait_graph *g)
{
	struct wait_choice slow = { .sids = NULL }, typical = { .sids = NULL };
	waits list = { NULL, 0, 0 }, typical_list = { NULL, 0, 0 };
	int r = 0;

	if (o->slow)
		r = wait_choose(w->tl->trace, o->interval, o->quantile, &g->interval,
			        &slow, &typical);
	if (r == 0) {
		wait_match(w);
		if (o->group)
			wait_groups(w);
		weigh(w, o->slow ? &slow : NULL, &list);
		if (o->slow)
			weigh(w, &typical, &typical_list);
		g->compares = o->slow;
		g->slow = slow.summary;
		g->typical = typical.summary;
		g->run_ns = o->slow ? slow.summary.sum_ns : w->end_ns - w->start_ns;
		g->prefilter_ns = real_saturated(o->prefilter * (double)g->run_ns);
		g->threshold_ns = real_saturated(o->threshold * (double)g->run_ns);
		wait_edges(w, &list, o->slow ? &typical_list : NULL, g);
		find_knots(g, w->end_ns - w->start_ns);
	}
	VEC_RELEASE(&list);
	VEC_RELEASE(&typical_list);
	wait_choice_release(&slow);
	wait_choice_release(&typical);
	return r;
}

int wait_graph_new(struct trace *t, const struct wait_graph_options *o, struct wait_graph **ret)
{
	_cleanup_(timeline_freep) struct timeline *tl = NULL;
	_cleanup_(call_paths_freep) struct call_paths *paths = NULL;
	_cleanup_(wait_graph_freep) struct wait_graph *g = xcalloc(1, sizeof(*g));
	struct wait_world w = { .tl = NULL };
	int r;

	trace_sort(t);
	w.tl = tl = timeline_new(t);
	w.paths = paths = call_paths_new(tl);
	g->arena = arena_new();
	r = build(&w, o, g);
	wait_world_release(&w);
	if (r == 0)
		*ret = TAKE_PTR(g);
	return r;
}

void wait_graph_free(struct wait_graph *g)
{
	if (!g)
		return;
	VEC_RELEASE(&g->vertices);
	VEC_RELEASE(&g->edges);
	VEC_RELEASE(&g->knots);
	VEC_RELEASE(&g->trimmed);
	arena_free(g->arena);
	free(g);
}
