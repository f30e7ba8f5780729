/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_variance_tree.c - the variance, split over functions and waits.
 *
 *	share                  node                           sd     mean  calls
 *	100.0 %  ████████████  request                   2.22 ms  1.06 ms
 *	 62.4 %  ███████▍      ├─ handle › log_append    1.77 ms   308 µs      1
 *	 61.9 %  ███████▍      │ ├─ lock wait            1.76 ms   303 µs
 *
 * tree_lines.c decides which nodes get a line; the shares of a line's children sum to its own. A negative share has a
 * number but no bar.  On a narrow terminal columns are dropped before names are cut: numbers without names say
 * nothing.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/text/table.h"
#include "base/text/utf8.h"
#include "report/output.h"
#include "report/style.h"
#include "report/views.h"
#include "report/views/tree_label.h"
#include "report/words/sentence.h"
#include "report/words/waiters.h"

/* ---- text ---- */

#define NODE_MIN 12			/* columns of the nodes, however narrow the terminal */
#define ROOM_UNKNOWN SIZE_MAX		/* leaves them out */

/* The columns dropped, in this order, before names are cut. */
enum { SHORT_BAR = 1, NO_CALLS, NO_MEAN, NO_BAR, NO_SD };

struct drawing {
	const struct style *s;
	const struct view_input *in;
	const tree_lines *lines;
	const struct tree_label *labels;	/* of lines */
};

/* For all nodes or for none. */
static bool with_ci95(const struct drawing *d)
{
	return d->in->findings->nodes.cnt && d->in->findings->nodes.items[0].has_ci95;
}

static void add_share(const struct drawing *d, struct table *t, int left_out, double share,
		      const struct node *n)
{
	_cleanup_(str_release) struct str bar = STR_INIT;
	unsigned width = d->s->width, bar_width;
	char percent[TEXT_MAX];

	table_cell(t, "%s%s", n && n->samples ? "~" : "", text_percent_cell(percent, share));
	if (with_ci95(d))
		table_cell(t, "%s", n && n->id && n->has_ci95 ?
			   text_plus_minus(percent, n->ci95, d->s->utf8) : "");
	if (left_out >= NO_BAR)
		return;
	bar_width = width && width < (with_ci95(d) ? 90 : 72) ? 6 : width && width < 100 ? 12 : 24;
	if (left_out >= SHORT_BAR && bar_width > 6)
		bar_width /= 2;
	add_bar(&bar, share, bar_width, d->s->utf8);
	table_cell(t, "%s", str_cstr(&bar));
}

/* A tree that is too deep for the screen keeps the right end of its lines. */
static void add_branch(struct str *to, const char *branch, size_t width, const char *ellipsis)
{
	size_t dots = utf8_width(ellipsis);

	if (utf8_width(branch) > width) {
		str_add(to, ellipsis);
		width = width > dots ? width - dots : 0;
	}
	while (utf8_width(branch) > width)
		utf8_next(&branch);
	str_add(to, branch);
}

/* room: columns of this cell; 0: no limit. */
static void add_label(const struct drawing *d, struct table *t, size_t i, size_t room)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	const char *branch = d->lines->items[i].branch;
	const struct tree_label *l = &d->labels[i];
	size_t least = tree_label_least(l), used = utf8_width(branch);

	if (room == ROOM_UNKNOWN) {
		table_cell(t, "%s", "");
		return;
	}
	if (room && used + least > room)
		used = room > least ? room - least : 0;
	add_branch(&text, branch, used, glyphs_of(d->s)->ellipsis);
	used = utf8_width(str_cstr(&text));
	tree_label_add(&text, l, room ? (room > used ? room - used : 1) : 0);
	table_cell(t, "%s", str_cstr(&text));
}

static void add_line(const struct drawing *d, struct table *t, size_t i, int left_out, size_t room)
{
	const struct tree_line *l = &d->lines->items[i];
	const struct node *n = l->node == NODE_NONE ? NULL : &d->in->findings->nodes.items[l->node];
	char text[TEXT_MAX];

	add_share(d, t, left_out, n ? n->share : l->rest_share, n);
	add_label(d, t, i, room);
	if (n && (n->kind == NODE_WAIT || n->kind == NODE_BLAME))
		table_style(t, style_wait(d->s));
	if (left_out < NO_SD)
		table_cell(t, "%s", n && !n->samples ? text_ns(text, sqrt(n->variance_ns2), d->s->utf8) : "");
	if (left_out < NO_MEAN)
		table_cell(t, "%s", text_ns(text, n ? n->mean_ns : l->rest_mean_ns, d->s->utf8));
	if (left_out < NO_CALLS) {
		if (n && n->kind == NODE_FUNCTION && !n->samples)
			table_cell(t, "%.3g", n->calls_per_interval);
		else
			table_cell(t, "%s", "");
	}
	/* A wait is in the function of the line above. */
	n = n && (n->kind == NODE_FUNCTION || n->kind == NODE_BLAME) ? n : NULL;
	table_where(t, d->s, n ? n->file : NULL, n ? n->line : 0);
}

static struct table *tree_table(const struct drawing *d, int left_out, size_t room)
{
	struct table *t = table_new();

	table_column(t, "share", TABLE_RIGHT);
	if (with_ci95(d))
		table_column(t, d->s->utf8 ? "±" : "+-", TABLE_RIGHT);
	if (left_out < NO_BAR)
		table_column(t, "", TABLE_LEFT);
	table_column(t, "node", TABLE_LEFT);
	if (left_out < NO_SD)
		table_column(t, "sd", TABLE_RIGHT);
	if (left_out < NO_MEAN)
		table_column(t, "mean", TABLE_RIGHT);
	if (left_out < NO_CALLS)
		table_column(t, "calls", TABLE_RIGHT);
	table_column(t, "where", TABLE_SPARE);
	for (size_t i = 0; i < d->lines->cnt; i++)
		add_line(d, t, i, left_out, room);
	return t;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* The columns that the other columns leave for the nodes. */
static size_t room_without(const struct drawing *d, int left_out)
{
	_cleanup_(table_freep) struct table *t = tree_table(d, left_out, ROOM_UNKNOWN);
	size_t others = table_width(t) - strlen("node");

	return d->s->width > others + NODE_MIN ? d->s->width - others : NODE_MIN;
}

static void print_tree(const struct drawing *d)
{
	_cleanup_(table_freep) struct table *t = NULL;
	size_t least = 0, wanted = 0, room = 0;
	int left_out = 0;

	for (size_t i = 0; i < d->lines->cnt; i++) {
		size_t branch = utf8_width(d->lines->items[i].branch);

		least = larger(least, branch + tree_label_least(&d->labels[i]));
		wanted = larger(wanted, branch + tree_label_wanted(&d->labels[i]));
	}
	if (d->s->width) {
		room = room_without(d, left_out);
		if (room < wanted)
			room = room_without(d, left_out = SHORT_BAR);
		while (room < least && left_out < NO_SD)
			room = room_without(d, ++left_out);
	}
	t = tree_table(d, left_out, room);
	if (left_out == 0 && d->s->width && table_width_whole(t) > d->s->width) {
		table_free(t);		/* where it is says more than a long bar */
		t = tree_table(d, SHORT_BAR, room);
		if (table_width_whole(t) > d->s->width) {
			table_free(t);
			t = tree_table(d, left_out, room);
		}
	}
	table_write(t, d->s->out, d->s->width, glyphs_of(d->s)->ellipsis);
}

/* The pair of siblings that covaries most, in either direction. */
static void print_covariance(const struct style *s, const struct findings *f)
{
	const struct covariance *largest = NULL;
	_cleanup_(freep) char *a = NULL, *b = NULL, *line = NULL;
	char percent[TEXT_MAX];

	for (size_t i = 0; i < f->covariances.cnt; i++)
		if (!largest || fabs(f->covariances.items[i].share) > fabs(largest->share))
			largest = &f->covariances.items[i];
	if (!largest)
		return;
	a = label_among_siblings(f, &f->nodes.items[largest->a], s->utf8);
	b = label_among_siblings(f, &f->nodes.items[largest->b], s->utf8);
	line = xasprintf("covariances: the largest 2%sCov is %s of the variance (%s, %s)",
			 s->utf8 ? "·" : "*", text_percent(percent, largest->share), a, b);
	table_line(s->out, line);
}

static void print_legend(const struct style *s, const struct findings *f, bool any_chain, double least)
{
	bool any_open = false, any_blame = false, any_runnable = false, any_above = false;
	uint64_t most_samples = 0;
	char text[TEXT_MAX];

	for (size_t i = 0; i < f->nodes.cnt; i++) {
		const struct node *n = &f->nodes.items[i];

		any_open |= n->open;
		any_above |= share_is_above_all(n->share);
		any_blame |= n->kind == NODE_BLAME;
		any_runnable |= n->kind == NODE_WAIT && n->wait == STATE_RUNNABLE;
		most_samples = n->samples > most_samples ? n->samples : most_samples;
	}
	fprintf(s->out, "share: Cov(X,T)/Var(T); the shares below a node sum to its own\n");
	if (any_above)
		fprintf(s->out, "above 100 %%: other parts with shares below 0 offset some of it, or intervals have other parts instead\n");
	if (f->nodes.cnt && f->nodes.items[0].has_ci95)
		fprintf(s->out, "%s: half of the 95 %% confidence interval, in points\n",
			s->utf8 ? "±" : "+-");
	if (any_chain)
		fprintf(s->out, "f%sg: g carries nearly all of f; the figures are g's (--no-collapse: a line each)\n",
			glyphs_of(s)->then);
	for (size_t i = 0; i < f->nodes.cnt; i++)
		if (f->nodes.items[i].put_aside && f->nodes.items[i].share >= least) {
			_cleanup_(freep) char *line = xasprintf("queue wait: on no thread, mostly between %s and %s", f->nodes.items[i].put_aside,
								f->nodes.items[i].taken_up);

			table_line(s->out, line);
		}
	if (any_blame)
		fprintf(s->out, "by: the function of the waker (queue: of the thread) during the wait, and the class of its own wait\n");
	if (any_runnable)
		fprintf(s->out, "runnable: it could have run, but others had the CPUs\n");
	if (most_samples)
		fprintf(s->out, "~: running time by samples, up to %s of them; all else is exact\n", text_cnt(text, most_samples));
	if (any_open)
		fprintf(s->out, "+: calls functions that carry no probe yet\n");
}

static void variance_tree_text(const struct style *s, const struct view_input *in)
{
	const struct findings *f = in->findings;
	_cleanup_(freep) char *sentence = sentence_text(f, &in->options.ranking, s->utf8);
	_cleanup_(tree_lines_release) tree_lines lines = { 0 };
	_cleanup_(freep) struct tree_label *labels = NULL;
	bool any_chain = f->nodes.cnt && tree_lines_make(f, &in->options, glyphs_of(s), &lines);
	struct drawing d = { .s = s, .in = in, .lines = &lines };

	d.labels = labels = xcalloc(lines.cnt + 1, sizeof(*labels));
	for (size_t i = 0; i < lines.cnt; i++)
		labels[i] = tree_label_make(f, &lines.items[i], s->utf8);
	print_answer(s, sentence);
	fputc('\n', s->out);
	print_heading(s, in);
	print_tree(&d);
	print_waiters(s, f, in->options.ranking.threshold);
	print_covariance(s, f);
	print_legend(s, f, any_chain, in->options.min_share);
	for (size_t i = 0; i < lines.cnt; i++)
		tree_label_release(&labels[i]);
}

/* ---- JSON ---- */

static json_t *between_json(const struct node *n)
{
	json_t *list;

	if (!n->put_aside || !n->taken_up)
		return json_null();
	list = json_array();
	json_add(list, json_text(n->put_aside));
	json_add(list, json_text(n->taken_up));
	return list;
}

static json_t *peer_text(const struct node *n)
{
	size_t len = findings_peer_len(n->function);
	_cleanup_(freep) char *name = len ? xstrndup(n->function + 1, len) : NULL;

	return json_text(name);
}

/* The peer below a queue wait that has most of it. */
static json_t *peer_json(const struct findings *f, const struct node *n)
{
	const struct node *best = NULL;

	for (size_t i = n->id + 1; i < f->nodes.cnt; i++) {
		const struct node *below = &f->nodes.items[i];

		if (below->parent == n->id && findings_peer_len(below->function) && (!best || below->share > best->share))
			best = below;
	}
	return best ? peer_text(best) : json_null();
}

static json_t *node_json(const struct run *run, const struct findings *f, const struct node *n)
{
	json_t *o = json_object();

	json_set(o, "id", json_integer(n->id));
	json_set(o, "parent", n->parent == NODE_NONE ? json_null() : json_integer(n->parent));
	json_set(o, "kind", json_text(node_kind_name(n->kind)));
	json_set_function(o, run, n->function);
	json_set(o, "file", json_text(n->file));
	json_set(o, "line", n->line ? json_integer(n->line) : json_null());
	json_set(o, "call_site", json_text(n->call_site));
	json_set(o, "wait", json_wait(n->is_wait, n->wait));
	json_set(o, "device", json_text(n->device));
	if (n->kind == NODE_WAIT && n->wait == STATE_QUEUE) {
		json_set(o, "between", between_json(n));
		json_set(o, "peer", peer_json(f, n));
	} else if (n->kind == NODE_BLAME) {
		json_set(o, "peer", peer_text(n));
	}
	json_set(o, "mean_ns", json_ns(n->mean_ns));
	json_set(o, "variance_ns2", n->samples ? json_null() : json_ns(n->variance_ns2));
	json_set(o, "share", json_number(n->share));
	json_set(o, "ci95", json_ci95(n->has_ci95, n->ci95));
	json_set(o, "variance_share", n->samples ? json_null() : json_number(n->variance_share));
	json_set(o, "calls_per_interval", json_number(n->calls_per_interval));
	json_set(o, "presence", json_number(n->presence));
	json_set(o, "open", json_boolean(n->open));
	if (n->samples) {
		json_set(o, "estimated", json_true());
		json_set(o, "samples", json_u64(n->samples));
	}
	return o;
}

static json_t *pair_json(uint32_t parent, json_t *a, json_t *b, double covariance_ns2, double share)
{
	json_t *pair = json_object();

	json_set(pair, "parent", json_integer(parent));
	json_set(pair, "a", a);
	json_set(pair, "b", b);
	json_set(pair, "covariance_ns2", json_ns(covariance_ns2));
	json_set(pair, "share", json_number(share));
	return pair;
}

/* a and b are null in the sum of all pairs that are not listed. */
static json_t *covariances_json(const struct findings *f)
{
	_cleanup_(freep) double *rest = findings_other_covariances(f);
	double variance = f->interval.variance_ns2;
	json_t *list = json_array();

	for (size_t i = 0; i < f->covariances.cnt; i++) {
		const struct covariance *c = &f->covariances.items[i];

		json_add(list, pair_json(c->parent, json_integer(c->a), json_integer(c->b), c->covariance_ns2, c->share));
	}
	for (uint32_t i = 0; i < f->nodes.cnt; i++)
		if (!isnan(rest[i]))
			json_add(list, pair_json(i, json_null(), json_null(), rest[i], variance > 0 ? 2 * rest[i] / variance : 0));
	return list;
}

static json_t *variance_tree_json(const struct view_input *in)
{
	const struct findings *f = in->findings;
	json_t *o = json_results("variance-tree", in), *nodes = json_array();

	for (size_t i = 0; i < f->nodes.cnt; i++)
		json_add(nodes, node_json(in->run, f, &f->nodes.items[i]));
	json_set(o, "sentence", sentence_json(in));
	json_set(o, "nodes", nodes);
	json_set(o, "covariances", covariances_json(f));
	return o;
}

/* ---- CSV: the nodes ---- */

static void variance_tree_csv(FILE *out, const struct view_input *in)
{
	csv_line(out, "ttttttttttttttttt", "id", "parent", "kind", "function", "file", "line",
		 "call_site", "wait", "mean_ns", "variance_ns2", "share", "variance_share",
		 "calls_per_interval", "presence", "ci95_low", "ci95_high", "samples");
	for (size_t i = 0; i < in->findings->nodes.cnt; i++) {
		const struct node *n = &in->findings->nodes.items[i];
		char parent[TEXT_MAX] = "", line[TEXT_MAX] = "", low[TEXT_MAX] = "", high[TEXT_MAX] = "";
		char variance[TEXT_MAX] = "", own[TEXT_MAX] = "", samples[TEXT_MAX] = "";

		if (n->parent != NODE_NONE)
			snprintf(parent, sizeof(parent), "%u", n->parent);
		if (n->line)
			snprintf(line, sizeof(line), "%u", n->line);
		if (n->has_ci95) {
			snprintf(low, sizeof(low), "%.17g", n->ci95[0]);
			snprintf(high, sizeof(high), "%.17g", n->ci95[1]);
		}
		if (n->samples) {
			snprintf(samples, sizeof(samples), "%" PRIu64, n->samples);
		} else {
			snprintf(variance, sizeof(variance), "%.17g", n->variance_ns2);
			snprintf(own, sizeof(own), "%.17g", n->variance_share);
		}
		csv_line(out, "utttt" "ttt" "dtdtdd" "ttt", (uint64_t)n->id, parent,
			 node_kind_name(n->kind), n->function, n->file, line,
			 n->call_site, n->is_wait ? trace_state_name(n->wait) : NULL, n->mean_ns,
			 variance, n->share, own, n->calls_per_interval,
			 n->presence, low, high, samples);
	}
}

static const struct option_desc options[] = {
	{ 0, "depth", "N", OPT_UINT, &view_given.depth,
	  "variance-tree, call-graph: show N levels below the root" },
	{ 0, "min-share", "D", OPT_DOUBLE, &view_given.min_share,
	  "variance-tree, causes: sum up what has a smaller share (default 0.01)" },
	{ 0, "by", "WHAT", OPT_STR, &view_given.by,
	  "variance-tree: 'cause' splits each function's variance by running and class of wait" },
	{ 0, "no-collapse", NULL, OPT_FLAG, &view_given.no_collapse,
	  "variance-tree: print a line for every function of a chain" },
	OPT_END
};

const struct view view_variance_tree = {
	.name = "variance-tree", .summary = "the variance, split over functions and waits",
	.needs = NEEDS_FINDINGS, .options = options, .by_cause = &view_by_cause,
	.text = variance_tree_text, .json = variance_tree_json, .csv = variance_tree_csv,
};
