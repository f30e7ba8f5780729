/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wait_answer.c - the knot, if there is one, with its heaviest edge; else where all waits end, and the busiest vertex there.
 */
#include "report/whole_run/wait_answer.h"

#include "base/banned.h"
#include "base/saturate.h"
#include "report/whole_run/wait_labels.h"

#define MEMBERS_NAMED 4			/* of a knot, in a sentence */
#define UNKNOWN_FIRST 0.5		/* of all waiting */
#define BUSY_FROM 0.5			/* of a thread's time it runs, or could */

double of_run(const struct wait_graph *g, int64_t ns)
{
	return g->run_ns > 0 ? (double)ns / (double)g->run_ns : 0;
}

double per_interval(int64_t ns, const struct wait_class *c)
{
	return c->cnt ? (double)ns / (double)c->cnt : 0;
}

double edge_excess(const struct wait_graph *g, const struct wait_edge *e)
{
	return per_interval(e->weight_ns, &g->slow) - per_interval(e->typical_ns, &g->typical);
}

bool is_unknown(const struct wait_graph *g, uint32_t vertex)
{
	return g->vertices.items[vertex].id == VERTEX_ID_NONE;
}

bool is_outside(const struct wait_graph *g, const struct wait_knot *k)
{
	return k->sink && g->vertices.items[k->vertices.items[0]].kind == VERTEX_UNKNOWN;
}

void add_members(struct str *to, const struct wait_graph *g, const struct wait_knot *k)
{
	size_t cnt = k->vertices.cnt, named = cnt > MEMBERS_NAMED ? MEMBERS_NAMED : cnt;

	for (size_t i = 0; i < named; i++) {
		str_add(to, i == 0 ? "" : i + 1 < cnt ? ", " : " and ");
		add_vertex_label(to, &g->vertices.items[k->vertices.items[i]]);
	}
	if (named < cnt)
		str_addf(to, " and %zu more", cnt - named);
}

/* ", in log_sync (io)": where the heaviest part of it is, if a function is known. */
static void add_where(struct str *to, const struct wait_edge *e)
{
	const struct wait_stack *s = e->stacks.cnt ? &e->stacks.items[0] : NULL;

	if (s && s->waiter_cnt)
		str_addf(to, ", in %s (%s)", s->waiter[s->waiter_cnt - 1], trace_state_name(s->state));
}

/* The whole to which shares refer. */
static const char *whole_words(const struct wait_graph *g)
{
	return g->compares ? "of the slow intervals' time" : "of the run";
}

static void add_knot(struct str *to, const struct wait_graph *g, const struct wait_knot *k)
{
	const struct wait_edge *e = &g->edges.items[k->edges.items[0]];
	char text[TEXT_MAX];

	add_members(to, g, k);
	if (k->vertices.cnt == 1 && g->vertices.items[k->vertices.items[0]].alike == 1) {
		str_addf(to, " waits for itself %s %s",
			 text_percent(text, of_run(g, e->weight_ns)), whole_words(g));
	} else if (k->vertices.cnt == 1) {
		str_addf(to, " wait for each other %s %s",
			 text_percent(text, of_run(g, e->weight_ns)), whole_words(g));
	} else {
		str_add(to, " wait for each other; ");
		add_vertex_label(to, &g->vertices.items[e->from]);
		str_add(to, " for ");
		add_vertex_label(to, &g->vertices.items[e->to]);
		str_addf(to, " %s %s", text_percent(text, of_run(g, e->weight_ns)), whole_words(g));
	}
	add_where(to, e);
	str_addc(to, '.');
}

/* The edge with the largest excess in slow intervals over typical ones. */
static const struct wait_edge *most_excess(const struct wait_graph *g)
{
	const struct wait_edge *best = NULL;

	for (size_t i = 0; i < g->edges.cnt; i++) {
		const struct wait_edge *e = &g->edges.items[i];

		if (!is_unknown(g, e->to) && (!best || edge_excess(g, e) > edge_excess(g, best)))
			best = e;
	}
	return best && edge_excess(g, best) > 0 ? best : NULL;
}

/* The excess of waits with an unknown waker in slow intervals over typical ones. */
static double unknown_excess(const struct wait_graph *g)
{
	double sum_ns = 0;

	for (size_t i = 0; i < g->edges.cnt; i++)
		if (is_unknown(g, g->edges.items[i].to))
			sum_ns += edge_excess(g, &g->edges.items[i]);
	return sum_ns;
}

/* ", which sleeps in flush": a wait without a known waker leads no further, but is an answer. */
static void add_end(struct str *to, const struct wait_graph *g, uint32_t vertex)
{
	for (size_t i = 0; i < g->edges.cnt; i++) {
		const struct wait_edge *e = &g->edges.items[i];
		const struct wait_vertex *v = &g->vertices.items[e->to];

		if (e->from != vertex || e->prefiltered ||
		    (!is_unknown(g, e->to) && v->kind != VERTEX_TIMER && v->kind != VERTEX_PEER))
			continue;
		if (v->kind == VERTEX_TIMER || (e->stacks.cnt && e->stacks.items[0].state == STATE_SLEEP))
			str_add(to, ", which itself sleeps");
		else
			str_add(to, ", which itself waits");
		if (e->stacks.cnt && e->stacks.items[0].waiter_cnt)
			str_addf(to, " in %s", e->stacks.items[0].waiter[e->stacks.items[0].waiter_cnt - 1]);
		if (v->kind == VERTEX_PEER) {
			str_add(to, " for ");
			add_vertex_name(to, v);
		}
		str_add(to, is_unknown(g, e->to) && e->stacks.cnt &&
			e->stacks.items[0].state != STATE_SLEEP ? " for unknown." : ".");
		return;
	}
	str_add(to, g->vertices.items[vertex].kind == VERTEX_UNKNOWN ?
		", and what that waits for is unknown." : ", which waits for no thread: its own work is the limit.");
}

static bool is_member(const struct wait_knot *k, uint32_t vertex)
{
	for (size_t i = 0; i < k->vertices.cnt; i++)
		if (k->vertices.items[i] == vertex)
			return true;
	return false;
}

/* A server waits for its clients as well. */
static void add_outside(struct str *to, const struct wait_graph *g, const struct wait_knot *knot)
{
	const struct wait_edge *most = NULL;
	char text[TEXT_MAX];

	for (size_t i = 0; i < g->knots.cnt; i++) {
		const struct wait_knot *k = &g->knots.items[i];

		for (size_t j = 0; is_outside(g, k) && j < k->edges.cnt; j++) {
			const struct wait_edge *e = &g->edges.items[k->edges.items[j]];

			if (is_member(knot, e->from) && (!most || e->weight_ns > most->weight_ns))
				most = e;
		}
	}
	if (!most)
		return;
	str_add(to, " Besides, ");
	add_vertex_label(to, &g->vertices.items[most->from]);
	str_addf(to, " wait%s for ", g->vertices.items[most->from].alike > 1 ? "" : "s");
	add_vertex_label(to, &g->vertices.items[most->to]);
	str_addf(to, " %s %s.", text_percent(text, of_run(g, most->weight_ns)), whole_words(g));
}

static void add_comparison(struct str *to, const struct style *s, const struct wait_graph *g)
{
	const struct wait_edge *e = most_excess(g);
	char a[TEXT_MAX], b[TEXT_MAX];

	if (!e) {
		str_add(to, "No thread waits longer in slow intervals than in typical ones. ");
		return;
	}
	str_addf(to, "In a slow '%s' ", g->interval);
	add_vertex_label(to, &g->vertices.items[e->from]);
	str_addf(to, " wait%s for ", g->vertices.items[e->from].alike > 1 ? "" : "s");
	add_vertex_label(to, &g->vertices.items[e->to]);
	str_addf(to, " %s, in a typical one %s",
		 text_ns(a, per_interval(e->weight_ns, &g->slow), s->utf8),
		 text_ns(b, per_interval(e->typical_ns, &g->typical), s->utf8));
	add_where(to, e);
	str_add(to, ". ");
	if (unknown_excess(g) > edge_excess(g, e))
		str_addf(to, "But %s more of its waiting has no known waker. ",
			 text_ns(a, unknown_excess(g), s->utf8));
}

/* The thread, or the group of similar ones, that would use a processor most. */
static int64_t busy_ns(const struct wait_vertex *v)
{
	return sum_saturated(v->running_ns, v->runnable_ns);
}

static const struct wait_vertex *busiest(const struct wait_graph *g)
{
	const struct wait_vertex *best = NULL;

	for (size_t i = 0; i < g->vertices.cnt; i++) {
		const struct wait_vertex *v = &g->vertices.items[i];

		if ((v->kind == VERTEX_THREAD || v->kind == VERTEX_GROUP) &&
		    (!best || busy_ns(v) > busy_ns(best)))
			best = v;
	}
	return best;
}

/* If the time is not spent waiting: " worker (7 +1) run 52 % of their time, and have no processor 45 % of it." */
static void add_busiest(struct str *to, const struct wait_graph *g)
{
	const struct wait_vertex *v = busiest(g);
	double life_ns = v ? (double)v->running_ns + (double)v->runnable_ns + (double)v->waiting_ns : 0;
	bool many = v && v->alike > 1;
	char a[TEXT_MAX], b[TEXT_MAX];

	if (life_ns <= 0 || (double)v->running_ns + (double)v->runnable_ns < BUSY_FROM * life_ns)
		return;
	str_addc(to, ' ');
	add_vertex_label(to, v);
	str_addf(to, " run%s %s of %s time", many ? "" : "s", text_percent(a, (double)v->running_ns / life_ns),
		 many ? "their" : "its");
	if ((double)v->runnable_ns >= RUNNABLE_WORTH * life_ns)
		str_addf(to, ", and ha%s no processor %s of it", many ? "ve" : "s",
			 text_percent(b, (double)v->runnable_ns / life_ns));
	str_addc(to, '.');
}

double unknown_share(const struct wait_graph *g)
{
	__int128 unknown_ns = 0, all_ns = 0;

	for (size_t i = 0; i < g->edges.cnt; i++) {
		const struct wait_edge *e = &g->edges.items[i];
		__int128 ns = (__int128)e->direct_ns * g->vertices.items[e->from].alike;

		all_ns += ns;
		unknown_ns += is_unknown(g, e->to) ? ns : 0;
	}
	return all_ns > 0 ? (double)unknown_ns / (double)all_ns : 0;
}

/* The largest first, also if it is unknown. */
static void add_no_knot(struct str *to, const struct wait_graph *g)
{
	char text[TEXT_MAX];

	if (unknown_share(g) >= UNKNOWN_FIRST)
		str_addf(to, "%s of all waiting has no known waker (list the releasing function under [sync] release; vprof record --kernel "
			 "tells more); no knot among known threads.", text_percent(text, unknown_share(g)));
	else
		str_add(to, "No knot: no thread waits long for a known one.");
}

void print_wait_answer(const struct style *s, const struct wait_graph *g)
{
	const struct wait_knot *k = g->knots.cnt ? &g->knots.items[0] : NULL;
	_cleanup_(str_release) struct str text = STR_INIT;

	if (g->compares)
		add_comparison(&text, s, g);
	if (!k) {
		add_no_knot(&text, g);
		add_busiest(&text, g);
	} else if (k->background) {
		str_add(&text, "Only a knot in the background, which sleeps most of the time: ");
		add_knot(&text, g, k);
	} else if (k->sink) {
		str_add(&text, "No knot: all long waits end at ");
		add_vertex_label(&text, &g->vertices.items[k->vertices.items[0]]);
		add_end(&text, g, k->vertices.items[0]);
		add_busiest(&text, g);
	} else {
		str_add(&text, "The knot: ");
		add_knot(&text, g, k);
		add_outside(&text, g, k);
	}
	print_answer(s, str_cstr(&text));
}
