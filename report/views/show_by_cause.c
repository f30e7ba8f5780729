/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_by_cause.c - `show variance-tree --by cause`: what each function's variance is made of.
 *
 *	share    of own  function and cause        sd     mean
 *	100.0 %          request              2.22 ms  1.06 ms
 *	 70.1 %   81.0 %  ├─ io               2.00 ms   900 µs
 *	 29.9 %   12.5 %  ├─ running           780 µs   160 µs
 *	           6.5 %  └─ io with running
 *
 * Shares add up to the function's above them, and so does "of own": the variances of its causes and twice
 * their covariances are all of its variance.  Lines of less than --min-share are left out of the text, and
 * summed up in one.
 */
#include <math.h>
#include <stdlib.h>

#include "base/banned.h"
#include "base/text/table.h"
#include "report/output.h"
#include "report/style.h"
#include "report/views.h"

/* ---- text ---- */

struct block {				/* one function's lines */
	const struct style *s;
	struct table *t;
	const struct caused *f;
	double least;			/* part of its variance below which a line is left out */
	size_t left;			/* lines below the head that are still to come */
};

static double of_own(const struct block *b, double variance_ns2)
{
	return b->f->variance_ns2 > 0 ? variance_ns2 / b->f->variance_ns2 : 0;
}

static bool worth_a_line(const struct block *b, double share, double own)
{
	return fabs(share) >= b->least || fabs(own) >= b->least;
}

static void add_head(const struct block *b)
{
	char text[TEXT_MAX];

	table_cell(b->t, "%s", text_percent_cell(text, b->f->share));
	table_cell(b->t, "%s", "");
	table_cell(b->t, "%s", b->f->function ? b->f->function : "(the interval)");
	table_style(b->t, style_bold(b->s));
	table_cell(b->t, "%s", text_ns(text, sqrt(b->f->variance_ns2), b->s->utf8));
	table_cell(b->t, "%s", text_ns(text, b->f->mean_ns, b->s->utf8));
}

static const char *next_branch(struct block *b)
{
	return --b->left ? glyphs_of(b->s)->branch : glyphs_of(b->s)->last_branch;
}

static void add_cause(struct block *b, const struct cause *c)
{
	char text[TEXT_MAX];

	table_cell(b->t, "%s", text_percent_cell(text, c->share));
	table_cell(b->t, "%s", text_percent_cell(text, of_own(b, c->variance_ns2)));
	table_cell(b->t, "%s%s", next_branch(b), trace_state_name(c->state));
	if (c->state != STATE_RUNNING)
		table_style(b->t, style_wait(b->s));
	table_cell(b->t, "%s", text_ns(text, sqrt(c->variance_ns2), b->s->utf8));
	table_cell(b->t, "%s", text_ns(text, c->mean_ns, b->s->utf8));
}

static void add_other(struct block *b, const char *label, double own)
{
	char text[TEXT_MAX];

	table_cell(b->t, "%s", "");
	table_cell(b->t, "%s", text_percent_cell(text, own));
	table_cell(b->t, "%s%s", next_branch(b), label);
	table_cell(b->t, "%s", "");
	table_cell(b->t, "%s", "");
}

/* Lines that add_block() will add below the head. */
static size_t count_lines(const struct block *b)
{
	size_t lines = 0;

	for (size_t i = 0; i < b->f->causes.cnt; i++)
		lines += worth_a_line(b, b->f->causes.items[i].share,
				      of_own(b, b->f->causes.items[i].variance_ns2));
	for (size_t i = 0; i < b->f->pairs.cnt; i++)
		lines += worth_a_line(b, 0, 2 * of_own(b, b->f->pairs.items[i].covariance_ns2));
	return lines + (lines < b->f->causes.cnt + b->f->pairs.cnt);
}

static void add_block(struct block *b)
{
	double rest = 0;
	size_t rest_cnt = 0;
	char label[TEXT_MAX];

	b->left = count_lines(b);
	add_head(b);
	for (size_t i = 0; i < b->f->causes.cnt; i++) {
		const struct cause *c = &b->f->causes.items[i];

		if (worth_a_line(b, c->share, of_own(b, c->variance_ns2))) {
			add_cause(b, c);
			continue;
		}
		rest += of_own(b, c->variance_ns2);
		rest_cnt++;
	}
	for (size_t i = 0; i < b->f->pairs.cnt; i++) {
		const struct cause_pair *p = &b->f->pairs.items[i];
		double own = 2 * of_own(b, p->covariance_ns2);

		if (worth_a_line(b, 0, own)) {
			snprintf(label, sizeof(label), "%s with %s", trace_state_name(p->a),
				 trace_state_name(p->b));
			add_other(b, label, own);
			continue;
		}
		rest += own;
		rest_cnt++;
	}
	if (rest_cnt) {
		snprintf(label, sizeof(label), "%zu smaller", rest_cnt);
		add_other(b, label, rest);
	}
}

static void causes_text(const struct style *s, const struct view_input *in)
{
	const caused_list *list = in->made;
	_cleanup_(table_freep) struct table *t = table_new();
	double least = in->options.ranking.all ? 0 : in->options.min_share;
	size_t left_out = 0;

	print_heading(s, in);
	table_column(t, "share", TABLE_RIGHT);
	table_column(t, "of own", TABLE_RIGHT);
	table_column(t, "function and cause", TABLE_SHRINKS);
	table_column(t, "sd", TABLE_RIGHT);
	table_column(t, "mean", TABLE_RIGHT);
	for (size_t i = 0; i < list->cnt; i++) {
		struct block b = { s, t, &list->items[i], least, 0 };

		if (b.f->function && fabs(b.f->share) < least)
			left_out++;
		else
			add_block(&b);
	}
	table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
	fprintf(s->out, "functions include what they call; \"of own\" adds up to the function's variance\n");
	if (left_out)
		fprintf(s->out, "%s %zu more function%s (--all)\n", glyphs_of(s)->ellipsis, left_out,
			plural(left_out));
}

/* ---- JSON and CSV ---- */

static json_t *causes_of(const struct caused *f)
{
	json_t *list = json_array();

	for (size_t i = 0; i < f->causes.cnt; i++) {
		const struct cause *c = &f->causes.items[i];
		json_t *o = json_object();

		json_set(o, "cause", json_text(trace_state_name(c->state)));
		json_set(o, "mean_ns", json_ns(c->mean_ns));
		json_set(o, "variance_ns2", json_ns(c->variance_ns2));
		json_set(o, "share", json_number(c->share));
		json_add(list, o);
	}
	return list;
}

static json_t *pairs_of(const struct caused *f)
{
	json_t *list = json_array();

	for (size_t i = 0; i < f->pairs.cnt; i++) {
		const struct cause_pair *p = &f->pairs.items[i];
		json_t *o = json_object();

		json_set(o, "a", json_text(trace_state_name(p->a)));
		json_set(o, "b", json_text(trace_state_name(p->b)));
		json_set(o, "covariance_ns2", json_ns(p->covariance_ns2));
		json_add(list, o);
	}
	return list;
}

static json_t *causes_json(const struct view_input *in)
{
	const caused_list *functions = in->made;
	json_t *o = json_results("variance-by-cause", in), *list = json_array();

	for (size_t i = 0; i < functions->cnt; i++) {
		const struct caused *f = &functions->items[i];
		json_t *entry = json_object();

		json_set(entry, "function", json_text(f->function));
		json_set(entry, "file", json_text(f->file));
		json_set(entry, "mean_ns", json_ns(f->mean_ns));
		json_set(entry, "variance_ns2", json_ns(f->variance_ns2));
		json_set(entry, "share", json_number(f->share));
		json_set(entry, "causes", causes_of(f));
		json_set(entry, "covariances", pairs_of(f));
		json_add(list, entry);
	}
	json_set(o, "functions", list);
	return o;
}

/* A cause a line, then the pairs: b is empty for a cause alone. */
static void causes_csv(FILE *out, const struct view_input *in)
{
	const caused_list *functions = in->made;

	csv_line(out, "ttttttt", "function", "file", "cause", "with", "mean_ns", "variance_ns2", "share");
	for (size_t i = 0; i < functions->cnt; i++) {
		const struct caused *f = &functions->items[i];

		for (size_t k = 0; k < f->causes.cnt; k++)
			csv_line(out, "ttttddd", f->function, f->file,
				 trace_state_name(f->causes.items[k].state), NULL,
				 f->causes.items[k].mean_ns, f->causes.items[k].variance_ns2,
				 f->causes.items[k].share);
		for (size_t k = 0; k < f->pairs.cnt; k++)
			csv_line(out, "tttttdt", f->function, f->file,
				 trace_state_name(f->pairs.items[k].a),
				 trace_state_name(f->pairs.items[k].b), NULL,
				 2 * f->pairs.items[k].covariance_ns2, NULL);
	}
}

static int make_causes(const struct view_input *in, void **ret, struct diag *reterr)
{
	caused_list *list = *ret = xcalloc(1, sizeof(*list));

	(void)reterr;
	return in->findings->interval.cnt ? variance_by_cause(in->trace, in->findings->interval.name, list) : 0;
}

static void release_causes(void *made)
{
	caused_release(made);
	free(made);
}

const struct view view_by_cause = {
	.name = "variance-tree", .summary = "each function's variance by running and class of wait",
	.needs = NEEDS_FINDINGS | NEEDS_TRACE, .make = make_causes, .release = release_causes,
	.text = causes_text, .json = causes_json, .csv = causes_csv,
};
