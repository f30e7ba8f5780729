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
#include <inttypes.h>
#include <stdlib.h>

#include "base/banned.h"
#include "base/table.h"
#include "report/views.h"
#include "report/wait_labels.h"

#define OTHERS_SHOWN 10			/* edges outside knots */
#define KNOTS_SHOWN 5			/* and sinks */
#define MEMBERS_NAMED 4			/* of a knot, in a sentence */
#define RUNNABLE_WORTH 0.05		/* of a run: worth a line */
#define BUSY_FROM 0.5			/* of a thread's time it runs, or could */

static double of_run(const struct wait_graph *g, int64_t ns)
{
	return g->run_ns > 0 ? (double)ns / (double)g->run_ns : 0;
}

/* What one interval of the class waits. */
static double per_interval(int64_t ns, const struct wait_class *c)
{
	return c->cnt ? (double)ns / (double)c->cnt : 0;
}

static double edge_excess(const struct wait_graph *g, const struct wait_edge *e)
{
	return per_interval(e->weight_ns, &g->slow) - per_interval(e->typical_ns, &g->typical);
}

/* ---- the sentence ---- */

/* "A, B and disk" */
static void add_members(struct str *to, const struct wait_graph *g, const struct wait_knot *k)
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

/* What shares are of. */
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

static bool is_unknown(const struct wait_graph *g, uint32_t vertex)
{
	return g->vertices.items[vertex].id == VERTEX_ID_NONE;
}

/* The edge of which slow intervals have most more than typical ones. */
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

/* What slow intervals wait for nobody who is known, more than typical ones. */
static double unknown_excess(const struct wait_graph *g)
{
	double sum_ns = 0;

	for (size_t i = 0; i < g->edges.cnt; i++)
		if (is_unknown(g, g->edges.items[i].to))
			sum_ns += edge_excess(g, &g->edges.items[i]);
	return sum_ns;
}

/* ", which sleeps in flush": a wait without a known waker is no way out, but an answer. */
static void add_end(struct str *to, const struct wait_graph *g, uint32_t vertex)
{
	for (size_t i = 0; i < g->edges.cnt; i++) {
		const struct wait_edge *e = &g->edges.items[i];
		const struct wait_vertex *v = &g->vertices.items[e->to];

		if (e->from != vertex || e->prefiltered ||
		    (!is_unknown(g, e->to) && v->kind != VERTEX_TIMER))
			continue;
		if (v->kind == VERTEX_TIMER || (e->stacks.cnt && e->stacks.items[0].state == STATE_SLEEP))
			str_add(to, ", which itself sleeps");
		else
			str_add(to, ", which itself waits");
		if (e->stacks.cnt && e->stacks.items[0].waiter_cnt)
			str_addf(to, " in %s", e->stacks.items[0].waiter[e->stacks.items[0].waiter_cnt - 1]);
		str_add(to, is_unknown(g, e->to) && e->stacks.cnt &&
			e->stacks.items[0].state != STATE_SLEEP ? " for nobody who is known." : ".");
		return;
	}
	str_add(to, g->vertices.items[vertex].kind == VERTEX_UNKNOWN ?
		", and nobody knows what that waits for." : ", which waits for nobody: its own work is the limit.");
}

static bool is_outside(const struct wait_graph *g, const struct wait_knot *k)
{
	return k->sink && g->vertices.items[k->vertices.items[0]].kind == VERTEX_UNKNOWN;
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
		str_add(to, "Nobody waits longer in slow intervals than in typical ones. ");
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
		str_addf(to, "But %s more of its waiting is for nobody who is known. ",
			 text_ns(a, unknown_excess(g), s->utf8));
}

/* The thread, or the like ones, that would use a processor most. */
static const struct wait_vertex *busiest(const struct wait_graph *g)
{
	const struct wait_vertex *best = NULL;

	for (size_t i = 0; i < g->vertices.cnt; i++) {
		const struct wait_vertex *v = &g->vertices.items[i];

		if ((v->kind == VERTEX_THREAD || v->kind == VERTEX_GROUP) &&
		    (!best || v->running_ns + v->runnable_ns > best->running_ns + best->runnable_ns))
			best = v;
	}
	return best;
}

/* Where it is no wait that takes the time: " worker (7 +1) run 52 % of their time, and have no processor 45 % of it." */
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

static void print_wait_answer(const struct style *s, const struct wait_graph *g)
{
	const struct wait_knot *k = g->knots.cnt ? &g->knots.items[0] : NULL;
	_cleanup_(str_release) struct str text = STR_INIT;

	if (g->compares)
		add_comparison(&text, s, g);
	if (!k) {
		str_add(&text, "No knot: nobody waits long for anybody who is known.");
		add_busiest(&text, g);
	} else if (k->background) {
		str_add(&text, "Only a knot in the background, which sleeps most of the time: ");
		add_knot(&text, g, k);
	} else if (k->sink) {
		str_add(&text, "No knot: all that waits long ends at ");
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

/* "6 threads · run of 10.2 s · knots: edges above 20 % ... · run 3" */
static void print_wait_heading(const struct style *s, const struct view_input *in)
{
	const struct wait_graph *g = in->wait_graph;
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

/* Threads of a knot that often have no processor. */
static void print_runnable(const struct style *s, const struct wait_graph *g, const struct wait_knot *k)
{
	char text[TEXT_MAX];

	for (size_t i = 0; i < k->vertices.cnt; i++) {
		const struct wait_vertex *v = &g->vertices.items[k->vertices.items[i]];
		int64_t life_ns = v->running_ns + v->runnable_ns + v->waiting_ns;
		_cleanup_(str_release) struct str label = STR_INIT;

		if (life_ns <= 0 || (double)v->runnable_ns < RUNNABLE_WORTH * (double)life_ns)
			continue;
		add_vertex_name(&label, v);
		fprintf(s->out, "%s: ready to run but not running %s of the time; more processors or a "
			"higher priority may help\n", str_cstr(&label),
			text_percent(text, (double)v->runnable_ns / (double)life_ns));
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
		is_outside(g, k) ? " (nobody knows what that waits for)" :
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
	const struct wait_graph *g = in->wait_graph;
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
	const struct wait_graph *g = in->wait_graph;
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

/* Waits of which nobody knows who ended them. */
static void print_unknown(const struct style *s, const struct wait_graph *g)
{
	int64_t unknown_ns = 0, all_ns = 0;
	char text[TEXT_MAX];

	for (size_t i = 0; i < g->edges.cnt; i++) {
		const struct wait_edge *e = &g->edges.items[i];
		int64_t ns = e->direct_ns * g->vertices.items[e->from].alike;

		all_ns += ns;
		if (g->vertices.items[e->to].id == VERTEX_ID_NONE)
			unknown_ns += ns;
	}
	if (unknown_ns > 0 && unknown_ns >= all_ns / 20)
		fprintf(s->out, "of all waiting, nobody knows for whom: %s (time that only passes, clients "
			"outside the run, devices)\n", text_percent(text, (double)unknown_ns / (double)all_ns));
}

/* A program that starts hundreds of others may end at each of them. */
static void print_knots(const struct style *s, const struct view_input *in)
{
	const struct wait_graph *g = in->wait_graph;
	size_t shown = in->options.ranking.all || g->knots.cnt <= KNOTS_SHOWN ? g->knots.cnt : KNOTS_SHOWN;

	for (size_t i = 0; i < shown; i++)
		print_knot(s, g, i);
	if (shown < g->knots.cnt)
		fprintf(s->out, "%s and %zu more knots and sinks (--all)\n", glyphs_of(s)->ellipsis, g->knots.cnt - shown);
}

void wait_graph_text(const struct style *s, const struct view_input *in)
{
	const struct wait_graph *g = in->wait_graph;

	print_wait_answer(s, g);
	print_wait_heading(s, in);
	print_knots(s, in);
	print_others(s, in);
	print_trimmed(s, g);
	if (!g->compares)
		print_vertices(s, in);
	print_unknown(s, g);
}
