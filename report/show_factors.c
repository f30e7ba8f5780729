/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_factors.c - what to look into, best first.
 *
 * Two rankings of the same factors (CONTRACT section 4).  By default functions, bodies and waits by
 * specificity x share; with --paper the paper's Algorithm 1: functions and pairs of siblings by
 * specificity x contribution.  The columns that rank are printed beside each other, so that the
 * arithmetic can be followed: 9 x 0.619 = 5.57.
 */
#include <math.h>

#include "base/banned.h"
#include "base/table.h"
#include "report/output.h"
#include "report/style.h"
#include "report/views.h"

static size_t select_factors(const struct view_input *in, uint32_t **ret_order)
{
	return factors_select(in->findings, &in->options.ranking, ret_order);
}

/* Of this ranking, selected or not. */
static size_t count_all(const struct view_input *in)
{
	struct select_options all = in->options.ranking;
	_cleanup_(freep) uint32_t *order = NULL;

	all.all = true;
	return factors_select(in->findings, &all, &order);
}

static double rank_score(const struct view_input *in, const struct factor *f)
{
	return in->options.ranking.paper ? f->paper_score : f->score;
}

/* ---- text ---- */

static void add_columns(struct table *t, const struct view_input *in, bool with_ci95, bool utf8)
{
	table_column(t, "#", TABLE_RIGHT);
	table_column(t, "factor", TABLE_SHRINKS);
	table_column(t, "kind", TABLE_LEFT);
	table_column(t, "share", TABLE_RIGHT);
	if (with_ci95)
		table_column(t, utf8 ? "±" : "+-", TABLE_RIGHT);
	table_column(t, in->options.ranking.paper ? "contrib" : "Var/Var(T)", TABLE_RIGHT);
	table_column(t, "h", TABLE_RIGHT);
	table_column(t, "spec", TABLE_RIGHT);
	table_column(t, "score", TABLE_RIGHT);
	table_column(t, "mean", TABLE_RIGHT);
}

/* Its rank may be another in the next run.  Of the paper's ranking that is not known. */
static bool shows_doubt(const struct view_input *in, const struct factor *f)
{
	return f->has_resolved && !f->resolved && !in->options.ranking.paper;
}

static void add_factor(struct table *t, const struct style *s, const struct view_input *in,
		       const struct factor *f, size_t rank, bool with_ci95)
{
	_cleanup_(freep) char *label = factor_label(f, s->utf8);
	double second = in->options.ranking.paper ? f->paper_contribution : f->variance_share;
	double score = rank_score(in, f);
	char mean[TEXT_MAX], percent[TEXT_MAX];

	table_cell(t, "%s%zu", shows_doubt(in, f) ? "~" : "", rank);
	table_cell(t, "%s", label);
	table_style(t, f->kind == FACTOR_WAIT ? style_wait(s) : "");
	table_cell(t, "%s", f->kind == FACTOR_FUNCTION ? "func" : factor_kind_name(f->kind));
	table_cell(t, "%s", text_percent_cell(percent, f->share));
	if (with_ci95)
		table_cell(t, "%s", f->has_ci95 ? text_plus_minus(percent, f->ci95, s->utf8) : "");
	table_cell(t, "%s", text_percent_cell(percent, second));
	table_cell(t, "%u", f->height);
	table_cell(t, "%.4g", f->specificity);
	table_cell(t, "%.2f", fabs(score) < 0.005 ? 0 : score);
	table_cell(t, "%s", f->kind == FACTOR_PAIR ? "" : text_ns(mean, f->mean_ns, s->utf8));
}

/* A line below the table for each wait: who kept it waiting. */
static void print_becauses(const struct style *s, const struct factor *f, size_t rank)
{
	enum { MOST = 3 };
	_cleanup_(freep) char *label = factor_label(f, s->utf8);
	_cleanup_(str_release) struct str line = STR_INIT;
	char percent[TEXT_MAX];

	if (f->because_of.cnt == 0)
		return;
	str_addf(&line, "%zu. %s because of ", rank, label);
	for (size_t i = 0; i < f->because_of.cnt && i < MOST; i++) {
		const struct because *b = &f->because_of.items[i];

		str_addf(&line, "%s%s", i ? ", " : "", b->function ? b->function : "nobody known");
		if (b->is_wait)
			str_addf(&line, "%s%s %s", glyphs_of(s)->then, trace_state_name(b->wait),
				 wait_noun(b->wait));
		str_addf(&line, " (%s)", text_percent(percent, b->share));
	}
	if (f->because_of.cnt > MOST)
		str_addf(&line, ", %zu more", f->because_of.cnt - MOST);
	table_line(s->out, str_cstr(&line));
}

void factors_text(const struct style *s, const struct view_input *in)
{
	_cleanup_(freep) char *sentence = sentence_text(in->findings, &in->options.ranking, s->utf8);
	_cleanup_(table_freep) struct table *t = table_new();
	_cleanup_(freep) uint32_t *order = NULL;
	size_t cnt = select_factors(in, &order), more = count_all(in) - cnt;
	bool with_ci95 = false, doubt = false;

	print_answer(s, sentence);
	fputc('\n', s->out);
	print_heading(s, in);
	for (size_t i = 0; i < cnt; i++) {
		with_ci95 |= in->findings->factors.items[order[i]].has_ci95;
		doubt |= shows_doubt(in, &in->findings->factors.items[order[i]]);
	}
	add_columns(t, in, with_ci95, s->utf8);
	for (size_t i = 0; i < cnt; i++)
		add_factor(t, s, in, &in->findings->factors.items[order[i]], i + 1, with_ci95);
	if (cnt)
		table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
	for (size_t i = 0; i < cnt; i++)
		print_becauses(s, &in->findings->factors.items[order[i]], i + 1);
	if (with_ci95)
		fprintf(s->out, "%s: half of the 95 %% confidence interval, in points\n",
			s->utf8 ? "±" : "+-");
	if (doubt)
		fprintf(s->out, "~: another run may rank it elsewhere\n");
	if (more)
		fprintf(s->out, "%s %zu more factor%s (--all)\n", glyphs_of(s)->ellipsis, more,
			plural(more));
}

/* ---- JSON ---- */

static json_t *because_json(const struct factor *f)
{
	json_t *list = json_array();

	for (size_t i = 0; i < f->because_of.cnt; i++) {
		const struct because *b = &f->because_of.items[i];
		json_t *o = json_object();

		json_set(o, "function", json_text(b->function));
		json_set(o, "file", json_text(b->file));
		json_set(o, "wait", json_wait(b->is_wait, b->wait));
		json_set(o, "share", json_number(b->share));
		json_add(list, o);
	}
	return list;
}

static json_t *functions_json(const struct factor *f)
{
	json_t *pair;

	if (f->kind != FACTOR_PAIR)
		return json_null();
	pair = json_array();
	json_add(pair, json_text(f->functions[0]));
	json_add(pair, json_text(f->functions[1]));
	return pair;
}

static json_t *factor_json(const struct view_input *in, const struct factor *f, size_t rank)
{
	json_t *o = json_object(), *sites = json_array();

	for (size_t i = 0; i < f->call_sites.cnt; i++)
		json_add(sites, json_text(f->call_sites.items[i]));
	json_set(o, "rank", json_integer((json_int_t)rank));
	json_set(o, "kind", json_text(factor_kind_name(f->kind)));
	json_set(o, "function", json_text(f->function));
	json_set(o, "file", json_text(f->file));
	json_set(o, "line", f->line ? json_integer(f->line) : json_null());
	json_set(o, "functions", functions_json(f));
	json_set(o, "wait", json_wait(f->is_wait, f->wait));
	json_set(o, "share", json_number(f->share));
	json_set(o, "ci95", json_ci95(f->has_ci95, f->ci95));
	json_set(o, "resolved", f->has_resolved ? json_boolean(f->resolved) : json_null());
	json_set(o, "variance_share", json_number(f->variance_share));
	json_set(o, "paper_contribution", json_number(f->paper_contribution));
	json_set(o, "height", json_integer(f->height));
	json_set(o, "specificity", json_number(f->specificity));
	json_set(o, "score", json_number(rank_score(in, f)));
	json_set(o, "tail_share_p99", f->has_tail ? json_number(f->tail_share_p99) : json_null());
	json_set(o, "mean_ns", json_ns(f->mean_ns));
	json_set(o, "open", json_boolean(f->open));
	json_set(o, "call_sites", sites);
	json_set(o, "because_of", because_json(f));
	return o;
}

json_t *factors_json(const struct view_input *in)
{
	json_t *o = json_results("factors", in), *list = json_array();
	_cleanup_(freep) uint32_t *order = NULL;
	size_t cnt = select_factors(in, &order);

	for (size_t i = 0; i < cnt; i++)
		json_add(list, factor_json(in, &in->findings->factors.items[order[i]], i + 1));
	json_set(o, "k", json_integer(in->options.ranking.k));
	json_set(o, "threshold", json_number(in->options.ranking.threshold));
	json_set(o, "paper", json_boolean(in->options.ranking.paper));
	json_set(o, "all", json_boolean(in->options.ranking.all));
	json_set(o, "root_height", json_integer(in->findings->root_height));
	json_set(o, "factors", list);
	return o;
}

/* ---- CSV ---- */

void factors_csv(FILE *out, const struct view_input *in)
{
	_cleanup_(freep) uint32_t *order = NULL;
	size_t cnt = select_factors(in, &order);

	csv_line(out, "ttttttttttttttttt", "rank", "kind", "function", "file", "function_a",
		 "function_b", "wait", "share", "variance_share", "paper_contribution", "height",
		 "specificity", "score", "mean_ns", "ci95_low", "ci95_high", "resolved");
	for (size_t i = 0; i < cnt; i++) {
		const struct factor *f = &in->findings->factors.items[order[i]];
		char low[TEXT_MAX] = "", high[TEXT_MAX] = "";

		if (f->has_ci95) {
			snprintf(low, sizeof(low), "%.17g", f->ci95[0]);
			snprintf(high, sizeof(high), "%.17g", f->ci95[1]);
		}
		csv_line(out, "utttttt" "ddd" "u" "ddd" "ttt", (uint64_t)i + 1, factor_kind_name(f->kind),
			 f->function, f->file, f->functions[0], f->functions[1],
			 f->is_wait ? trace_state_name(f->wait) : NULL, f->share, f->variance_share,
			 f->paper_contribution, (uint64_t)f->height, f->specificity,
			 rank_score(in, f), f->mean_ns, low, high,
			 !f->has_resolved ? "" : f->resolved ? "1" : "0");
	}
}
