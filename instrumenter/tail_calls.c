/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tail_calls.c - recursion that compilers make a loop of stays one.
 *
 *	static long count(long n, long sum) { return n ? count(n - 1, sum + 1) : sum; }
 *
 * runs in one frame with -O2, however large n is.  Nothing may be left to do after the call, so its span
 * ends before: (vprof_tail(&vprof_span_), count(n - 1, sum + 1)).  Calls in circles of such calls are
 * treated so, also of several functions of a unit; those to other units and through pointers are not.
 */
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "instrumenter/instrument.h"

struct edge {
	size_t from, to;		/* functions */
	struct range call;
};

struct graph {
	VEC(struct edge) edges;
	size_t *in, *out;		/* edges of each function */
};

static void add_edge(struct graph *g, size_t from, size_t to, struct range call)
{
	VEC_ADD(&g->edges, (struct edge){ from, to, call });
	g->out[from]++;
	g->in[to]++;
}

/* Only edges that are on a circle, or between two, remain. */
static void keep_circles(struct graph *g)
{
	for (size_t removed = 1; removed; ) {
		removed = 0;
		for (size_t i = 0; i < g->edges.cnt; ) {
			struct edge *e = &g->edges.items[i];

			if (g->in[e->from] && g->out[e->to]) {
				i++;
				continue;
			}
			g->out[e->from]--;
			g->in[e->to]--;
			*e = g->edges.items[--g->edges.cnt];
			removed++;
		}
	}
}

static void graph_init(struct graph *g, size_t cnt)
{
	*g = (struct graph){ .in = xcalloc(cnt + 1, sizeof(*g->in)),
			     .out = xcalloc(cnt + 1, sizeof(*g->out)) };
}

static void graph_release(struct graph *g)
{
	VEC_RELEASE(&g->edges);
	free(g->in);
	free(g->out);
}

/* Calls between the functions of the unit: who is in no circle needs no closer look. */
static void find_recursion(const struct parsed *p, struct graph *ret)
{
	_cleanup_(map_freep) struct map *functions = map_new();	/* body -> number + 1 */

	for (size_t f = 0; f < p->functions.cnt; f++)
		map_set(functions, p->functions.items[f].body, f + 1);
	for (size_t i = 0; i < p->calls.cnt; i++) {
		const struct parsed_call *c = &p->calls.items[i];
		uint64_t to;

		if (c->callee_body && map_get(functions, c->callee_body, &to))
			add_edge(ret, c->caller, (size_t)to - 1, (struct range){ c->offset, 0 });
	}
	keep_circles(ret);
}

static void add_tails_of(const struct parsed *p, size_t f, const struct graph *recursion, struct graph *ret)
{
	struct ranges tails = { { NULL, 0, 0 } };

	parsed_tails(p, f, &tails);
	for (size_t t = 0; t < tails.items.cnt; t++)
		for (size_t i = 0; i < recursion->edges.cnt; i++) {
			const struct edge *e = &recursion->edges.items[i];

			if (e->from == f && e->call.start == tails.items.items[t].start)
				add_edge(ret, f, e->to, tails.items.items[t]);
		}
	VEC_RELEASE(&tails.items);
}

void find_tail_calls(struct instrumenting *in)
{
	const struct parsed *p = in->parsed;
	struct graph recursion, tails;

	graph_init(&recursion, p->functions.cnt);
	graph_init(&tails, p->functions.cnt);
	find_recursion(p, &recursion);
	for (size_t f = 0; recursion.edges.cnt && f < p->functions.cnt; f++)
		if (recursion.in[f] && recursion.out[f])
			add_tails_of(p, f, &recursion, &tails);
	keep_circles(&tails);
	for (size_t i = 0; i < tails.edges.cnt; i++)
		VEC_ADD(&in->tails, (struct tail_call){ tails.edges.items[i].from, tails.edges.items[i].call });
	graph_release(&recursion);
	graph_release(&tails);
}

bool ends_in_circle(const struct instrumenting *in, size_t function)
{
	for (size_t i = 0; i < in->tails.cnt; i++)
		if (in->tails.items[i].function == function)
			return true;
	return false;
}
