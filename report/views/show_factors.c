/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_factors.c - what to investigate, best first.
 *
 * Two rankings of the same factors (vprof-formats(5), RANKING).  By default functions, bodies and waits by
 * specificity x share; with --paper the paper's Algorithm 1: functions and pairs of siblings by specificity x
 * contribution.  The columns that rank are printed beside each other, so that the arithmetic can be followed: 9 x
 * 0.619 = 5.57.
 */
#include <inttypes.h>
#include <math.h>

#include "base/banned.h"
#include "base/text/table.h"
#include "base/text/utf8.h"
#include "report/views/common_causes.h"
#include "report/words/because.h"
#include "report/output.h"
#include "report/words/sentence.h"
#include "report/style.h"
#include "report/views.h"
#include "report/words/waiters.h"

static size_t select_factors(const struct view_input *in, uint32_t **ret_order)
{
	return factors_select(in->findings, &in->options.ranking, ret_order);
}

/* Counts the factors of this ranking, selected or not. */
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

#define LABEL_MIN 24			/* columns of the factors' names, before others go */

/* The columns dropped, in this order, before names are cut. */
enum { ALL_COLUMNS, NO_RANKS, NO_WORK_CI, NO_PRESENCE, NO_SPECIFICITY, NO_SHARED, NO_MEAN, NO_OWN, NO_KIND };

struct drawing {
	const struct style *s;
	const struct view_input *in;
	const uint32_t *order;		/* the ranking, then factors that rank only by what work leaves */
	size_t cnt, ranked_cnt;
	const size_t *work_ranks;	/* per factor; 0: none.  NULL: no work was noted */
	bool paper, with_ci95, with_work_ci95, with_tail, with_trimmed, doubt;
	int left_out;
};

/* Whether its rank may differ in the next run. */
static bool shows_doubt(const struct drawing *d, const struct factor *f)
{
	return d->paper ? f->has_paper_resolved && !f->paper_resolved : f->has_resolved && !f->resolved;
}

static void add_columns(const struct drawing *d, struct table *t)
{
	table_column(t, "#", TABLE_RIGHT);
	table_column(t, "factor", TABLE_SHRINKS);
	if (d->left_out < NO_KIND)
		table_column(t, "kind", TABLE_LEFT);
	table_column(t, "share", TABLE_RIGHT);
	if (d->paper)
		table_column(t, "contrib", TABLE_RIGHT);
	if (d->with_ci95)
		table_column(t, d->s->utf8 ? "±" : "+-", TABLE_RIGHT);
	if (d->work_ranks) {
		table_column(t, "left", TABLE_RIGHT);
		if (d->with_work_ci95 && d->left_out < NO_WORK_CI)
			table_column(t, d->s->utf8 ? "±" : "+-", TABLE_RIGHT);
		table_column(t, "#", TABLE_RIGHT);
	}
	if (!d->paper && d->left_out < NO_OWN)
		table_column(t, "own", TABLE_RIGHT);
	if (!d->paper && d->left_out < NO_SHARED)
		table_column(t, "shared", TABLE_RIGHT);
	if (!d->paper)
		table_column(t, "gain", TABLE_RIGHT);
	if (d->with_trimmed)
		table_column(t, "trimmed", TABLE_RIGHT);
	if (d->with_tail)
		table_column(t, "tail", TABLE_RIGHT);
	if (d->left_out < NO_SPECIFICITY) {
		table_column(t, "h", TABLE_RIGHT);
		table_column(t, "spec", TABLE_RIGHT);
	}
	table_column(t, "score", TABLE_RIGHT);
	if (d->left_out < NO_MEAN)
		table_column(t, "mean", TABLE_RIGHT);
	if (!d->paper && d->left_out < NO_PRESENCE)
		table_column(t, "in", TABLE_RIGHT);
	if (!d->paper && d->left_out < NO_RANKS)
		table_column(t, "ranks", TABLE_RIGHT);
	table_column(t, "where", TABLE_SPARE);
}

/* A percentage, or nothing if there is none. */
static void add_percent(struct table *t, bool known, double share)
{
	char percent[TEXT_MAX];

	table_cell(t, "%s", known ? text_percent_cell(percent, share) : "");
}

static void add_ranks(struct table *t, const struct factor *f)
{
	if (f->rank_low == 0)
		table_cell(t, "%s", "");
	else if (f->rank_low == f->rank_high)
		table_cell(t, "%u", f->rank_low);
	else
		table_cell(t, "%u-%u", f->rank_low, f->rank_high);
}

static void add_shares(const struct drawing *d, struct table *t, const struct factor *f)
{
	bool pair = f->kind == FACTOR_PAIR, exact = !f->samples, has_ci95 = d->paper ? f->has_paper_ci95 : f->has_ci95;
	char text[TEXT_MAX];

	if (exact)
		add_percent(t, true, f->share);
	else
		table_cell(t, "~%s", text_percent_cell(text, f->share));
	if (d->paper)
		add_percent(t, true, f->paper_contribution);
	if (d->with_ci95)
		table_cell(t, "%s", has_ci95 ? text_plus_minus(text, d->paper ? f->paper_ci95 : f->ci95,
							       d->s->utf8) : "");
	if (d->work_ranks) {
		size_t rank = d->work_ranks[f - d->in->findings->factors.items];

		add_percent(t, f->has_work_share, f->work_share);
		if (d->with_work_ci95 && d->left_out < NO_WORK_CI)
			table_cell(t, "%s", f->has_work_ci95 ? text_plus_minus(text, f->work_ci95, d->s->utf8) : "");
		if (rank)
			table_cell(t, "%zu", rank);
		else
			table_cell(t, "%s", "");
	}
	if (!d->paper && d->left_out < NO_OWN)
		add_percent(t, exact, f->variance_share);
	if (!d->paper && d->left_out < NO_SHARED)
		add_percent(t, !pair && exact, f->share - f->variance_share);
	if (!d->paper)
		add_percent(t, !pair && exact, factor_gain(f));
	if (d->with_trimmed)
		add_percent(t, f->has_trimmed, f->trimmed_share);
	if (d->with_tail)
		add_percent(t, f->has_tail, f->tail_share);
}

static void add_factor(const struct drawing *d, struct table *t, const struct factor *f, size_t rank)
{
	_cleanup_(freep) char *label = factor_label(f, d->s->utf8);
	double score = rank_score(d->in, f);
	char mean[TEXT_MAX];

	if (rank)
		table_cell(t, "%s%zu", shows_doubt(d, f) ? "~" : "", rank);
	else
		table_cell(t, "%s", "");
	table_cell(t, "%s", label);
	table_style(t, f->kind == FACTOR_WAIT ? style_wait(d->s) : "");
	if (d->left_out < NO_KIND)
		table_cell(t, "%s", f->kind == FACTOR_FUNCTION ? "func" : factor_kind_name(f->kind));
	add_shares(d, t, f);
	if (d->left_out < NO_SPECIFICITY) {
		table_cell(t, "%u", f->height);
		table_cell(t, "%.4g", f->specificity);
	}
	table_cell(t, "%.2f", fabs(score) < 0.005 ? 0 : score);
	if (d->left_out < NO_MEAN)
		table_cell(t, "%s", f->kind == FACTOR_PAIR ? "" : text_ns(mean, f->mean_ns, d->s->utf8));
	if (!d->paper && d->left_out < NO_PRESENCE)
		add_percent(t, f->has_presence, f->presence);
	if (!d->paper && d->left_out < NO_RANKS)
		add_ranks(t, f);
	table_where(t, d->s, f->kind == FACTOR_PAIR ? NULL : f->file, f->line);
}

static const struct factor *factor_at(const struct drawing *d, size_t i)
{
	return &d->in->findings->factors.items[d->order[i]];
}

static struct table *make_table(const struct drawing *d)
{
	struct table *t = table_new();

	add_columns(d, t);
	for (size_t i = 0; i < d->cnt; i++)
		add_factor(d, t, factor_at(d, i), i < d->ranked_cnt ? i + 1 : 0);
	return t;
}

/* The number of columns that names must lose. */
static size_t label_width(const struct drawing *d)
{
	size_t width = 0;

	for (size_t i = 0; i < d->cnt; i++) {
		_cleanup_(freep) char *label = factor_label(factor_at(d, i), d->s->utf8);

		if (utf8_width(label) > width)
			width = utf8_width(label);
	}
	return width;
}

static void print_table(struct drawing *d)
{
	size_t labels = label_width(d), spare = labels > LABEL_MIN ? labels - LABEL_MIN : 0;

	for (;; d->left_out++) {
		_cleanup_(table_freep) struct table *t = make_table(d);

		if (d->s->width && table_width(t) > d->s->width + spare && d->left_out < NO_KIND)
			continue;
		table_write(t, d->s->out, d->s->width, glyphs_of(d->s)->ellipsis);
		return;
	}
}

/* Prints a line below the table for each wait: the functions that caused it. */
static void print_becauses(const struct style *s, const struct factor *f, size_t rank)
{
	enum { MOST = 3 };
	const double least = 0.001;	/* of the variance: less reads as nothing, and is one of those more */
	_cleanup_(freep) char *label = factor_label(f, s->utf8);
	_cleanup_(str_release) struct str line = STR_INIT;
	_cleanup_(freep) struct because *list = NULL;
	size_t cnt = because_by_function(f, &list), at;
	char percent[TEXT_MAX];

	if (cnt == 0)
		return;
	str_addf(&line, "%zu. %s because of ", rank, label);
	for (at = 0; at < cnt && at < MOST && (at == 0 || list[at].share >= least); at++) {
		_cleanup_(freep) char *name = because_label(&list[at], s->utf8);

		str_addf(&line, "%s%s (%s)", at ? ", " : "", name, text_percent(percent, list[at].share));
	}
	if (cnt > at)
		str_addf(&line, ", %zu more", cnt - at);
	table_line(s->out, str_cstr(&line));
}

/* Ranks by what work leaves; appends factors outside the other ranking to order.  The caller frees it. */
static size_t *add_work_ranking(struct drawing *d, uint32_t **order)
{
	const struct findings *f = d->in->findings;
	_cleanup_(freep) uint32_t *by_work = NULL;
	size_t cnt, *ranks;

	if (!f->work.names || d->paper)
		return NULL;
	cnt = factors_select_after_work(f, &d->in->options.ranking, &by_work);
	ranks = xcalloc(f->factors.cnt + 1, sizeof(*ranks));
	*order = xrealloc(*order, d->cnt + cnt + 1, sizeof(**order));
	for (size_t i = 0; i < cnt; i++) {
		const struct select_options *o = &d->in->options.ranking;
		bool listed = !o->all && factor_only_contains(f, by_work[i], *order, d->cnt, o->threshold);

		ranks[by_work[i]] = i + 1;
		for (size_t k = 0; k < d->ranked_cnt; k++)
			listed |= (*order)[k] == by_work[i];
		if (!listed)
			(*order)[d->cnt++] = by_work[i];
	}
	return ranks;
}

/* Explains the signs, and what would settle the doubts. */
static void print_notes(const struct drawing *d)
{
	uint64_t needed = 0;
	char text[TEXT_MAX];

	if (d->with_ci95)
		fprintf(d->s->out, "%s: half of the 95 %% confidence interval, in points\n",
			d->s->utf8 ? "±" : "+-");
	if (!d->paper && d->cnt)
		fprintf(d->s->out, "%sgain: the variance that goes if its time is always the same\n",
			d->left_out < NO_SHARED ? "own + shared = share; " : "");
	if (d->work_ranks)
		fprintf(d->s->out, "left: share of the variance that the work does not explain, with the rank by it\n");
	if (d->with_trimmed)
		fprintf(d->s->out, "trimmed: the share without the few intervals that carry the variance (see the warning)\n");
	if (!d->doubt)
		return;
	for (size_t i = 0; i < d->cnt && !d->paper; i++)
		if (factor_at(d, i)->rank_needed > needed)
			needed = factor_at(d, i)->rank_needed;
	fprintf(d->s->out, "~: another run may rank it elsewhere");
	if (needed)
		fprintf(d->s->out, "; about %s more intervals would tell", text_cnt(text, needed));
	fputc('\n', d->s->out);
}

static void factors_text(const struct style *s, const struct view_input *in)
{
	_cleanup_(freep) char *sentence = sentence_text(in->findings, &in->options.ranking, s->utf8);
	_cleanup_(freep) uint32_t *order = NULL;
	_cleanup_(freep) size_t *work_ranks = NULL;
	size_t cnt = factors_select_reported(in->findings, &in->options.ranking, &order), more = count_all(in) - cnt;
	struct drawing d = { .s = s, .in = in, .cnt = cnt, .ranked_cnt = cnt,
			     .paper = in->options.ranking.paper };

	d.work_ranks = work_ranks = add_work_ranking(&d, &order);
	d.order = order;
	print_answer(s, sentence);
	fputc('\n', s->out);
	print_heading(s, in);
	print_work(s, in);
	for (size_t i = 0; i < d.cnt; i++) {
		const struct factor *f = factor_at(&d, i);

		d.with_ci95 |= d.paper ? f->has_paper_ci95 : f->has_ci95;
		d.with_tail |= f->has_tail && !d.paper;
		d.with_trimmed |= f->has_trimmed && !d.paper;
		d.with_work_ci95 |= f->has_work_ci95;
		d.doubt |= i < cnt && shows_doubt(&d, f);
	}
	if (d.cnt)
		print_table(&d);
	for (size_t i = 0; i < cnt; i++)
		print_becauses(s, factor_at(&d, i), i + 1);
	print_waiters(s, in->findings, in->options.ranking.threshold);
	if (!d.paper)
		print_common(s, in);
	print_notes(&d);
	if (more)
		fprintf(s->out, "%s %zu more factor%s (--all)\n", glyphs_of(s)->ellipsis, more,
			plural(more));
}

/* ---- JSON ---- */

static json_t *because_json(const struct run *run, const struct factor *f)
{
	json_t *list = json_array();

	for (size_t i = 0; i < f->because_of.cnt; i++) {
		const struct because *b = &f->because_of.items[i];
		json_t *o = json_object();

		json_set_function(o, run, b->function);
		json_set(o, "file", json_text(b->file));
		json_set(o, "wait", json_wait(b->is_wait, b->wait));
		json_set(o, "device", json_text(b->device));
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

/* [low, high], or null. */
static json_t *ranks_json(const struct factor *f)
{
	json_t *list;

	if (f->rank_low == 0)
		return json_null();
	list = json_array();
	json_add(list, json_integer(f->rank_low));
	json_add(list, json_integer(f->rank_high));
	return list;
}

/* The reliability of the figures, and what further intervals would settle. */
static void set_evidence(json_t *o, const struct view_input *in, const struct factor *f)
{
	bool paper = in->options.ranking.paper, pair = f->kind == FACTOR_PAIR;
	bool known = paper ? f->has_paper_resolved : f->has_resolved, exact = !f->samples;

	json_set(o, "ci95", json_ci95(f->has_ci95, f->ci95));
	json_set(o, "resolved", known ? json_boolean(paper ? f->paper_resolved : f->resolved) : json_null());
	json_set(o, "rank_interval", paper ? json_null() : ranks_json(f));
	json_set(o, "intervals_needed", known && !paper ? json_u64(f->rank_needed) : json_null());
	json_set(o, "variance_share", exact ? json_number(f->variance_share) : json_null());
	json_set(o, "shared_share", pair || !exact ? json_null() : json_number(f->share - f->variance_share));
	json_set(o, "gain", pair || !exact ? json_null() : json_number(factor_gain(f)));
	json_set(o, "work_share", f->has_work_share ? json_number(f->work_share) : json_null());
	json_set(o, "work_ci95", json_ci95(f->has_work_ci95, f->work_ci95));
	json_set(o, "trimmed_share", f->has_trimmed ? json_number(f->trimmed_share) : json_null());
	json_set(o, "presence", f->has_presence ? json_number(f->presence) : json_null());
	json_set(o, "paper_contribution", json_number(f->paper_contribution));
	json_set(o, "paper_ci95", json_ci95(f->has_paper_ci95 && exact, f->paper_ci95));
	if (!exact) {
		json_set(o, "estimated", json_true());
		json_set(o, "samples", json_u64(f->samples));
	}
}

static bool is_p99(const struct view_input *in)
{
	return in->findings->tail.quantile == TAIL_QUANTILE_DEFAULT;
}

static json_t *factor_json(const struct view_input *in, const struct factor *f, size_t rank)
{
	json_t *o = json_object(), *sites = json_array();

	for (size_t i = 0; i < f->call_sites.cnt; i++)
		json_add(sites, json_text(f->call_sites.items[i]));
	json_set(o, "rank", json_integer((json_int_t)rank));
	json_set(o, "kind", json_text(factor_kind_name(f->kind)));
	json_set_function(o, in->run, f->function);
	json_set(o, "file", json_text(f->file));
	json_set(o, "line", f->line ? json_integer(f->line) : json_null());
	json_set(o, "functions", functions_json(f));
	json_set(o, "wait", json_wait(f->is_wait, f->wait));
	json_set(o, "share", json_number(f->share));
	set_evidence(o, in, f);
	json_set(o, "height", json_integer(f->height));
	json_set(o, "specificity", json_number(f->specificity));
	json_set(o, "score", json_number(rank_score(in, f)));
	json_set(o, "tail_share_p99", f->has_tail && is_p99(in) ? json_number(f->tail_share) : json_null());
	json_set(o, "tail_share", f->has_tail ? json_number(f->tail_share) : json_null());
	json_set(o, "mean_ns", json_ns(f->mean_ns));
	json_set(o, "open", json_boolean(f->open));
	json_set(o, "call_sites", sites);
	json_set(o, "because_of", because_json(in->run, f));
	json_set(o, "waited_in", waiters_json(in->findings, f));
	return o;
}

/* The ranking by what inherent work leaves; null if none was noted. */
static json_t *after_work_json(const struct view_input *in)
{
	const struct inherent_work *work = &in->findings->work;
	_cleanup_(freep) uint32_t *order = NULL;
	size_t cnt = factors_select_after_work(in->findings, &in->options.ranking, &order);
	json_t *o, *list;

	if (!work->names)
		return json_null();
	o = json_object();
	list = json_array();
	json_set(o, "work", json_text(work->names));
	json_set(o, "intervals", json_u64(work->interval_cnt));
	json_set(o, "explained", json_number(work->explained));
	for (size_t i = 0; i < cnt; i++)
		json_add(list, factor_json(in, &in->findings->factors.items[order[i]], i + 1));
	json_set(o, "factors", list);
	return o;
}

static json_t *factors_json(const struct view_input *in)
{
	json_t *o = json_results("factors", in), *list = json_array();
	_cleanup_(freep) uint32_t *order = NULL;
	size_t cnt = select_factors(in, &order);

	for (size_t i = 0; i < cnt; i++)
		json_add(list, factor_json(in, &in->findings->factors.items[order[i]], i + 1));
	json_set(o, "sentence", sentence_json(in));
	json_set(o, "k", json_integer(in->options.ranking.k));
	json_set(o, "threshold", json_number(in->options.ranking.threshold));
	json_set(o, "paper", json_boolean(in->options.ranking.paper));
	json_set(o, "all", json_boolean(in->options.ranking.all));
	json_set(o, "root_height", json_integer(in->findings->root_height));
	json_set(o, "quantile", json_number(in->findings->tail.quantile));
	json_set(o, "factors", list);
	json_set(o, "after_work", after_work_json(in));
	json_set(o, "common_causes", common_causes_json(in->findings));
	json_set(o, "hedges", hedges_json(in->findings));
	json_set(o, "pairs", part_pairs_json(in->findings));
	json_set(o, "pairs_rest", pairs_rest_json(in->findings));
	return o;
}

/* ---- CSV ---- */

/* 17 digits, or "". */
static const char *csv_number(char buf[TEXT_MAX], bool known, double value)
{
	buf[0] = '\0';
	if (known)
		snprintf(buf, TEXT_MAX, "%.17g", value);
	return buf;
}

static void factor_csv(FILE *out, const struct view_input *in, const struct factor *f, size_t rank)
{
	bool paper = in->options.ranking.paper, pair = f->kind == FACTOR_PAIR;
	bool known = paper ? f->has_paper_resolved : f->has_resolved;
	char low[TEXT_MAX], high[TEXT_MAX], shared[TEXT_MAX], gain[TEXT_MAX], tail[TEXT_MAX];
	char presence[TEXT_MAX], paper_low[TEXT_MAX], paper_high[TEXT_MAX], work[TEXT_MAX];
	char work_low[TEXT_MAX], work_high[TEXT_MAX], trimmed[TEXT_MAX], own[TEXT_MAX], samples[TEXT_MAX] = "";
	bool exact = !f->samples;

	if (!exact)
		snprintf(samples, sizeof(samples), "%" PRIu64, f->samples);

	csv_line(out, "utttttt" "dtd" "u" "ddd" "ttt" "tttt" "uuu" "ttt" "tttt", (uint64_t)rank,
		 factor_kind_name(f->kind), f->function, f->file, f->functions[0], f->functions[1],
		 f->is_wait ? trace_state_name(f->wait) : NULL, f->share, csv_number(own, exact, f->variance_share),
		 f->paper_contribution, (uint64_t)f->height, f->specificity, rank_score(in, f), f->mean_ns,
		 csv_number(low, f->has_ci95, f->ci95[0]), csv_number(high, f->has_ci95, f->ci95[1]),
		 !known ? "" : (paper ? f->paper_resolved : f->resolved) ? "1" : "0",
		 csv_number(shared, !pair && exact, f->share - f->variance_share),
		 csv_number(gain, !pair && exact, factor_gain(f)), csv_number(tail, f->has_tail, f->tail_share),
		 csv_number(presence, f->has_presence, f->presence), (uint64_t)f->rank_low,
		 (uint64_t)f->rank_high, f->rank_needed,
		 csv_number(paper_low, f->has_paper_ci95, f->paper_ci95[0]),
		 csv_number(paper_high, f->has_paper_ci95, f->paper_ci95[1]),
		 csv_number(work, f->has_work_share, f->work_share),
		 csv_number(work_low, f->has_work_ci95, f->work_ci95[0]),
		 csv_number(work_high, f->has_work_ci95, f->work_ci95[1]),
		 csv_number(trimmed, f->has_trimmed, f->trimmed_share), samples);
}

static void factors_csv(FILE *out, const struct view_input *in)
{
	_cleanup_(freep) uint32_t *order = NULL;
	size_t cnt = select_factors(in, &order);

	csv_line(out, "ttttttttttttttttttttttttttttttt", "rank", "kind", "function", "file", "function_a",
		 "function_b", "wait", "share", "variance_share", "paper_contribution", "height",
		 "specificity", "score", "mean_ns", "ci95_low", "ci95_high", "resolved", "shared_share",
		 "gain", "tail_share", "presence", "rank_low", "rank_high", "intervals_needed",
		 "paper_ci95_low", "paper_ci95_high", "work_share", "work_ci95_low", "work_ci95_high",
		 "trimmed_share", "samples");
	for (size_t i = 0; i < cnt; i++)
		factor_csv(out, in, &in->findings->factors.items[order[i]], i + 1);
}

const struct view view_factors = {
	.name = "factors", .summary = "what to investigate, best first (--paper, --k, --threshold, --all)",
	.needs = NEEDS_FINDINGS,
	.text = factors_text, .json = factors_json, .csv = factors_csv,
};
