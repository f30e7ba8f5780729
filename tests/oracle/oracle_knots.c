/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * oracle_knots.c - knots and sinks in a matrix of which vertex reaches which, an edge at a time.
 *
 * wPerf 3.1: K is a knot if what each vertex of K reaches is exactly K.  Refinement takes the
 * lightest edge of a knot until it is one vertex, a simple cycle, or all its edges are heavy.
 * A vertex outside is a sink, and gone; one that waited for a vertex outside is none.
 */
#include "tests/oracle/oracle_whole.h"

#include <string.h>
#include "base/str.h"
#include "base/banned.h"

#define MAX 16

struct state {
	const struct knot_graph *g;
	bool gone[256];			/* edges */
	unsigned int waited_outside;
	struct str found[3];		/* knots, sinks, background */
	struct str trimmed;
};

static bool inside(const struct state *s, uint32_t edge, unsigned int set)
{
	const struct knot_edge *e = &s->g->edges[edge];

	return !s->gone[edge] && set & 1u << e->from && set & 1u << e->to;
}

/* The vertices that v reaches by one edge or more within set. */
static unsigned int reach(const struct state *s, uint32_t v, unsigned int set)
{
	unsigned int r = 0, before;

	do {
		before = r;
		for (uint32_t i = 0; i < s->g->edge_cnt; i++) {
			const struct knot_edge *e = &s->g->edges[i];

			if (inside(s, i, set) && (e->from == v || r & 1u << e->from))
				r |= 1u << e->to;
		}
	} while (r != before);
	return r;
}

static bool is_knot(const struct state *s, uint32_t v, unsigned int set)
{
	unsigned int k = reach(s, v, set);

	if (!(k & 1u << v))
		return false;
	for (uint32_t w = 0; w < MAX; w++)
		if (k & 1u << w && reach(s, w, set) != k)
			return false;
	return true;
}

static void say(struct str *to, unsigned int set)
{
	str_addc(to, ' ');
	for (uint32_t v = 0; v < MAX; v++)
		if (set & 1u << v)
			str_addf(to, "%s%u", to->data[to->len - 1] == ' ' ? "" : ",", v);
}

static bool is_background(const struct state *s, unsigned int set)
{
	double cpu = 0;

	for (uint32_t v = 0; v < MAX; v++) {
		if (set & 1u << v && s->g->vertices[v].foreground)
			return false;
		cpu += set & 1u << v ? s->g->vertices[v].cpu : 0;
	}
	return cpu < 1;
}

static uint32_t lightest(const struct state *s, unsigned int set, uint32_t *ret_cnt)
{
	uint32_t best = UINT32_MAX;

	*ret_cnt = 0;
	for (uint32_t i = 0; i < s->g->edge_cnt; i++) {
		const struct knot_edge *e = &s->g->edges[i], *b;

		if (!inside(s, i, set))
			continue;
		++*ret_cnt;
		b = best == UINT32_MAX ? NULL : &s->g->edges[best];
		if (!b || e->weight_ns < b->weight_ns ||
		    (e->weight_ns == b->weight_ns &&
		     (e->from < b->from || (e->from == b->from && e->to < b->to))))
			best = i;
	}
	return best;
}

static void look(struct state *s, unsigned int set);

static void refine(struct state *s, unsigned int set)
{
	uint32_t cnt, edge = lightest(s, set, &cnt);
	uint32_t size = (uint32_t)__builtin_popcount(set);

	if (size == 1 || cnt == size || s->g->edges[edge].weight_ns > s->g->threshold_ns) {
		say(&s->found[0], set);
		return;
	}
	s->gone[edge] = true;
	str_addf(&s->trimmed, " %u>%u", s->g->edges[edge].from, s->g->edges[edge].to);
	for (uint32_t v = 0; v < MAX; v++)
		if (set & 1u << v && reach(s, v, set) != set) {
			look(s, set);
			return;
		}
	refine(s, set);
}

static bool is_awaited(const struct state *s, uint32_t v, unsigned int set)
{
	for (uint32_t i = 0; i < s->g->edge_cnt; i++)
		if (inside(s, i, set) && s->g->edges[i].to == v)
			return true;
	return false;
}

static void leave_behind(struct state *s, uint32_t outside, unsigned int set)
{
	for (uint32_t i = 0; i < s->g->edge_cnt; i++)
		if (inside(s, i, set) && s->g->edges[i].to == outside)
			s->waited_outside |= 1u << s->g->edges[i].from;
	say(&s->found[1], 1u << outside);
	look(s, set & ~(1u << outside));
}

static void look(struct state *s, unsigned int set)
{
	unsigned int done = 0;

	for (uint32_t v = 0; v < MAX; v++)
		if (set & 1u << v && s->g->vertices[v].outside && is_awaited(s, v, set)) {
			leave_behind(s, v, set);
			return;
		}

	for (uint32_t v = 0; v < MAX; v++)		/* then background knots */
		if (set & 1u << v && is_knot(s, v, set) && is_background(s, reach(s, v, set))) {
			unsigned int k = reach(s, v, set);

			say(&s->found[2], k);
			look(s, set & ~k);
			return;
		}
	for (uint32_t v = 0; v < MAX; v++) {
		if (!(set & 1u << v) || done & 1u << v)
			continue;
		if (is_knot(s, v, set)) {
			unsigned int k = reach(s, v, set);

			done |= k;
			refine(s, k);
			continue;
		}
		if (reach(s, v, set) == 0 && is_awaited(s, v, set) && !(s->waited_outside & 1u << v))
			say(&s->found[1], 1u << v);
	}
}

char *oracle_knots(const struct knot_graph *g)
{
	struct state s = { .g = g };
	struct str all = STR_INIT;
	unsigned int set = 0;

	for (uint32_t v = 0; v < g->vertex_cnt; v++)
		if (!g->vertices[v].ignored)
			set |= 1u << v;
	for (uint32_t i = 0; i < g->edge_cnt; i++)
		s.gone[i] = g->edges[i].weight_ns < g->prefilter_ns || g->edges[i].weight_ns == 0;
	look(&s, set);
	str_addf(&all, "knots%s sinks%s background%s trimmed%s", str_cstr(&s.found[0]),
		 str_cstr(&s.found[1]), str_cstr(&s.found[2]), str_cstr(&s.trimmed));
	for (int i = 0; i < 3; i++)
		str_release(&s.found[i]);
	str_release(&s.trimmed);
	return str_take(&all);
}
