/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wait_edges.c - turns waits with their weights into edges between vertices, with stacks.
 *
 * An edge of a group of n threads has the n-th part of their sum, the wait of one of them (for slow intervals the
 * whole sum, since intervals are counted there).  A device's idle time without a named waker goes to the threads that
 * waited for the device, in proportion to how long they did (wPerf 4.1 takes bytes, its program waits).
 *
 *	W1 -> L 30, W2 -> L 50, W1 and W2 alike:	W -> L 40
 */
#include "analysis/whole_run/wait_passes.h"

#include <stdlib.h>
#include <string.h>
#include "base/map.h"
#include "base/banned.h"
#include "base/saturate.h"

struct stack_sum {
	uint32_t edge, path, waker_path;
	enum trace_state state;
	uint64_t waits;
	int64_t weight_ns, direct_ns;
};

struct gathering {
	const struct wait_world *w;
	struct wait_graph *g;
	const uint32_t *vertex_of;	/* by actor */
	struct map *edge_of;		/* from, to -> index plus one */
	struct map *pair_of;		/* call paths of both ends -> number plus one */
	struct map *stack_of;		/* edge, pair, state -> index plus one */
	VEC(struct stack_sum) stacks;
};

static struct wait_edge *edge_between(struct gathering *c, uint32_t from, uint32_t to)
{
	uint64_t *slot = map_slot(c->edge_of, (uint64_t)from << 32 | to);

	if (*slot == 0) {
		struct wait_edge *e = VEC_EXTEND(&c->g->edges);

		e->from = from;
		e->to = to;
		*slot = c->g->edges.cnt;
	}
	return &c->g->edges.items[*slot - 1];
}

static struct wait_edge *edge_of_wait(struct gathering *c, const struct graph_wait *v)
{
	return edge_between(c, c->vertex_of[v->actor], c->vertex_of[v->waker]);
}

static void add_stack(struct gathering *c, const struct wait_edge *e, const struct graph_wait *v)
{
	uint64_t *pair = map_slot(c->pair_of, (uint64_t)v->path << 32 | v->waker_path);
	uint64_t key, *slot;
	struct stack_sum *s;

	if (*pair == 0)
		*pair = map_cnt(c->pair_of);
	/* Edges and pairs are counted from 0, and there are fewer than 2^28 of each. */
	key = ((uint64_t)(e - c->g->edges.items) << 32 | *pair) * STATE_CNT + v->state;
	slot = map_slot(c->stack_of, key);
	if (*slot == 0) {
		VEC_ADD(&c->stacks, (struct stack_sum){ .edge = (uint32_t)(e - c->g->edges.items),
			.path = v->path, .waker_path = v->waker_path, .state = v->state });
		*slot = c->stacks.cnt;
	}
	s = &c->stacks.items[*slot - 1];
	s->waits += v->counts;
	s->weight_ns = sum_saturated(s->weight_ns, v->weight_ns);
	s->direct_ns = sum_saturated(s->direct_ns, v->counts ? v->end_ns - v->start_ns : 0);
}

static void add_waits(struct gathering *c, const waits *list)
{
	for (size_t i = 0; i < list->cnt; i++) {
		const struct graph_wait *v = &list->items[i];
		struct wait_edge *e;

		if (v->idle || (v->weight_ns == 0 && !v->counts))
			continue;
		e = edge_of_wait(c, v);
		e->weight_ns = sum_saturated(e->weight_ns, v->weight_ns);
		if (v->counts) {
			e->direct_ns = sum_saturated(e->direct_ns, v->end_ns - v->start_ns);
			e->waits++;
		}
		add_stack(c, e, v);
	}
}

static void add_typical(struct gathering *c, const waits *list)
{
	for (size_t i = 0; i < list->cnt; i++) {
		struct wait_edge *e;

		if (list->items[i].idle || !list->items[i].weight_ns)
			continue;
		e = edge_of_wait(c, &list->items[i]);
		e->typical_ns = sum_saturated(e->typical_ns, list->items[i].weight_ns);
	}
}

/* Idle time of the devices, by vertex. */
static int64_t *idle_times(const struct gathering *c, const waits *list)
{
	int64_t *idle_ns = xcalloc(c->g->vertices.cnt + 1, sizeof(*idle_ns));

	for (size_t i = 0; i < list->cnt; i++) {
		int64_t *of = &idle_ns[c->vertex_of[list->items[i].actor]];

		if (list->items[i].idle)
			*of = sum_saturated(*of, list->items[i].weight_ns);
	}
	return idle_ns;
}

static void share_idle_time(struct gathering *c, const waits *list)
{
	_cleanup_(freep) int64_t *idle_ns = idle_times(c, list);
	_cleanup_(freep) int64_t *waited_ns = xcalloc(c->g->vertices.cnt + 1, sizeof(*waited_ns));
	size_t edge_cnt = c->g->edges.cnt;

	for (size_t i = 0; i < edge_cnt; i++) {
		const struct wait_edge *e = &c->g->edges.items[i];

		waited_ns[e->to] = sum_saturated(waited_ns[e->to], e->direct_ns);
	}
	for (size_t i = 0; i < edge_cnt; i++) {
		struct wait_edge e = c->g->edges.items[i], *back;
		int64_t part_ns;

		if (idle_ns[e.to] == 0 || e.direct_ns == 0)
			continue;
		part_ns = (int64_t)((__int128)idle_ns[e.to] * e.direct_ns / waited_ns[e.to]);
		back = edge_between(c, e.to, e.from);
		back->weight_ns = sum_saturated(back->weight_ns, part_ns);
		back->direct_ns = sum_saturated(back->direct_ns, part_ns);
	}
}

/* ---- stacks ---- */

static int by_edge(const void *pa, const void *pb)
{
	const struct stack_sum *a = pa, *b = pb;

	if (a->edge != b->edge)
		return a->edge < b->edge ? -1 : 1;
	if (a->weight_ns != b->weight_ns)
		return a->weight_ns > b->weight_ns ? -1 : 1;
	if (a->direct_ns != b->direct_ns)
		return a->direct_ns > b->direct_ns ? -1 : 1;
	if (a->path != b->path)
		return a->path < b->path ? -1 : 1;
	if (a->waker_path != b->waker_path)
		return a->waker_path < b->waker_path ? -1 : 1;
	return (int)a->state - (int)b->state;
}

static void fill_stacks(struct gathering *c)
{
	struct wait_graph *g = c->g;

	if (c->stacks.cnt > 1)
		qsort(c->stacks.items, c->stacks.cnt, sizeof(*c->stacks.items), by_edge);
	for (size_t i = 0; i < c->stacks.cnt; i++) {
		const struct stack_sum *s = &c->stacks.items[i];
		struct wait_edge *e = &g->edges.items[s->edge];
		struct wait_stack *stack;

		if (!e->stacks.items)
			e->stacks.items = ARENA_NEW(g->arena, struct wait_stack, WAIT_STACKS_MAX);
		if (e->stacks.cnt == WAIT_STACKS_MAX)
			continue;
		stack = &e->stacks.items[e->stacks.cnt++];
		*stack = (struct wait_stack){ .state = s->state, .waits = s->waits,
			.weight_ns = s->weight_ns, .direct_ns = s->direct_ns };
		stack->waiter = call_path_frames(c->w->paths, s->path, g->arena,
						 &stack->waiter_cnt);
		stack->waker = call_path_frames(c->w->paths, s->waker_path, g->arena,
						&stack->waker_cnt);
	}
}

/* ---- all edges ---- */

static int64_t divide(int64_t sum_ns, uint32_t by)
{
	return sum_saturated(sum_ns, by / 2) / by;
}

static int heaviest_first(const void *pa, const void *pb)
{
	const struct wait_edge *a = pa, *b = pb;

	if (a->weight_ns != b->weight_ns)
		return a->weight_ns > b->weight_ns ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

void wait_edges(const struct wait_world *w, const waits *list, const waits *typical,
		struct wait_graph *g)
{
	_cleanup_(freep) uint32_t *vertex_of = wait_vertices(w, list, g);
	struct gathering c = { .w = w, .g = g, .vertex_of = vertex_of, .edge_of = map_new(),
			       .pair_of = map_new(), .stack_of = map_new() };

	add_waits(&c, list);
	share_idle_time(&c, list);
	if (typical)
		add_typical(&c, typical);
	fill_stacks(&c);
	for (size_t i = 0; i < g->edges.cnt; i++) {
		struct wait_edge *e = &g->edges.items[i];
		uint32_t alike = typical ? 1 : g->vertices.items[e->from].alike;

		e->weight_ns = divide(e->weight_ns, alike);
		e->direct_ns = divide(e->direct_ns, alike);
		e->typical_ns = divide(e->typical_ns, alike);
	}
	if (g->edges.cnt > 1)
		qsort(g->edges.items, g->edges.cnt, sizeof(*g->edges.items), heaviest_first);
	map_free(c.edge_of);
	map_free(c.pair_of);
	map_free(c.stack_of);
	VEC_RELEASE(&c.stacks);
}
