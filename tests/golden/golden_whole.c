/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * golden_whole.c - questions about a whole run: waits, criticality, samples.
 *
 *	waits OPTION...		FROM TO WEIGHT DIRECT [light] [typical T]	in order of the ids
 *	knots OPTION...		knot|sink|background ID...
 *	trimmed OPTION...	FROM TO WEIGHT
 *	states OPTION...	ID KIND NAME RUNNING RUNNABLE WAITING: MEMBER...
 *	stacks OPTION...	FROM TO CLASS WAITER <- WAKER WEIGHT DIRECT WAITS
 *	criticality [NMIN]	TID CMETRIC ACTIVE SLICES CRITICAL
 *	critical-paths [NMIN]	FRAME;... CMETRIC SLICES
 *	critical-functions [NMIN]	FUNCTION[@FILE:LINE] CMETRIC
 *	samples PERIOD		FUNCTION[@FILE:LINE] TYPE SAMPLES TIME
 *	sampled-stacks PERIOD	[THREAD:]FRAME;... TYPE SAMPLES
 */
#include "tests/golden/golden.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/whole_run/blocked_samples.h"
#include "analysis/whole_run/criticality.h"
#include "analysis/whole_run/wait_graph.h"
#include "base/banned.h"

static struct wait_graph *graph_of(struct trace *t, const char *argument, struct str *out)
{
	struct wait_graph_options o = {
		.threshold = WAIT_THRESHOLD_DEFAULT, .prefilter = WAIT_PREFILTER_DEFAULT,
		.group = !strstr(argument, "none"), .slow = strstr(argument, "slow") != NULL,
		.quantile = 0.99,
	};
	const char *threshold = strstr(argument, "threshold="), *prefilter = strstr(argument, "prefilter=");
	struct wait_graph *g = NULL;

	if (threshold)
		o.threshold = strtod(threshold + strlen("threshold="), NULL);
	if (prefilter)
		o.prefilter = strtod(prefilter + strlen("prefilter="), NULL);
	if (wait_graph_new(t, &o, &g) < 0)
		str_add(out, "error\n");
	return g;
}

static void add_id(struct str *out, const struct wait_graph *g, uint32_t vertex)
{
	uint64_t id = g->vertices.items[vertex].id;

	if (id == VERTEX_ID_NONE)
		str_add(out, "unknown");
	else
		str_addf(out, "%" PRIu64, id);
}

static void add_edge(struct str *out, const struct wait_graph *g, const struct wait_edge *e)
{
	add_id(out, g, e->from);
	str_addc(out, ' ');
	add_id(out, g, e->to);
	str_addf(out, " %" PRId64, e->weight_ns);
}

static int by_ids(const void *pa, const void *pb)
{
	const struct wait_edge *a = *(const struct wait_edge *const *)pa;
	const struct wait_edge *b = *(const struct wait_edge *const *)pb;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

/* The edges in order of the ids; the caller frees them. */
static const struct wait_edge **edges_by_id(const struct wait_graph *g)
{
	const struct wait_edge **edges = xcalloc(g->edges.cnt + 1, sizeof(const struct wait_edge *));

	for (size_t i = 0; i < g->edges.cnt; i++)
		edges[i] = &g->edges.items[i];
	qsort(edges, g->edges.cnt, sizeof(*edges), by_ids);
	return edges;
}

void answer_waits(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(wait_graph_freep) struct wait_graph *g = graph_of(t, argument, out);
	const struct wait_edge **edges = g ? edges_by_id(g) : NULL;

	for (size_t i = 0; g && i < g->edges.cnt; i++) {
		add_edge(out, g, edges[i]);
		str_addf(out, " %" PRId64 "%s", edges[i]->direct_ns,
			 edges[i]->prefiltered ? " light" : "");
		if (g->compares)
			str_addf(out, " typical %" PRId64, edges[i]->typical_ns);
		str_addc(out, '\n');
	}
	free(edges);
}

void answer_knots(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(wait_graph_freep) struct wait_graph *g = graph_of(t, argument, out);

	for (size_t i = 0; g && i < g->knots.cnt; i++) {
		const struct wait_knot *k = &g->knots.items[i];

		str_add(out, k->background ? "background" : k->sink ? "sink" : "knot");
		for (size_t j = 0; j < k->vertices.cnt; j++) {
			str_addc(out, ' ');
			add_id(out, g, k->vertices.items[j]);
		}
		str_addc(out, '\n');
	}
}

void answer_trimmed(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(wait_graph_freep) struct wait_graph *g = graph_of(t, argument, out);

	for (size_t i = 0; g && i < g->trimmed.cnt; i++) {
		add_edge(out, g, &g->edges.items[g->trimmed.items[i]]);
		str_addc(out, '\n');
	}
}

void answer_states(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(wait_graph_freep) struct wait_graph *g = graph_of(t, argument, out);

	for (uint32_t i = 0; g && i < g->vertices.cnt; i++) {
		const struct wait_vertex *v = &g->vertices.items[i];

		add_id(out, g, i);
		str_addf(out, " %s %s %" PRId64 " %" PRId64 " %" PRId64 ":", vertex_kind_name(v->kind),
			 v->name ? v->name : "-", v->running_ns, v->runnable_ns, v->waiting_ns);
		for (size_t j = 0; j < v->members.cnt; j++)
			str_addf(out, " %" PRIu64, v->members.items[j]);
		str_addc(out, '\n');
	}
}

static void add_frames(struct str *out, const char *const *frames, size_t cnt)
{
	if (cnt == 0)
		str_addc(out, '-');
	for (size_t i = 0; i < cnt; i++)
		str_addf(out, "%s%s", i ? ";" : "", frames[i]);
}

void answer_stacks(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(wait_graph_freep) struct wait_graph *g = graph_of(t, argument, out);
	const struct wait_edge **edges = g ? edges_by_id(g) : NULL;

	for (size_t i = 0; g && i < g->edges.cnt; i++)
		for (size_t j = 0; j < edges[i]->stacks.cnt; j++) {
			const struct wait_stack *s = &edges[i]->stacks.items[j];

			add_id(out, g, edges[i]->from);
			str_addc(out, ' ');
			add_id(out, g, edges[i]->to);
			str_addf(out, " %s ", trace_state_name(s->state));
			add_frames(out, s->waiter, s->waiter_cnt);
			str_add(out, " <- ");
			add_frames(out, s->waker, s->waker_cnt);
			str_addf(out, " %" PRId64 " %" PRId64 " %" PRIu64 "\n", s->weight_ns,
				 s->direct_ns, s->waits);
		}
	free(edges);
}

/* ---- criticality ---- */

static double nmin_of(const char *argument)
{
	return *argument ? strtod(argument, NULL) : -1;
}

void answer_criticality(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(criticality_freep) struct criticality *c = criticality_new(t, nmin_of(argument));

	for (size_t i = 0; i < c->threads.cnt; i++) {
		const struct critical_thread *x = &c->threads.items[i];

		str_addf(out, "%" PRIu64 " %.3f %" PRId64 " %" PRIu64 " %" PRIu64 "\n", x->tid,
			 x->cmetric_ns, x->active_ns, x->slices, x->critical_slices);
	}
	str_addf(out, "busy %" PRId64 " of %" PRId64 "\n", c->busy_ns, c->run_ns);
}

void answer_critical_paths(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(criticality_freep) struct criticality *c = criticality_new(t, nmin_of(argument));

	for (size_t i = 0; i < c->paths.cnt; i++) {
		const struct critical_path_row *p = &c->paths.items[i];

		add_frames(out, p->frames, p->frame_cnt);
		str_addf(out, " %.3f %" PRIu64 "\n", p->cmetric_ns, p->slices);
	}
}

/* FUNCTION[@FILE:LINE] */
static void add_function(struct str *out, const char *function, const char *file, uint32_t line)
{
	str_add(out, function ? function : "-");
	if (file)
		str_addf(out, "@%s:%" PRIu32, file, line);
}

void answer_critical_functions(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(criticality_freep) struct criticality *c = criticality_new(t, nmin_of(argument));

	for (size_t i = 0; i < c->functions.cnt; i++) {
		const struct critical_function *f = &c->functions.items[i];

		add_function(out, f->function, f->file, f->line);
		str_addf(out, " %.3f\n", f->cmetric_ns);
	}
}

/* ---- samples ---- */

void answer_samples(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(blocked_samples_freep) struct blocked_samples *s =
		blocked_samples_new(t, strtoll(argument, NULL, 10));

	for (size_t i = 0; i < s->rows.cnt; i++) {
		const struct sample_row *r = &s->rows.items[i];

		add_function(out, r->function, r->file, r->line);
		str_addf(out, " %s %" PRIu64 " %" PRId64 "\n", sample_type_name(r->type), r->samples,
			 r->time_ns);
	}
}

void answer_sampled_stacks(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(blocked_samples_freep) struct blocked_samples *s =
		blocked_samples_new(t, strtoll(argument, NULL, 10));

	for (size_t i = 0; i < s->stacks.cnt; i++) {
		const struct sample_stack *k = &s->stacks.items[i];

		if (k->thread)
			str_addf(out, "%s:", k->thread);
		add_frames(out, k->frames, k->frame_cnt);
		str_addf(out, " %s %" PRIu64 "\n", sample_type_name(k->type), k->samples);
	}
}
