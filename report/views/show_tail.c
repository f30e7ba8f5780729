/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_tail.c - what slow intervals have more of: compared with the mean (tail), and with fast ones.
 *
 * Both views are of the parts of the latency (struct part), which add up to it: a function's own running time, or its
 * waits of one class.  The cause of the variance need not be that of the tail; tail prints the two beside each other.
 * Example: 80 % of the variance may come from f, 5 ms in every tenth interval, and 90 % of the slowest hundredth's
 * extra time from g's lock wait of 40 ms in those alone.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/text/table.h"
#include "report/output.h"
#include "report/style.h"
#include "report/views.h"
#include "report/views/common_causes.h"
#include "report/words/sentence.h"

#define PARTS_SHOWN 12			/* without --all */

/* "slowest 1 %": of 0.99; "slowest 0.1 %" */
static const char *text_slowest(char buf[TEXT_MAX], const struct tail *tail)
{
	snprintf(buf, TEXT_MAX, "slowest %.4g %%", 100 * (1 - tail->quantile));
	return buf;
}

static double part_extra(const struct part *p)
{
	return p->slow_mean_ns - p->fast_mean_ns;
}

/* ---- order ---- */

static int by_tail_share(const void *a, const void *b, void *arg)
{
	const struct part *parts = arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	double above_x = parts[x].slow_mean_ns - parts[x].mean_ns;
	double above_y = parts[y].slow_mean_ns - parts[y].mean_ns;

	if (above_x != above_y)
		return above_x > above_y ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Indexes of all parts, those with the largest share of the tail first; the caller frees it. */
static size_t *order_by_tail(const struct findings *f)
{
	size_t *order = xcalloc(f->parts.cnt + 1, sizeof(*order));

	for (size_t i = 0; i < f->parts.cnt; i++)
		order[i] = i;
	if (f->parts.cnt > 1)
		qsort_r(order, f->parts.cnt, sizeof(*order), by_tail_share, f->parts.items);
	return order;
}

/* ---- tail: text ---- */

static void print_tail_answer(const struct style *s, const struct findings *f, const struct part *first)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	const struct tail *tail = &f->tail;
	char a[TEXT_MAX], b[TEXT_MAX], c[TEXT_MAX], d[TEXT_MAX];

	if (!first || !(tail->mean_ns > f->interval.mean_ns)) {
		str_addf(&text, "The slowest intervals of '%s' take no longer than the others.", f->interval.name);
	} else {
		_cleanup_(freep) char *label = part_label(first, s->utf8);
		double above_ns = tail->mean_ns - f->interval.mean_ns;

		str_addf(&text, "The %s of '%s' (%s or more, %s intervals) take %s more than the mean",
			 text_slowest(a, tail), f->interval.name, text_ns(b, (double)tail->from_ns, s->utf8),
			 text_cnt(c, tail->cnt), text_ns(d, above_ns, s->utf8));
		if (first->has_tail)
			str_addf(&text, "; %s of that is %s.", text_percent(a, first->tail_share), label);
		else
			str_addf(&text, ". Fewer than %d say nothing about a tail: lower --quantile, or run longer.",
				 TAIL_INTERVALS_MIN);
	}
	print_answer(s, str_cstr(&text));
	fputc('\n', s->out);
}

static void add_share(struct table *t, bool known, double share)
{
	char percent[TEXT_MAX];

	table_cell(t, "%s", known ? text_percent_cell(percent, share) : "");
}

/* The line is that of its function's places in the tree. */
static void add_where(struct table *t, const struct style *s, const struct findings *f, const struct part *p)
{
	uint32_t line = 0;

	for (size_t i = 0; i < f->nodes.cnt && p->function && p->file && !line; i++) {
		const struct node *n = &f->nodes.items[i];

		if (n->function && n->file && strcmp(n->function, p->function) == 0 && strcmp(n->file, p->file) == 0)
			line = n->line;
	}
	table_where(t, s, p->file, line);
}

static void add_tail_row(const struct style *s, struct table *t, const struct part *p, size_t rank)
{
	_cleanup_(freep) char *label = part_label(p, s->utf8);
	char text[TEXT_MAX];

	table_cell(t, "%zu", rank);
	table_cell(t, "%s", label);
	table_style(t, p->is_wait ? style_wait(s) : "");
	add_share(t, p->has_tail, p->tail_share);
	table_cell(t, "%s", p->has_tail_ci95 ? text_plus_minus(text, p->tail_ci95, s->utf8) : "");
	add_share(t, true, p->share);
	table_cell(t, "%s", text_ns(text, p->slow_mean_ns, s->utf8));
	table_cell(t, "%s", text_ns(text, p->mean_ns, s->utf8));
}

static size_t shown_of(const struct view_input *in)
{
	size_t cnt = in->findings->parts.cnt;

	return in->options.ranking.all || cnt < PARTS_SHOWN ? cnt : PARTS_SHOWN;
}

/* The parts left out still add up: "... 7 more: 1.2 %". */
static void print_more(const struct style *s, const struct view_input *in, size_t shown, const char *sum)
{
	size_t more = in->findings->parts.cnt - shown;

	if (more)
		fprintf(s->out, "%s %zu more, together %s (--all)\n", glyphs_of(s)->ellipsis, more, sum);
}

static void tail_text(const struct style *s, const struct view_input *in)
{
	const struct findings *f = in->findings;
	_cleanup_(freep) size_t *order = order_by_tail(f);
	_cleanup_(table_freep) struct table *t = table_new();
	size_t shown = shown_of(in);
	double rest = 1;
	char percent[TEXT_MAX];

	print_tail_answer(s, f, f->parts.cnt ? &f->parts.items[order[0]] : NULL);
	print_heading(s, in);
	table_column(t, "#", TABLE_RIGHT);
	table_column(t, "part", TABLE_SHRINKS);
	table_column(t, "tail", TABLE_RIGHT);
	table_column(t, s->utf8 ? "±" : "+-", TABLE_RIGHT);
	table_column(t, "variance", TABLE_RIGHT);
	table_column(t, "slow", TABLE_RIGHT);
	table_column(t, "mean", TABLE_RIGHT);
	table_column(t, "where", TABLE_SPARE);
	for (size_t i = 0; i < shown; i++) {
		add_tail_row(s, t, &f->parts.items[order[i]], i + 1);
		add_where(t, s, f, &f->parts.items[order[i]]);
		rest -= f->parts.items[order[i]].tail_share;
	}
	if (shown)
		table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
	print_more(s, in, shown, f->parts.cnt && f->parts.items[0].has_tail ?
		   text_percent(percent, rest) : "?");
	fprintf(s->out, "tail: part of what slow intervals take more than the mean; variance: share of the "
		"variance\n");
}

/* ---- slow-vs-fast: text ---- */

static void print_slow_answer(const struct style *s, const struct findings *f)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	const struct tail *tail = &f->tail;
	double extra_ns = tail->mean_ns - tail->fast_mean_ns;
	char a[TEXT_MAX], b[TEXT_MAX], c[TEXT_MAX], d[TEXT_MAX];

	if (f->parts.cnt == 0 || extra_ns <= 0) {
		str_addf(&text, "Slow intervals of '%s' take no longer than fast ones.", f->interval.name);
	} else {
		_cleanup_(freep) char *label = part_label(&f->parts.items[0], s->utf8);

		str_addf(&text, "A slow '%s' (%s: %s or more) takes %s longer than a fast one (the median, %s, or "
			 "less)", f->interval.name, text_slowest(a, tail),
			 text_ns(b, (double)tail->from_ns, s->utf8), text_ns(c, extra_ns, s->utf8),
			 text_ns(d, (double)tail->fast_to_ns, s->utf8));
		str_addf(&text, "; %s of it in %s.", text_ns(a, part_extra(&f->parts.items[0]), s->utf8), label);
	}
	print_answer(s, str_cstr(&text));
	fputc('\n', s->out);
}

static void add_slow_row(const struct style *s, struct table *t, const struct part *p, double extra_ns,
			 size_t rank)
{
	_cleanup_(freep) char *label = part_label(p, s->utf8);
	char text[TEXT_MAX];

	table_cell(t, "%zu", rank);
	table_cell(t, "%s", label);
	table_style(t, p->is_wait ? style_wait(s) : "");
	table_cell(t, "%s", text_ns(text, part_extra(p), s->utf8));
	add_share(t, extra_ns > 0, part_extra(p) / extra_ns);
	table_cell(t, "%s", text_ns(text, p->slow_mean_ns, s->utf8));
	table_cell(t, "%s", text_ns(text, p->fast_mean_ns, s->utf8));
	add_share(t, true, p->slow_presence);
	add_share(t, true, p->fast_presence);
}

static void slow_vs_fast_text(const struct style *s, const struct view_input *in)
{
	const struct findings *f = in->findings;
	_cleanup_(table_freep) struct table *t = table_new();
	double extra_ns = f->tail.mean_ns - f->tail.fast_mean_ns, rest_ns = extra_ns;
	size_t shown = shown_of(in);
	char text[TEXT_MAX];

	print_slow_answer(s, f);
	print_heading(s, in);
	table_column(t, "#", TABLE_RIGHT);
	table_column(t, "part", TABLE_SHRINKS);
	table_column(t, "extra", TABLE_RIGHT);
	table_column(t, "of all", TABLE_RIGHT);
	table_column(t, "slow", TABLE_RIGHT);
	table_column(t, "fast", TABLE_RIGHT);
	table_column(t, "in slow", TABLE_RIGHT);
	table_column(t, "in fast", TABLE_RIGHT);
	table_column(t, "where", TABLE_SPARE);
	for (size_t i = 0; i < shown; i++) {
		add_slow_row(s, t, &f->parts.items[i], extra_ns, i + 1);
		add_where(t, s, f, &f->parts.items[i]);
		rest_ns -= part_extra(&f->parts.items[i]);
	}
	if (shown)
		table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
	print_more(s, in, shown, text_ns(text, rest_ns, s->utf8));
	fprintf(s->out, "extra: time per slow interval minus time per fast one; in: intervals in which it took "
		"time\n");
}

/* ---- JSON and CSV: the same for both, in the order of either ---- */

static json_t *tail_part_json(const struct part *p)
{
	json_t *o = part_json(p);

	json_set(o, "tail_share", p->has_tail ? json_number(p->tail_share) : json_null());
	json_set(o, "tail_ci95", json_ci95(p->has_tail_ci95, p->tail_ci95));
	json_set(o, "share", json_number(p->share));
	json_set(o, "mean_ns", json_ns(p->mean_ns));
	json_set(o, "slow_mean_ns", json_ns(p->slow_mean_ns));
	json_set(o, "fast_mean_ns", json_ns(p->fast_mean_ns));
	json_set(o, "extra_ns", json_ns(part_extra(p)));
	json_set(o, "slow_presence", json_number(p->slow_presence));
	json_set(o, "fast_presence", json_number(p->fast_presence));
	return o;
}

/* order NULL: as they are. */
static json_t *parts_json(const char *name, const struct view_input *in, const size_t *order)
{
	const struct findings *f = in->findings;
	json_t *o = json_results(name, in), *slow = json_object(), *fast = json_object(), *list = json_array();

	json_set(slow, "from_ns", json_integer(f->tail.from_ns));
	json_set(slow, "count", json_u64(f->tail.cnt));
	json_set(slow, "mean_ns", json_ns(f->tail.mean_ns));
	json_set(fast, "to_ns", json_integer(f->tail.fast_to_ns));
	json_set(fast, "count", json_u64(f->tail.fast_cnt));
	json_set(fast, "mean_ns", json_ns(f->tail.fast_mean_ns));
	json_set(o, "quantile", json_number(f->tail.quantile));
	json_set(o, "slow", slow);
	json_set(o, "fast", fast);
	for (size_t i = 0; i < f->parts.cnt; i++)
		json_add(list, tail_part_json(&f->parts.items[order ? order[i] : i]));
	json_set(o, "parts", list);
	return o;
}

static void parts_csv(FILE *out, const struct view_input *in, const size_t *order)
{
	csv_line(out, "tttttttttttt", "kind", "function", "file", "wait", "tail_share", "share", "mean_ns",
		 "slow_mean_ns", "fast_mean_ns", "extra_ns", "slow_presence", "fast_presence");
	for (size_t i = 0; i < in->findings->parts.cnt; i++) {
		const struct part *p = &in->findings->parts.items[order ? order[i] : i];
		char tail[TEXT_MAX] = "";

		if (p->has_tail)
			snprintf(tail, sizeof(tail), "%.17g", p->tail_share);
		csv_line(out, "ttttt" "ddddddd", p->is_wait ? "wait" : "body", p->function, p->file,
			 p->is_wait ? trace_state_name(p->wait) : NULL, tail, p->share, p->mean_ns,
			 p->slow_mean_ns, p->fast_mean_ns, part_extra(p), p->slow_presence,
			 p->fast_presence);
	}
}

static json_t *tail_json(const struct view_input *in)
{
	_cleanup_(freep) size_t *order = order_by_tail(in->findings);

	return parts_json("tail", in, order);
}

static void tail_csv(FILE *out, const struct view_input *in)
{
	_cleanup_(freep) size_t *order = order_by_tail(in->findings);

	parts_csv(out, in, order);
}

static json_t *slow_vs_fast_json(const struct view_input *in)
{
	return parts_json("slow-vs-fast", in, NULL);
}

static void slow_vs_fast_csv(FILE *out, const struct view_input *in)
{
	parts_csv(out, in, NULL);
}

const struct view view_tail = {
	.name = "tail", .summary = "where the slowest intervals spend more time than the mean (--quantile)",
	.needs = NEEDS_FINDINGS,
	.text = tail_text, .json = tail_json, .csv = tail_csv,
};

const struct view view_slow_vs_fast = {
	.name = "slow-vs-fast", .summary = "extra time of a slow interval, by function and wait (--quantile)",
	.needs = NEEDS_FINDINGS,
	.text = slow_vs_fast_text, .json = slow_vs_fast_json, .csv = slow_vs_fast_csv,
};
