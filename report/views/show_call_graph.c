/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_call_graph.c - the static call graph, with heights: how far each function is from a leaf.
 *
 * Without options a table of all functions, highest first.  --below FUNCTION draws its callees, --above FUNCTION its
 * callers; a function that was drawn already is not drawn again but marked "(above)", so that cycles end and shared
 * parts stay readable.  "*" marks a call through a pointer: by its type it may go there; "(observed)" one that no
 * source shows but a run did. "(left out)" is a function whose calls do not count: it makes no caller higher, and the
 * walk ends there.
 *
 * JSON, CSV and DOT hold the whole graph, or the part that --below or --above reaches.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/text/table.h"
#include "base/text/utf8.h"
#include "report/output.h"
#include "report/style.h"
#include "report/views.h"

#define LEVELS_MAX 100			/* of a drawn tree */

struct graph {
	const struct project *p;
	const uint32_t *heights;
	bool up;			/* follow callers instead of callees */
	size_t *first;			/* per function: its calls in `order`, one more at the end */
	size_t *order;			/* calls, grouped by the end we come from */
	bool *reached;			/* by a walk from the start, or everything */
};

static uint32_t from_of(const struct graph *g, const struct project_call *c)
{
	return g->up ? c->callee : c->caller;
}

static uint32_t to_of(const struct graph *g, const struct project_call *c)
{
	return g->up ? c->caller : c->callee;
}

/* Groups the calls by where they start: counting sort, so the order of the calls stays. */
static void group_calls(struct graph *g)
{
	const struct project *p = g->p;

	g->first = xcalloc(p->functions.cnt + 2, sizeof(*g->first));
	g->order = xcalloc(p->calls.cnt + 1, sizeof(*g->order));
	for (size_t i = 0; i < p->calls.cnt; i++)
		g->first[from_of(g, &p->calls.items[i]) + 2]++;
	for (size_t i = 2; i < p->functions.cnt + 2; i++)
		g->first[i] += g->first[i - 1];
	for (size_t i = 0; i < p->calls.cnt; i++)
		g->order[g->first[from_of(g, &p->calls.items[i]) + 1]++] = i;
}

static bool is_start(const struct view_input *in, const struct project_function *f)
{
	const char *name = in->options.below ? in->options.below : in->options.above;

	return strcmp(f->name, name) == 0;
}

/* A function that is left out ends the walk down; its callers are still found. */
static bool ends_walk(const struct graph *g, uint32_t f)
{
	return !g->up && g->p->functions.items[f].left_out;
}

/* Marks what can be reached from the functions named by --below or --above. */
static void walk(struct graph *g, const struct view_input *in)
{
	VEC(uint32_t) todo = { NULL, 0, 0 };

	for (uint32_t i = 0; i < g->p->functions.cnt; i++)
		if (is_start(in, &g->p->functions.items[i])) {
			g->reached[i] = true;
			VEC_ADD(&todo, i);
		}
	while (todo.cnt) {
		uint32_t f = todo.items[--todo.cnt];

		if (ends_walk(g, f) && !is_start(in, &g->p->functions.items[f]))
			continue;
		for (size_t i = g->first[f]; i < g->first[f + 1]; i++) {
			uint32_t to = to_of(g, &g->p->calls.items[g->order[i]]);

			if (!g->reached[to]) {
				g->reached[to] = true;
				VEC_ADD(&todo, to);
			}
		}
	}
	VEC_RELEASE(&todo);
}

static void graph_init(struct graph *g, const struct view_input *in)
{
	memset(g, 0, sizeof(*g));
	g->p = in->project;
	g->heights = in->heights;
	g->up = in->options.above && !in->options.below;
	g->reached = xcalloc(g->p->functions.cnt + 1, sizeof(*g->reached));
	group_calls(g);
	if (in->options.below || in->options.above)
		walk(g, in);
	else
		memset(g->reached, 1, g->p->functions.cnt * sizeof(*g->reached));
}

static void graph_release(struct graph *g)
{
	free(g->first);
	free(g->order);
	free(g->reached);
}

/* "server.c:28" */
static void add_place(struct table *t, const struct project_function *f)
{
	if (f->file)
		table_cell(t, "%s:%u", path_base(f->file), f->line);
	else
		table_cell(t, "?");
}

/* ---- text: the table of all ---- */

static int by_height(const void *a, const void *b, void *arg)
{
	const uint32_t *heights = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (heights[x] != heights[y])
		return heights[x] > heights[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void print_all(const struct style *s, const struct graph *g)
{
	size_t cnt = g->p->functions.cnt, left_out_cnt = 0;
	_cleanup_(freep) uint32_t *order = xcalloc(cnt + 1, sizeof(*order));
	_cleanup_(freep) size_t *callers = xcalloc(cnt + 1, sizeof(*callers));
	_cleanup_(table_freep) struct table *t = table_new();

	for (size_t i = 0; i < g->p->calls.cnt; i++)
		callers[g->p->calls.items[i].callee]++;
	for (uint32_t i = 0; i < cnt; i++)
		order[i] = i;
	qsort_r(order, cnt, sizeof(*order), by_height, (void *)g->heights);
	table_column(t, "height", TABLE_RIGHT);
	table_column(t, "function", TABLE_SHRINKS);
	table_column(t, "place", TABLE_SHRINKS);
	table_column(t, "calls", TABLE_RIGHT);
	table_column(t, "called at", TABLE_RIGHT);
	for (size_t i = 0; i < cnt; i++) {
		const struct project_function *f = &g->p->functions.items[order[i]];

		table_cell(t, "%u", g->heights[order[i]]);
		table_cell(t, "%s%s", f->name, f->left_out ? " (left out)" : "");
		left_out_cnt += f->left_out;
		add_place(t, f);
		table_cell(t, "%zu", g->first[order[i] + 1] - g->first[order[i]]);
		table_cell(t, "%zu", callers[order[i]]);
	}
	fprintf(s->out, "%zu function%s, %zu call%s", cnt, plural(cnt), g->p->calls.cnt,
		plural(g->p->calls.cnt));
	if (left_out_cnt)
		fprintf(s->out, "; calls of %zu function%s are left out", left_out_cnt,
			plural(left_out_cnt));
	fputc('\n', s->out);
	if (cnt)
		table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
}

/* ---- text: a tree from one function ---- */

struct drawing {
	const struct style *s;
	const struct graph *g;
	struct table *t;
	struct str prefix;
	bool *drawn;
	unsigned depth;			/* levels below the root */
};

static void draw_calls(struct drawing *d, uint32_t f, unsigned level);

/* Properties shared by all calls that lead to one place. */
struct marks {
	bool may, observed;
};

static void draw_function(struct drawing *d, uint32_t f, const char *branch, struct marks marks)
{
	const struct graph *g = d->g;
	const struct project_function *function = &g->p->functions.items[f];
	bool again = d->drawn[f] && g->first[f + 1] > g->first[f];

	table_cell(d->t, "%u", g->heights[f]);
	table_cell(d->t, "%s%s%s%s%s%s%s", str_cstr(&d->prefix), branch, function->name,
		   marks.may ? " *" : "", marks.observed ? " (observed)" : "",
		   function->left_out ? " (left out)" : "", again ? " (above)" : "");
	table_keep(d->t, utf8_width(str_cstr(&d->prefix)) + utf8_width(branch));
	add_place(d->t, function);
}

/* Calls of one function stand in order of the other end: several to the same are neighbours. */
static void draw_calls(struct drawing *d, uint32_t f, unsigned level)
{
	const struct graph *g = d->g;
	const struct glyphs *signs = glyphs_of(d->s);
	size_t len = d->prefix.len, end = g->first[f + 1];
	struct marks marks = { true, true };

	if (d->drawn[f] || level > d->depth || (level > 1 && ends_walk(g, f)))
		return;
	d->drawn[f] = true;
	for (size_t i = g->first[f]; i < end; i++) {
		const struct project_call *c = &g->p->calls.items[g->order[i]];
		uint32_t to = to_of(g, c);

		marks.may &= c->may;
		marks.observed &= c->observed;
		if (i + 1 < end && to_of(g, &g->p->calls.items[g->order[i + 1]]) == to)
			continue;
		draw_function(d, to, i + 1 == end ? signs->last_branch : signs->branch, marks);
		str_add(&d->prefix, i + 1 == end ? signs->blank : signs->trunk);
		draw_calls(d, to, level + 1);
		d->prefix.len = len;
		d->prefix.data[len] = '\0';
		marks = (struct marks){ true, true };
	}
}

static void print_tree(const struct style *s, const struct view_input *in, const struct graph *g)
{
	_cleanup_(table_freep) struct table *t = table_new();
	struct drawing d = { .s = s, .g = g, .t = t, .prefix = STR_INIT };

	d.depth = in->options.depth ? in->options.depth : LEVELS_MAX;
	d.drawn = xcalloc(g->p->functions.cnt + 1, sizeof(*d.drawn));
	table_column(t, "height", TABLE_RIGHT);
	table_column(t, g->up ? "function, and who calls it" : "function, and what it calls",
		     TABLE_SHRINKS);
	table_column(t, "place", TABLE_SHRINKS);
	for (uint32_t i = 0; i < g->p->functions.cnt; i++) {
		if (!is_start(in, &g->p->functions.items[i]))
			continue;
		draw_function(&d, i, "", (struct marks){ false, false });
		draw_calls(&d, i, 1);
	}
	table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
	str_release(&d.prefix);
	free(d.drawn);
}

static void call_graph_text(const struct style *s, const struct view_input *in)
{
	struct graph g;

	graph_init(&g, in);
	if (in->options.below || in->options.above)
		print_tree(s, in, &g);
	else
		print_all(s, &g);
	graph_release(&g);
}

/* ---- JSON, CSV, DOT ---- */

static json_t *function_json(const struct graph *g, uint32_t i)
{
	const struct project_function *f = &g->p->functions.items[i];
	json_t *o = json_object();

	json_set(o, "id", json_integer(i));
	json_set(o, "name", json_text(f->name));
	json_set(o, "file", json_text(f->file));
	json_set(o, "line", f->line ? json_integer(f->line) : json_null());
	json_set(o, "height", json_integer(g->heights[i]));
	json_set(o, "static", json_boolean(f->is_static));
	json_set(o, "probed", json_boolean(f->probed));
	json_set(o, "skipped", json_text(f->skipped));
	json_set(o, "left_out", json_boolean(f->left_out));
	return o;
}

static json_t *call_graph_json(const struct view_input *in)
{
	json_t *o = json_document("call-graph"), *functions = json_array(), *calls = json_array();
	struct graph g;

	graph_init(&g, in);
	for (uint32_t i = 0; i < g.p->functions.cnt; i++)
		if (g.reached[i])
			json_add(functions, function_json(&g, i));
	for (size_t i = 0; i < g.p->calls.cnt; i++) {
		const struct project_call *c = &g.p->calls.items[i];

		if (g.reached[c->caller] && g.reached[c->callee])
			json_add(calls, json_pack("{s:I,s:I,s:o,s:b,s:b}", "caller",
						  (json_int_t)c->caller, "callee",
						  (json_int_t)c->callee, "call_site",
						  json_text(c->call_site), "may", (int)c->may,
						  "observed", (int)c->observed));
	}
	json_set(o, "warnings", json_array());
	json_set(o, "functions", functions);
	json_set(o, "calls", calls);
	graph_release(&g);
	return o;
}

static void call_graph_csv(FILE *out, const struct view_input *in)
{
	struct graph g;

	graph_init(&g, in);
	csv_line(out, "tttttttt", "caller", "callee", "call_site", "may", "caller_height",
		 "callee_height", "observed", "left_out");
	for (size_t i = 0; i < g.p->calls.cnt; i++) {
		const struct project_call *c = &g.p->calls.items[i];

		if (g.reached[c->caller] && g.reached[c->callee])
			csv_line(out, "tttuuuuu", g.p->functions.items[c->caller].name,
				 g.p->functions.items[c->callee].name, c->call_site,
				 (uint64_t)c->may, (uint64_t)g.heights[c->caller],
				 (uint64_t)g.heights[c->callee], (uint64_t)c->observed,
				 (uint64_t)g.p->functions.items[c->callee].left_out);
	}
	graph_release(&g);
}

/* A name between quotes of the DOT language. */
static void add_dot_text(struct str *to, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			str_addc(to, '\\');
		str_addc(to, *text);
	}
}

static void call_graph_dot(FILE *out, const struct view_input *in)
{
	_cleanup_(str_release) struct str label = STR_INIT, clean = STR_INIT;
	struct graph g;

	graph_init(&g, in);
	fprintf(out, "digraph \"call graph\" {\n\tnode [shape=box];\n");
	for (uint32_t i = 0; i < g.p->functions.cnt; i++) {
		if (!g.reached[i])
			continue;
		str_reset(&label);
		str_reset(&clean);
		utf8_add_line(&clean, g.p->functions.items[i].name);
		add_dot_text(&label, str_cstr(&clean));
		fprintf(out, "\tf%u [label=\"%s\\nheight %u\"%s];\n", i, str_cstr(&label),
			g.heights[i], g.p->functions.items[i].left_out ? ", color=gray" : "");
	}
	for (size_t i = 0; i < g.p->calls.cnt; i++) {
		const struct project_call *c = &g.p->calls.items[i];
		bool again = i + 1 < g.p->calls.cnt && c[1].caller == c->caller &&
			     c[1].callee == c->callee;

		if (g.reached[c->caller] && g.reached[c->callee] && !again)
			fprintf(out, "\tf%u -> f%u%s;\n", c->caller, c->callee,
				c->observed ? " [style=dotted]" :
				c->may ? " [style=dashed]" : "");
	}
	fprintf(out, "}\n");
	graph_release(&g);
}

static const struct option_desc options[] = {
	{ 0, "above", "FUNCTION", OPT_STR, &view_given.above, "call-graph: show the callers of FUNCTION" },
	{ 0, "below", "FUNCTION", OPT_STR, &view_given.below, "call-graph: show the callees of FUNCTION" },
	OPT_END
};

static int check_options(struct diag *reterr)
{
	if (!view_given.above || !view_given.below)
		return 0;
	diag_set(reterr, EXIT_USAGE, -EINVAL, "--above and --below do not go together");
	return diag_remedy(reterr, -EINVAL, "vprof show call-graph --below %s", view_given.below);
}

/* Makes nothing, but says that the function asked for is not there. */
static int find_start(const struct view_input *in, void **ret, struct diag *reterr)
{
	const struct project *p = in->project;
	const char *name = in->options.below ? in->options.below : in->options.above, *nearest;
	_cleanup_(freep) const char **names = NULL;

	*ret = NULL;
	if (!name)
		return 0;
	names = xcalloc(p->functions.cnt + 1, sizeof(*names));
	for (size_t i = 0; i < p->functions.cnt; i++) {
		names[i] = p->functions.items[i].name;
		if (is_start(in, &p->functions.items[i]))
			return 0;
	}
	nearest = nearest_word(name, names, p->functions.cnt);
	diag_set(reterr, EXIT_USAGE, -ENOENT, "the call graph has no function '%s'%s%s%s", name, nearest ? "; did you mean '" : "",
		 nearest ? nearest : "", nearest ? "'?" : "");
	return diag_remedy(reterr, -ENOENT, "vprof show call-graph lists the functions");
}

const struct view view_call_graph = {
	.name = "call-graph", .summary = "functions with their heights (--above FUNCTION, --below FUNCTION)",
	.needs = NEEDS_CALL_GRAPH, .options = options, .check = check_options, .make = find_start, .release = free,
	.text = call_graph_text, .json = call_graph_json, .csv = call_graph_csv, .dot = call_graph_dot,
};
