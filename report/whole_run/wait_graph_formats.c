/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wait_graph_formats.c - the wait-for graph as JSON, CSV and DOT.
 *
 * In DOT edges above the threshold are solid, others dashed, as in the paper; knots are red and
 * stand in a box; what is below the prefilter is left out without --all.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/banned.h"
#include "base/text/utf8.h"
#include "report/views.h"
#include "report/whole_run/wait_labels.h"

/* A thread's TID; "unknown" for the vertex without records. */
static json_t *json_id(const struct wait_vertex *v)
{
	return v->id == VERTEX_ID_NONE ? json_string("unknown") : json_u64(v->id);
}

static json_t *json_vertex(const struct wait_vertex *v)
{
	json_t *o = json_object(), *members = json_array();

	for (size_t i = 0; i < v->members.cnt; i++)
		json_add(members, json_u64(v->members.items[i]));
	json_set(o, "id", json_id(v));
	json_set(o, "name", json_text(v->name));
	json_set(o, "kind", json_text(vertex_kind_name(v->kind)));
	json_set(o, "members", members);
	json_set(o, "running_ns", json_integer(v->running_ns));
	json_set(o, "runnable_ns", json_integer(v->runnable_ns));
	json_set(o, "waiting_ns", json_integer(v->waiting_ns));
	return o;
}

static json_t *json_ends(const struct wait_graph *g, const struct wait_edge *e)
{
	json_t *o = json_object();

	json_set(o, "from", json_id(&g->vertices.items[e->from]));
	json_set(o, "to", json_id(&g->vertices.items[e->to]));
	json_set(o, "weight_ns", json_integer(e->weight_ns));
	return o;
}

static json_t *json_edge(const struct wait_graph *g, const struct wait_edge *e)
{
	json_t *o = json_ends(g, e), *stacks = json_array();

	for (size_t i = 0; i < e->stacks.cnt; i++) {
		const struct wait_stack *s = &e->stacks.items[i];
		json_t *stack = json_object();

		json_set(stack, "waiter", json_frames(s->waiter, s->waiter_cnt));
		json_set(stack, "wait", json_text(trace_state_name(s->state)));
		json_set(stack, "waker", json_frames(s->waker, s->waker_cnt));
		json_set(stack, "waits", json_u64(s->waits));
		json_set(stack, "weight_ns", json_integer(s->weight_ns));
		json_set(stack, "direct_ns", json_integer(s->direct_ns));
		json_add(stacks, stack);
	}
	json_set(o, "direct_ns", json_integer(e->direct_ns));
	json_set(o, "waits", json_u64(e->waits));
	if (g->compares)
		json_set(o, "typical_ns", json_integer(e->typical_ns));
	json_set(o, "prefiltered", json_boolean(e->prefiltered));
	json_set(o, "stacks", stacks);
	return o;
}

static json_t *json_knot(const struct wait_graph *g, const struct wait_knot *k)
{
	json_t *o = json_object(), *vertices = json_array(), *edges = json_array();

	for (size_t i = 0; i < k->vertices.cnt; i++)
		json_add(vertices, json_id(&g->vertices.items[k->vertices.items[i]]));
	for (size_t i = 0; i < k->edges.cnt; i++)
		json_add(edges, json_ends(g, &g->edges.items[k->edges.items[i]]));
	json_set(o, "vertices", vertices);
	json_set(o, "edges", edges);
	json_set(o, "sink", json_boolean(k->sink));
	json_set(o, "background", json_boolean(k->background));
	return o;
}

static json_t *json_class(const struct wait_class *c)
{
	json_t *o = json_object();

	json_set(o, "count", json_u64(c->cnt));
	json_set(o, "latency_ns", json_integer(c->sum_ns));
	return o;
}

json_t *wait_graph_json(const struct view_input *in)
{
	const struct wait_graph *g = in->made;
	json_t *o = json_whole("wait-graph", in), *vertices = json_array(), *edges = json_array();
	json_t *knots = json_array(), *trimmed = json_array();

	for (size_t i = 0; i < g->vertices.cnt; i++)
		json_add(vertices, json_vertex(&g->vertices.items[i]));
	for (size_t i = 0; i < g->edges.cnt; i++)
		json_add(edges, json_edge(g, &g->edges.items[i]));
	for (size_t i = 0; i < g->knots.cnt; i++)
		json_add(knots, json_knot(g, &g->knots.items[i]));
	for (size_t i = 0; i < g->trimmed.cnt; i++)
		json_add(trimmed, json_ends(g, &g->edges.items[g->trimmed.items[i]]));
	json_set(o, "run_ns", json_integer(g->run_ns));
	json_set(o, "threshold_ns", json_integer(g->threshold_ns));
	json_set(o, "prefilter_ns", json_integer(g->prefilter_ns));
	if (g->compares) {
		json_set(o, "interval_name", json_text(g->interval));
		json_set(o, "slow", json_class(&g->slow));
		json_set(o, "typical", json_class(&g->typical));
	}
	json_set(o, "vertices", vertices);
	json_set(o, "edges", edges);
	json_set(o, "knots", knots);
	json_set(o, "trimmed", trimmed);
	return o;
}

/* ---- CSV ---- */

static void add_id_text(struct str *to, const struct wait_vertex *v)
{
	if (v->id == VERTEX_ID_NONE)
		str_add(to, "unknown");
	else
		str_addf(to, "%" PRIu64, v->id);
}

/* Knots and sinks are numbered from 1 as in JSON; 0: in none. */
uint64_t *wait_knot_of_edges(const struct wait_graph *g)
{
	uint64_t *knot = xcalloc(g->edges.cnt + 1, sizeof(*knot));

	for (size_t i = 0; i < g->knots.cnt; i++)
		for (size_t j = 0; j < g->knots.items[i].edges.cnt; j++)
			knot[g->knots.items[i].edges.items[j]] = i + 1;
	return knot;
}

void wait_graph_csv(FILE *out, const struct view_input *in)
{
	const struct wait_graph *g = in->made;
	_cleanup_(freep) uint64_t *knot = wait_knot_of_edges(g);

	csv_line(out, "ttttttttt", "from", "from_name", "to", "to_name", "weight_ns", "direct_ns",
		 "typical_ns", "waits", "knot");
	for (size_t i = 0; i < g->edges.cnt; i++) {
		const struct wait_edge *e = &g->edges.items[i];
		_cleanup_(str_release) struct str from = STR_INIT, to = STR_INIT;
		_cleanup_(freep) char *typical = g->compares ? xasprintf("%" PRId64, e->typical_ns) : NULL;

		add_id_text(&from, &g->vertices.items[e->from]);
		add_id_text(&to, &g->vertices.items[e->to]);
		csv_line(out, "ttttiituu", str_cstr(&from), g->vertices.items[e->from].name,
			 str_cstr(&to), g->vertices.items[e->to].name, e->weight_ns, e->direct_ns,
			 typical, e->waits, knot[i]);
	}
}

/* ---- DOT ---- */

static void add_dot_text(struct str *to, const char *text)
{
	_cleanup_(str_release) struct str clean = STR_INIT;

	utf8_add_line(&clean, text);
	for (const char *at = str_cstr(&clean); *at; at++) {
		if (*at == '"' || *at == '\\')
			str_addc(to, '\\');
		str_addc(to, *at);
	}
}

static void print_dot_vertex(FILE *out, const struct wait_graph *g, uint32_t i)
{
	_cleanup_(str_release) struct str label = STR_INIT, quoted = STR_INIT;
	const struct wait_vertex *v = &g->vertices.items[i];

	add_vertex_label(&label, v);
	add_dot_text(&quoted, str_cstr(&label));
	fprintf(out, "\tv%" PRIu32 " [label=\"%s\"%s];\n", i, str_cstr(&quoted),
		v->kind == VERTEX_UNKNOWN ? ", color=gray" :
		v->kind == VERTEX_THREAD || v->kind == VERTEX_GROUP ? "" : ", shape=cylinder");
}

static void print_dot_knots(FILE *out, const struct wait_graph *g)
{
	for (size_t i = 0; i < g->knots.cnt; i++) {
		const struct wait_knot *k = &g->knots.items[i];

		fprintf(out, "\tsubgraph cluster_%zu { label=\"%s\"; color=%s;", i,
			k->background ? "background" : k->sink ? "sink" : "knot",
			k->background ? "gray" : "red");
		for (size_t j = 0; j < k->vertices.cnt; j++)
			fprintf(out, " v%" PRIu32 ";", k->vertices.items[j]);
		fprintf(out, " }\n");
	}
}

void wait_graph_dot(FILE *out, const struct view_input *in)
{
	const struct wait_graph *g = in->made;
	_cleanup_(freep) uint64_t *knot = wait_knot_of_edges(g);
	_cleanup_(freep) bool *used = xcalloc(g->vertices.cnt + 1, sizeof(*used));
	char text[TEXT_MAX];

	fprintf(out, "digraph \"waits\" {\n\tnode [shape=box];\n");
	for (size_t i = 0; i < g->edges.cnt; i++) {
		const struct wait_edge *e = &g->edges.items[i];

		if (!e->prefiltered || in->options.ranking.all)
			used[e->from] = used[e->to] = true;
	}
	for (uint32_t i = 0; i < g->vertices.cnt; i++)
		if (used[i] || in->options.ranking.all)
			print_dot_vertex(out, g, i);
	print_dot_knots(out, g);
	for (size_t i = 0; i < g->edges.cnt; i++) {
		const struct wait_edge *e = &g->edges.items[i];
		bool inside = knot[i] && !g->knots.items[knot[i] - 1].sink &&
			      !g->knots.items[knot[i] - 1].background;

		if (e->prefiltered && !in->options.ranking.all)
			continue;
		fprintf(out, "\tv%" PRIu32 " -> v%" PRIu32 " [label=\"%s\"%s%s];\n", e->from, e->to,
			text_ns(text, (double)e->weight_ns, false),
			e->weight_ns > g->threshold_ns ? "" : ", style=dashed", inside ? ", color=red" : "");
	}
	fprintf(out, "}\n");
}
