/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_causes.c - `show causes`: the variance by last known doer, summed over the whole tree.
 *
 *	#   share    ±  cause      meanwhile   through                  where
 *	1  62.1 %  ±11  flush_log  sleep wait  lock wait in log_append  server.c:41
 *	2   7.9 %       unknown                queue wait
 *
 * Shares add up to 100 %.  The text leaves out what is below --min-share, and sums it up in one line.
 */
#include <math.h>
#include <stdio.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/text/label.h"
#include "base/text/table.h"
#include "report/output.h"
#include "report/style.h"
#include "report/views.h"
#include "report/words/because.h"
#include "report/words/cause_words.h"
#include "report/words/sentence.h"

static bool is_shown(const struct view_input *in, const struct summed_cause *c)
{
	return in->options.ranking.all || fabs(c->share) >= in->options.min_share;
}

static void add_row(struct table *t, const struct style *s, size_t rank, const struct summed_cause *c)
{
	_cleanup_(freep) char *label = cause_label(c), *state = cause_state(c), *through = cause_through(c);
	_cleanup_(str_release) struct str name = STR_INIT;
	char percent[TEXT_MAX], plus_minus[TEXT_MAX] = "";
	const double *ci95 = ci95_to_show(c->has_ci95, c->ci95);

	label_add_readable(&name, label, NAME_READABLE, glyphs_of(s)->ellipsis);
	table_cell(t, "%zu", rank);
	table_cell(t, "%s", text_percent_cell(percent, c->share));
	table_cell(t, "%s", ci95 ? text_plus_minus(plus_minus, ci95, s->utf8) : "");
	table_cell(t, "%s", str_cstr(&name));
	table_cell(t, "%s", state);
	table_cell(t, "%s", through);
	table_where(t, s, c->file, c->line);
}

static struct table *new_table(const struct style *s)
{
	struct table *t = table_new();

	table_column(t, "#", TABLE_RIGHT);
	table_column(t, "share", TABLE_RIGHT);
	table_column(t, s->utf8 ? "±" : "+-", TABLE_RIGHT);
	table_column(t, "cause", TABLE_LEFT);
	table_column(t, "meanwhile", TABLE_LEFT);
	table_column(t, "through", TABLE_LEFT);
	table_column(t, "where", TABLE_SHRINKS);
	return t;
}

static void print_rest(const struct style *s, const struct view_input *in)
{
	const struct findings *f = in->findings;
	double rest = 0;
	size_t left = 0;
	char percent[TEXT_MAX];

	for (size_t i = 0; i < f->causes.cnt; i++)
		if (!is_shown(in, &f->causes.items[i])) {
			rest += f->causes.items[i].share;
			left++;
		}
	if (left)
		fprintf(s->out, "%s %zu more, together %s (--all)\n", glyphs_of(s)->ellipsis, left, text_percent_cell(percent, rest));
}

static void print_legend(const struct style *s, const struct view_input *in)
{
	const struct findings *f = in->findings;

	fprintf(s->out, "cause: the last function or device known to have taken the time; all shares add up to 100 %%\n");
	fprintf(s->out, "meanwhile: its own state; through: the wait in which requests waited for it (queue wait: for their turn)\n");
	for (size_t i = 0; i < f->causes.cnt; i++)
		if (!f->causes.items[i].known && is_shown(in, &f->causes.items[i])) {
			_cleanup_(str_release) struct str why = STR_INIT;

			cause_add_why_unknown(&why, f, &f->causes.items[i], s->utf8);
			fprintf(s->out, "unknown: ");
			table_line(s->out, str_cstr(&why));
		}
}

static void causes_text(const struct style *s, const struct view_input *in)
{
	const struct findings *f = in->findings;
	_cleanup_(freep) char *sentence = sentence_text(f, &in->options.ranking, s->utf8);
	_cleanup_(table_freep) struct table *t = new_table(s);
	size_t shown = 0;

	for (size_t i = 0; i < f->causes.cnt; i++)
		if (is_shown(in, &f->causes.items[i])) {
			add_row(t, s, i + 1, &f->causes.items[i]);
			shown++;
		}
	print_answer(s, sentence);
	fputc('\n', s->out);
	print_heading(s, in);
	if (shown)
		table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
	print_rest(s, in);
	print_legend(s, in);
}

static json_t *waiter_json(const struct run *run, const struct summed_cause *c)
{
	json_t *o;

	if (!c->has_waiter)
		return json_null();
	o = json_object();
	json_set_function(o, run, c->waiter);
	json_set(o, "file", json_text(c->waiter_file));
	json_set(o, "line", c->waiter_line ? json_integer(c->waiter_line) : json_null());
	json_set(o, "wait", json_wait(true, c->waited));
	json_set(o, "share", json_number(c->waiter_share));
	return o;
}

static json_t *cause_json(const struct run *run, const struct summed_cause *c, size_t rank)
{
	json_t *o = json_object(), *places = json_array();

	for (size_t i = 0; i < c->places.cnt; i++)
		json_add(places, json_integer(c->places.items[i]));
	json_set(o, "rank", json_integer((json_int_t)rank));
	json_set_function(o, run, c->function);
	json_set(o, "file", json_text(c->file));
	json_set(o, "line", c->line ? json_integer(c->line) : json_null());
	json_set(o, "wait", json_wait(c->is_wait, c->wait));
	json_set(o, "peer", json_text(c->peer));
	json_set(o, "device", json_text(c->device));
	json_set(o, "how", json_text(cause_how_name(c->how)));
	json_set(o, "share", json_number(c->share));
	json_set(o, "ci95", json_ci95(c->has_ci95, c->ci95));
	json_set(o, "known", json_boolean(c->known));
	json_set(o, "places", places);
	json_set(o, "mean_ns", json_ns(c->mean_ns));
	json_set(o, "through", waiter_json(run, c));
	return o;
}

static json_t *causes_json(const struct view_input *in)
{
	json_t *o = json_results("causes", in), *list = json_array();

	for (size_t i = 0; i < in->findings->causes.cnt; i++)
		json_add(list, cause_json(in->run, &in->findings->causes.items[i], i + 1));
	json_set(o, "sentence", sentence_json(in));
	json_set(o, "causes", list);
	return o;
}

static void causes_csv(FILE *out, const struct view_input *in)
{
	csv_line(out, "ttttttttttttt", "rank", "function", "file", "line", "wait", "peer", "device", "how", "share", "ci95_low",
		 "ci95_high", "known", "mean_ns");
	for (size_t i = 0; i < in->findings->causes.cnt; i++) {
		const struct summed_cause *c = &in->findings->causes.items[i];
		char line[TEXT_MAX] = "", low[TEXT_MAX] = "", high[TEXT_MAX] = "";

		if (c->line)
			snprintf(line, sizeof(line), "%u", c->line);
		if (c->has_ci95) {
			snprintf(low, sizeof(low), "%.17g", c->ci95[0]);
			snprintf(high, sizeof(high), "%.17g", c->ci95[1]);
		}
		csv_line(out, "uttttttt" "dttt" "d", (uint64_t)i + 1, c->function, c->file, line,
			 c->is_wait ? trace_state_name(c->wait) : NULL, c->peer, c->device, cause_how_name(c->how), c->share, low, high,
			 c->known ? "1" : "0", c->mean_ns);
	}
}

const struct view view_causes = {
	.name = "causes", .summary = "the variance by cause, summed over the whole tree",
	.needs = NEEDS_FINDINGS,
	.text = causes_text, .json = causes_json, .csv = causes_csv,
};
