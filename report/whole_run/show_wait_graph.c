/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_wait_graph.c - the wait-for graph on a screen: the knot first.
 *
 *	▶ The knot: B and disk wait for each other; B for disk 48 % of the run, in log_sync.
 *
 *	knot 1
 *	  who waits  for    weight  of run  direct  in               woken from
 *	  B (2)      disk   4.80 s  48.0 %  2.40 s  log_sync (io)
 *
 * Against typical intervals the columns are what one interval waits: slow, typical, more.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/text/table.h"
#include "report/views.h"
#include "report/whole_run/wait_answer.h"
#include "report/whole_run/wait_labels.h"

#define UNKNOWN_WORTH 0.05		/* of all waiting: worth a line */

#define OTHERS_SHOWN 10			/* edges outside knots */
#define KNOTS_SHOWN 5			/* and sinks */

/* "6 threads · run of 10.2 s · knots: edges above 20 % ... · run 3" */
static void print_wait_heading(const struct style *s, const struct view_input *in)
{
	const struct wait_graph *g = in->made;
	_cleanup_(str_release) struct str line = STR_INIT;
	const char *dot = glyphs_of(s)->dot;
	char a[TEXT_MAX], b[TEXT_MAX], c[TEXT_MAX], d[TEXT_MAX];
	size_t thread_cnt = 0;

	for (size_t i = 0; i < g->vertices.cnt; i++)
		if (g->vertices.items[i].kind == VERTEX_THREAD ||
		    g->vertices.items[i].kind == VERTEX_GROUP)
			thread_cnt += g->vertices.items[i].members.cnt;
	str_addf(&line, "%zu thread%s%s%zu vertices, %zu edges%s", thread_cnt, plural(thread_cnt), dot,
		 g->vertices.cnt, g->edges.cnt, dot);
	if (g->compares)
		str_addf(&line, "%s slow interval%s, on average %s, against %s typical, %s%s",
			 text_cnt(a, g->slow.cnt), plural(g->slow.cnt),
			 text_ns(c, per_interval(g->slow.sum_ns, &g->slow), s->utf8),
			 text_cnt(b, g->typical.cnt),
			 text_ns(d, per_interval(g->typical.sum_ns, &g->typical), s->utf8), dot);
	else
		str_addf(&line, "%s%s", text_ns(a, (double)g->run_ns, s->utf8), dot);
	add_run_label(&line, in->run);
	fprintf(s->out, "%s\n", str_cstr(&line));
}

/* ---- tables of edges ---- */

static struct table *edge_table(const struct wait_graph *g)
{
	struct table *t = table_new();

	table_column(t, "who waits", TABLE_SHRINKS);
	table_column(t, "for", TABLE_SHRINKS);
	if (g->compares) {
		table_column(t, "slow", TABLE_RIGHT);
		table_column(t, "typical", TABLE_RIGHT);
		table_column(t, "more", TABLE_RIGHT);
	} else {
		table_column(t, "weight", TABLE_RIGHT);
		table_column(t, "of run", TABLE_RIGHT);
		table_column(t, "direct", TABLE_RIGHT);
	}
	table_column(t, "in", TABLE_SHRINKS);
	table_column(t, "woken from", TABLE_SHRINKS);
	return t;
}

static void add_edge_row(const struct style *s, struct table *t, const struct wait_graph *g,
			 const struct wait_edge *e)
{
	const struct wait_stack *k = e->stacks.cnt ? &e->stacks.items[0] : NULL;
	_cleanup_(str_release) struct str from = STR_INIT, to = STR_INIT, in = STR_INIT;
	char text[TEXT_MAX];

	add_vertex_label(&from, &g->vertices.items[e->from]);
	add_vertex_label(&to, &g->vertices.items[e->to]);
	table_cell(t, "%s", str_cstr(&from));
	table_cell(t, "%s", str_cstr(&to));
	if (g->compares) {
		double slow_ns = per_interval(e->weight_ns, &g->slow);
		double typical_ns = per_interval(e->typical_ns, &g->typical);

		table_cell(t, "%s", text_ns(text, slow_ns, s->utf8));
		table_cell(t, "%s", text_ns(text, typical_ns, s->utf8));
		table_cell(t, "%s", text_ns(text, slow_ns - typical_ns, s->utf8));
	} else {
		table_cell(t, "%s", text_ns(text, (double)e->weight_ns, s->utf8));
		table_cell(t, "%s", text_percent_cell(text, of_run(g, e->weight_ns)));
		table_cell(t, "%s", text_ns(text, (double)e->direct_ns, s->utf8));
	}
	if (k && k->waiter_cnt)
		str_addf(&in, "%s (%s)", k->waiter[k->waiter_cnt - 1], trace_state_name(k->state));
	else if (k)
		str_addf(&in, "(%s)", trace_state_name(k->state));
	table_cell(t, "%s", str_cstr(&in));
	table_cell(t, "%s", k && k->waker_cnt ? k->waker[k->waker_cnt - 1] : "");
}

static void print_edges(const struct style *s, const struct wait_graph *g, const uint32_t *edges,
			size_t cnt)
{
	_cleanup_(table_freep) struct table *t = edge_table(g);

	for (size_t i = 0; i < cnt; i++)
		add_edge_row(s, t, g, &g->edges.items[edges[i]]);
	table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
}

/* Prints the threads of a knot that often have no processor. */
static void print_runnable(const struct style *s, const struct wait_graph *g, const struct wait_knot *k)
{
	char text[TEXT_MAX];

	for (size_t i = 0; i < k->vertices.cnt; i++) {
		const struct wait_vertex *v = &g->vertices.items[k->vertices.items[i]];
		double life_ns = (double)v->running_ns + (double)v->runnable_ns + (double)v->waiting_ns;
		_cleanup_(str_release) struct str label = STR_INIT;

		if (life_ns <= 0 || (double)v->runnable_ns < RUNNABLE_WORTH * life_ns)
			continue;
		add_vertex_name(&label, v);
		fprintf(s->out, "%s: ready to run but not running %s of the time; more processors or a "
			"higher priority may help\n", str_cstr(&label),
			text_percent(text, (double)v->runnable_ns / life_ns));
	}
}

static void print_knot(const struct style *s, const struct wait_graph *g, size_t index)
{
	const struct wait_knot *k = &g->knots.items[index];
	_cleanup_(str_release) struct str members = STR_INIT;
	size_t shown = k->edges.cnt > WHOLE_ROWS_SHOWN ? WHOLE_ROWS_SHOWN : k->edges.cnt;

	add_members(&members, g, k);
	fprintf(s->out, "\n%s%s%s: %s%s\n", style_bold(s), k->background ? "background knot" :
		is_outside(g, k) ? "outside" : k->sink ? "sink" : "knot", style_end(s), str_cstr(&members), k->background ?
		" (no device, and together less than one processor busy: left out of the search)" :
		is_outside(g, k) ? " (what that waits for is unknown)" :
		k->sink ? " (the end of all waits for it)" : "");
	print_edges(s, g, k->edges.items, shown);
	print_whole_rest(s, k->edges.cnt, shown, "edge");
	print_runnable(s, g, k);
}

/* ---- what is in no knot ---- */

static bool *edges_in_knots(const struct wait_graph *g)
{
	bool *in = xcalloc(g->edges.cnt + 1, sizeof(*in));

	for (size_t i = 0; i < g->knots.cnt; i++)
		for (size_t j = 0; j < g->knots.items[i].edges.cnt; j++)
			in[g->knots.items[i].edges.items[j]] = true;
	return in;
}

static int by_excess(const void *pa, const void *pb, void *arg)
{
	const struct wait_graph *g = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	double x = edge_excess(g, &g->edges.items[a]), y = edge_excess(g, &g->edges.items[b]);

	if (x != y)
		return x > y ? -1 : 1;
	return (a > b) - (a < b);
}

static void print_others(const struct style *s, const struct view_input *in)
{
	const struct wait_graph *g = in->made;
	_cleanup_(freep) bool *in_knot = edges_in_knots(g);
	_cleanup_(freep) uint32_t *others = xcalloc(g->edges.cnt + 1, sizeof(*others));
	bool all = in->options.ranking.all;
	size_t cnt = 0, light = 0, shown;

	for (uint32_t i = 0; i < g->edges.cnt; i++) {
		if (in_knot[i] && !g->compares)
			continue;
		if (!all && (is_unknown(g, g->edges.items[i].to) ||
			     (g->edges.items[i].prefiltered && !g->compares)))
			light++;
		else
			others[cnt++] = i;
	}
	if (g->compares)
		qsort_r(others, cnt, sizeof(*others), by_excess, (void *)g);
	shown = all || cnt <= OTHERS_SHOWN ? cnt : OTHERS_SHOWN;
	if (cnt)
		fprintf(s->out, "\n%s%s%s\n", style_bold(s), g->compares ? "per interval" : "other waits",
			style_end(s));
	if (shown)
		print_edges(s, g, others, shown);
	print_whole_rest(s, cnt + light, shown, "edge");
}

static void print_trimmed(const struct style *s, const struct wait_graph *g)
{
	int64_t most_ns = 0;
	char a[TEXT_MAX], b[TEXT_MAX];

	if (g->trimmed.cnt == 0)
		return;
	for (size_t i = 0; i < g->trimmed.cnt; i++)
		if (g->edges.items[g->trimmed.items[i]].weight_ns > most_ns)
			most_ns = g->edges.items[g->trimmed.items[i]].weight_ns;
	fprintf(s->out, "\n%s edge%s, up to %s, trimmed to find the knot (--threshold)\n",
		text_cnt(a, g->trimmed.cnt), plural(g->trimmed.cnt), text_ns(b, (double)most_ns, s->utf8));
}

/* ---- threads ---- */

static int by_waiting(const void *pa, const void *pb, void *arg)
{
	const struct wait_vertex *v = arg;
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb;

	if (v[a].waiting_ns != v[b].waiting_ns)
		return v[a].waiting_ns > v[b].waiting_ns ? -1 : 1;
	return (a > b) - (a < b);
}

static void print_vertices(const struct style *s, const struct view_input *in)
{
	const struct wait_graph *g = in->made;
	_cleanup_(freep) size_t *order = xcalloc(g->vertices.cnt + 1, sizeof(*order));
	_cleanup_(table_freep) struct table *t = table_new();
	size_t cnt = 0, shown;
	char text[TEXT_MAX];

	for (size_t i = 0; i < g->vertices.cnt; i++)
		if (g->vertices.items[i].kind != VERTEX_UNKNOWN)
			order[cnt++] = i;
	if (cnt == 0)
		return;
	qsort_r(order, cnt, sizeof(*order), by_waiting, g->vertices.items);
	shown = whole_rows_shown(in, cnt);
	fputc('\n', s->out);
	table_column(t, "thread", TABLE_SHRINKS);
	table_column(t, "running", TABLE_RIGHT);
	table_column(t, "runnable", TABLE_RIGHT);
	table_column(t, "waiting", TABLE_RIGHT);
	for (size_t i = 0; i < shown; i++) {
		const struct wait_vertex *v = &g->vertices.items[order[i]];
		_cleanup_(str_release) struct str label = STR_INIT;

		add_vertex_label(&label, v);
		table_cell(t, "%s", str_cstr(&label));
		table_cell(t, "%s", text_ns(text, (double)v->running_ns, s->utf8));
		table_cell(t, "%s", text_ns(text, (double)v->runnable_ns, s->utf8));
		table_cell(t, "%s", text_ns(text, (double)v->waiting_ns, s->utf8));
	}
	table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
	print_whole_rest(s, cnt, shown, "thread");
}

/* Waits with an unknown waker. */
static void print_unknown(const struct style *s, const struct wait_graph *g)
{
	char text[TEXT_MAX];

	if (unknown_share(g) >= UNKNOWN_WORTH)
		fprintf(s->out, "waits without a known waker: %s of all waiting (sleeps, clients outside the run, devices)\n", text_percent(text, unknown_share(g)));
}

/* In a program that starts hundreds of others, each may be a knot of its own. */
static void print_knots(const struct style *s, const struct view_input *in)
{
	const struct wait_graph *g = in->made;
	size_t shown = in->options.ranking.all || g->knots.cnt <= KNOTS_SHOWN ? g->knots.cnt : KNOTS_SHOWN;

	for (size_t i = 0; i < shown; i++)
		print_knot(s, g, i);
	if (shown < g->knots.cnt)
		fprintf(s->out, "%s and %zu more knots and sinks (--all)\n", glyphs_of(s)->ellipsis, g->knots.cnt - shown);
}

static void wait_graph_text(const struct style *s, const struct view_input *in)
{
	const struct wait_graph *g = in->made;

	print_wait_answer(s, g);
	print_wait_heading(s, in);
	print_knots(s, in);
	print_others(s, in);
	print_trimmed(s, g);
	if (!g->compares)
		print_vertices(s, in);
	print_unknown(s, g);
}

/* ---- the view ---- */

static double arg_prefilter = NAN;	/* NAN: the default */
static const char *arg_group = "auto";
static bool arg_slow;

/* A fraction of the run, or its default. */
static int take_fraction(const char *name, double given, double normal, double *ret,
			 struct diag *reterr)
{
	*ret = isnan(given) ? normal : given;
	if (*ret >= 0)
		return 0;
	diag_set(reterr, EXIT_USAGE, -EINVAL, "--%s is a fraction of the run's length, not %g", name,
		 given);
	return diag_remedy(reterr, -EINVAL, "vprof show wait-graph --%s %g", name, normal);
}

static int make_wait_graph(const struct view_input *in, void **ret, struct diag *reterr)
{
	struct wait_graph_options w = {
		.group = strcmp(arg_group, "none") != 0, .slow = arg_slow,
		.quantile = in->options.quantile, .interval = in->options.interval,
	};
	struct wait_graph *g;
	int r = take_fraction("threshold", in->options.threshold, WAIT_THRESHOLD_DEFAULT, &w.threshold, reterr);

	if (r == 0)
		r = take_fraction("prefilter", arg_prefilter, WAIT_PREFILTER_DEFAULT, &w.prefilter, reterr);
	if (r < 0)
		return r;
	if (w.group && strcmp(arg_group, "auto") != 0)
		return diag_set(reterr, EXIT_USAGE, -EINVAL, "--group is auto or none, not '%s'", arg_group);
	r = wait_graph_new(in->trace, &w, &g);
	if (r == -ENODATA)
		return diag_set(reterr, EXIT_NO_EVIDENCE, r,
				"no interval was completed, so none is slow or typical");
	if (r < 0)
		return diag_set(reterr, EXIT_USAGE, r, "the run has no interval '%s'", in->options.interval);
	*ret = g;
	return 0;
}

static void release_wait_graph(void *made)
{
	wait_graph_free(made);
}

static const struct option_desc options[] = {
	{ 0, "prefilter", "F", OPT_DOUBLE, &arg_prefilter,
	  "wait-graph: ignore edges below this fraction of the run (default 0.01)" },
	{ 0, "group", "auto|none", OPT_STR, &arg_group,
	  "wait-graph: merge similar threads into one vertex (auto, default) or do not (none)" },
	{ 0, "slow", NULL, OPT_FLAG, &arg_slow,
	  "wait-graph: compare what slow and typical intervals wait for (--quantile)" },
	OPT_END
};

const struct view view_wait_graph = {
	.name = "wait-graph", .summary = "which threads wait for which, and the knots (--threshold, --prefilter, --group, --slow)",
	.needs = NEEDS_TRACE, .options = options, .make = make_wait_graph, .release = release_wait_graph,
	.text = wait_graph_text, .json = wait_graph_json, .csv = wait_graph_csv, .dot = wait_graph_dot, .svg = wait_graph_svg,
};
