/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_variance_tree.c - the variance, split over functions and waits.
 *
 *	share                  node                 sd     mean  calls
 *	100.0 %  ████████████  request         2.22 ms  1.06 ms
 *	 62.4 %  ███████▍      ├─ log_append   1.77 ms   308 µs      1
 *	 61.9 %  ███████▍      │  └─ lock wait 1.76 ms   303 µs
 *
 * The shares of a node's children sum to its own, also on the screen: what is too small or too deep
 * to get a line is summed up in one.  A negative share has no bar, its number says it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/table.h"
#include "base/utf8.h"
#include "report/output.h"
#include "report/style.h"
#include "report/views.h"

#define LEVELS_MAX 100			/* deeper ones only in JSON and CSV */

/* ---- text ---- */

/* The tree as lists of children: first[parent], next[sibling], best share first. */
struct family {
	const struct findings *f;
	uint32_t *first, *next;
};

struct drawing {
	const struct style *s;
	const struct view_input *in;
	struct family family;
	struct table *t;
	struct str prefix;		/* of the lines below the current node */
};

static void draw_children(struct drawing *d, uint32_t parent, unsigned depth);

static int by_share(const void *a, const void *b, void *arg)
{
	const struct node *nodes = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (nodes[x].share != nodes[y].share)
		return nodes[x].share > nodes[y].share ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void family_init(struct family *y, const struct findings *f)
{
	size_t cnt = f->nodes.cnt;
	_cleanup_(freep) uint32_t *order = xcalloc(cnt + 1, sizeof(*order));

	y->f = f;
	y->first = xcalloc(cnt + 1, sizeof(*y->first));
	y->next = xcalloc(cnt + 1, sizeof(*y->next));
	for (uint32_t i = 0; i < cnt; i++) {
		order[i] = i;
		y->first[i] = y->next[i] = NODE_NONE;
	}
	qsort_r(order, cnt, sizeof(*order), by_share, f->nodes.items);
	/* Smallest first, each before those that were added: the best ends up in front. */
	for (size_t i = cnt; i-- > 0;) {
		uint32_t id = order[i], parent = f->nodes.items[id].parent;

		if (parent == NODE_NONE)
			continue;
		y->next[id] = y->first[parent];
		y->first[parent] = id;
	}
}

static void family_release(struct family *y)
{
	free(y->first);
	free(y->next);
}

/* Of all nodes or of none. */
static bool with_ci95(const struct drawing *d)
{
	return d->in->findings->nodes.items[0].has_ci95;
}

/* n: NULL for a sum of several. */
static void add_share(struct drawing *d, double share, const struct node *n)
{
	_cleanup_(str_release) struct str bar = STR_INIT;
	unsigned width = d->s->width;
	char percent[TEXT_MAX];

	add_bar(&bar, share, width && width < (with_ci95(d) ? 90 : 72) ? 6 :
		width && width < 100 ? 12 : 24, d->s->utf8);
	table_cell(d->t, "%s", text_percent_cell(percent, share));
	if (with_ci95(d))
		table_cell(d->t, "%s", n && n->id && n->has_ci95 ? 
			   text_plus_minus(percent, n->ci95, d->s->utf8) : "");
	table_cell(d->t, "%s", str_cstr(&bar));
}

/* The function's name; with its call site where a sibling has the same one: "f (a.c:12)". */
static char *label_among_siblings(const struct findings *f, const struct node *n, bool utf8)
{
	for (size_t i = 0; n->kind == NODE_FUNCTION && n->call_site && i < f->nodes.cnt; i++) {
		const struct node *other = &f->nodes.items[i];

		if (other != n && other->parent == n->parent && other->kind == NODE_FUNCTION &&
		    n->function && other->function && strcmp(other->function, n->function) == 0)
			return xasprintf("%s (%s)", n->function, n->call_site);
	}
	return node_label(n, utf8);
}

static void add_node(struct drawing *d, const struct node *n, const char *branch)
{
	_cleanup_(freep) char *label =
		n->id ? label_among_siblings(d->in->findings, n, d->s->utf8) : NULL;
	const char *interval = d->in->findings->interval.name;
	bool wait = n->kind == NODE_WAIT || n->kind == NODE_BLAME;
	char text[TEXT_MAX];

	add_share(d, n->share, n);
	table_cell(d->t, "%s%s%s%s", str_cstr(&d->prefix), branch,
		   label ? label : interval ? interval : "interval", n->open ? " +" : "");
	table_style(d->t, wait ? style_wait(d->s) : "");
	table_keep(d->t, utf8_width(str_cstr(&d->prefix)) + utf8_width(branch));
	table_cell(d->t, "%s", text_ns(text, sqrt(n->variance_ns2), d->s->utf8));
	table_cell(d->t, "%s", text_ns(text, n->mean_ns, d->s->utf8));
	if (n->kind == NODE_FUNCTION)
		table_cell(d->t, "%.3g", n->calls_per_interval);
	else
		table_cell(d->t, "%s", "");
}

/* The line that keeps the sum whole. */
static void add_rest(struct drawing *d, size_t cnt, double share, double mean_ns)
{
	char text[TEXT_MAX];

	add_share(d, share, NULL);
	table_cell(d->t, "%s%s%zu more", str_cstr(&d->prefix), glyphs_of(d->s)->last_branch, cnt);
	table_cell(d->t, "%s", "");
	table_cell(d->t, "%s", text_ns(text, mean_ns, d->s->utf8));
	table_cell(d->t, "%s", "");
}

static bool shown(const struct drawing *d, const struct node *n)
{
	return fabs(n->share) >= d->in->options.min_share;
}

static void draw_child(struct drawing *d, uint32_t id, bool last, unsigned depth)
{
	const struct glyphs *g = glyphs_of(d->s);
	size_t len = d->prefix.len;

	add_node(d, &d->in->findings->nodes.items[id], last ? g->last_branch : g->branch);
	str_add(&d->prefix, last ? g->blank : g->trunk);
	draw_children(d, id, depth + 1);
	d->prefix.len = len;
	d->prefix.data[len] = '\0';
}

static void draw_children(struct drawing *d, uint32_t parent, unsigned depth)
{
	const struct node *nodes = d->in->findings->nodes.items;
	size_t hidden_cnt = 0, shown_cnt = 0, drawn = 0;
	double hidden_share = 0, hidden_mean_ns = 0;
	unsigned limit = d->in->options.depth;

	if (depth > (limit && limit < LEVELS_MAX ? limit : LEVELS_MAX))
		return;
	for (uint32_t id = d->family.first[parent]; id != NODE_NONE; id = d->family.next[id]) {
		if (shown(d, &nodes[id])) {
			shown_cnt++;
			continue;
		}
		hidden_cnt++;
		hidden_share += nodes[id].share;
		hidden_mean_ns += nodes[id].mean_ns;
	}
	for (uint32_t id = d->family.first[parent]; id != NODE_NONE; id = d->family.next[id])
		if (shown(d, &nodes[id])) {
			drawn++;
			draw_child(d, id, drawn == shown_cnt && hidden_cnt == 0, depth);
		}
	/* Below a node that is drawn only children that matter are worth a line. */
	if (hidden_cnt && (shown_cnt || depth == 1))
		add_rest(d, hidden_cnt, hidden_share, hidden_mean_ns);
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

static void print_legend(const struct style *s, const struct findings *f)
{
	bool any_open = false, any_blame = false;

	for (size_t i = 0; i < f->nodes.cnt; i++) {
		any_open |= f->nodes.items[i].open;
		any_blame |= f->nodes.items[i].kind == NODE_BLAME;
	}
	fprintf(s->out, "share: Cov(X,T)/Var(T); the shares below a node sum to its own\n");
	if (f->nodes.cnt && f->nodes.items[0].has_ci95)
		fprintf(s->out, "%s: half of the 95 %% confidence interval, in points\n",
			s->utf8 ? "±" : "+-");
	if (any_blame)
		fprintf(s->out, "by: what the waker (queue: the thread) did meanwhile, and in what it was blocked itself\n");
	if (any_open)
		fprintf(s->out, "+: calls functions that carry no probe yet\n");
}

void variance_tree_text(const struct style *s, const struct view_input *in)
{
	_cleanup_(freep) char *sentence = sentence_text(in->findings, &in->options.ranking, s->utf8);
	_cleanup_(table_freep) struct table *t = table_new();
	struct drawing d = { .s = s, .in = in, .t = t, .prefix = STR_INIT };

	print_answer(s, sentence);
	fputc('\n', s->out);
	print_heading(s, in);
	table_column(t, "share", TABLE_RIGHT);
	if (in->findings->nodes.cnt && with_ci95(&d))
		table_column(t, s->utf8 ? "±" : "+-", TABLE_RIGHT);
	table_column(t, "", TABLE_LEFT);
	table_column(t, "node", TABLE_SHRINKS);
	table_column(t, "sd", TABLE_RIGHT);
	table_column(t, "mean", TABLE_RIGHT);
	table_column(t, "calls", TABLE_RIGHT);
	if (in->findings->nodes.cnt) {
		family_init(&d.family, in->findings);
		add_node(&d, &in->findings->nodes.items[0], "");
		draw_children(&d, 0, 1);
		family_release(&d.family);
		str_release(&d.prefix);
	}
	table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
	print_covariance(s, in->findings);
	print_legend(s, in->findings);
}

/* ---- JSON ---- */

static json_t *node_json(const struct node *n)
{
	json_t *o = json_object();

	json_set(o, "id", json_integer(n->id));
	json_set(o, "parent", n->parent == NODE_NONE ? json_null() : json_integer(n->parent));
	json_set(o, "kind", json_text(node_kind_name(n->kind)));
	json_set(o, "function", json_text(n->function));
	json_set(o, "file", json_text(n->file));
	json_set(o, "line", n->line ? json_integer(n->line) : json_null());
	json_set(o, "call_site", json_text(n->call_site));
	json_set(o, "wait", json_wait(n->is_wait, n->wait));
	json_set(o, "mean_ns", json_ns(n->mean_ns));
	json_set(o, "variance_ns2", json_ns(n->variance_ns2));
	json_set(o, "share", json_number(n->share));
	json_set(o, "ci95", json_ci95(n->has_ci95, n->ci95));
	json_set(o, "variance_share", json_number(n->variance_share));
	json_set(o, "calls_per_interval", json_number(n->calls_per_interval));
	json_set(o, "presence", json_number(n->presence));
	json_set(o, "open", json_boolean(n->open));
	return o;
}

json_t *variance_tree_json(const struct view_input *in)
{
	const struct findings *f = in->findings;
	json_t *o = json_results("variance-tree", in);
	json_t *nodes = json_array(), *covariances = json_array();

	for (size_t i = 0; i < f->nodes.cnt; i++)
		json_add(nodes, node_json(&f->nodes.items[i]));
	for (size_t i = 0; i < f->covariances.cnt; i++) {
		const struct covariance *c = &f->covariances.items[i];
		json_t *pair = json_object();

		json_set(pair, "parent", json_integer(c->parent));
		json_set(pair, "a", json_integer(c->a));
		json_set(pair, "b", json_integer(c->b));
		json_set(pair, "covariance_ns2", json_ns(c->covariance_ns2));
		json_set(pair, "share", json_number(c->share));
		json_add(covariances, pair);
	}
	json_set(o, "nodes", nodes);
	json_set(o, "covariances", covariances);
	return o;
}

/* ---- CSV: the nodes ---- */

void variance_tree_csv(FILE *out, const struct view_input *in)
{
	csv_line(out, "tttttttttttttttt", "id", "parent", "kind", "function", "file", "line",
		 "call_site", "wait", "mean_ns", "variance_ns2", "share", "variance_share",
		 "calls_per_interval", "presence", "ci95_low", "ci95_high");
	for (size_t i = 0; i < in->findings->nodes.cnt; i++) {
		const struct node *n = &in->findings->nodes.items[i];
		char parent[TEXT_MAX] = "", line[TEXT_MAX] = "", low[TEXT_MAX] = "", high[TEXT_MAX] = "";

		if (n->parent != NODE_NONE)
			snprintf(parent, sizeof(parent), "%u", n->parent);
		if (n->line)
			snprintf(line, sizeof(line), "%u", n->line);
		if (n->has_ci95) {
			snprintf(low, sizeof(low), "%.17g", n->ci95[0]);
			snprintf(high, sizeof(high), "%.17g", n->ci95[1]);
		}
		csv_line(out, "utttt" "ttt" "dddddd" "tt", (uint64_t)n->id, parent,
			 node_kind_name(n->kind), n->function, n->file, line,
			 n->call_site, n->is_wait ? trace_state_name(n->wait) : NULL, n->mean_ns,
			 n->variance_ns2, n->share, n->variance_share, n->calls_per_interval,
			 n->presence, low, high);
	}
}
