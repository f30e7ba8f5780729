/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_causal.c - what would be gained if this were faster.
 *
 *	▶ Making log_flush 50 % faster would lower the p50 of request by 31 % (27 to 35), its mean by 8 % (7 to 9).
 *
 *	target            25 %          50 %          75 %  100 %  predicted  rounds
 *	log_flush  -17 (-20..-14) -31 (-35..-27) ...               -17 -30 -34       12
 *	parse                      no effect (-1..+1)                                 40
 *
 * A cell is the change of the metric in per cent: lower is better, but for the throughput.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/banned.h"
#include "base/text/table.h"
#include "base/text/utf8.h"
#include "report/views/causal_formats.h"
#include "report/views.h"

#define CURVE_LINES 6

/* ---- the table ---- */

static bool is_gain(enum gain_metric m)
{
	return m == GAIN_THROUGHPUT;
}

/* Ascending, without doubles. */
static void find_speedups(const struct experiments *e, speedup_list *ret)
{
	for (size_t i = 0; i < e->list.cnt; i++) {
		double x = e->list.items[i].speedup;
		size_t k = 0;

		while (k < ret->cnt && ret->items[k] < x)
			k++;
		if (k < ret->cnt && ret->items[k] == x)
			continue;
		VEC_ADD(ret, 0);
		memmove(&ret->items[k + 1], &ret->items[k], (ret->cnt - 1 - k) * sizeof(*ret->items));
		ret->items[k] = x;
	}
}

static double change(enum gain_metric m, double gain)
{
	double x = 100 * (is_gain(m) ? gain : -gain);

	return fabs(x) < 0.05 ? 0 : x;
}

static void add_change(struct str *to, double x)
{
	str_addf(to, x == 0 ? "%.0f" : fabs(x) < 10 ? "%+.1f" : "%+.0f", x);
}

static void add_cell(struct str *to, const struct experiments *e, const struct experiment *x, enum gain_metric m)
{
	const struct gain *g = x ? &x->metrics[m] : NULL;

	if (!g || !(e->replayed ? g->has_predicted : g->known))
		return;
	if (e->replayed) {
		add_change(to, change(m, g->predicted));
		return;
	}
	if (g->has_ci95 && g->ci95[0] <= 0 && g->ci95[1] >= 0 && g->ci95[1] - g->ci95[0] <= 2 * GAIN_FLAT)
		str_add(to, "no effect");
	else
		add_change(to, change(m, g->gain));
	if (!g->has_ci95)
		return;
	str_add(to, " (");
	add_change(to, change(m, g->ci95[is_gain(m) ? 0 : 1]));
	str_add(to, "..");
	add_change(to, change(m, g->ci95[is_gain(m) ? 1 : 0]));
	str_addc(to, ')');
}

static void add_predictions(struct str *to, const struct experiments *e, const speedup_list *speedups, const char *target,
			    enum gain_metric m)
{
	for (size_t i = 0; i < speedups->cnt; i++) {
		const struct experiment *x = causal_find(e, target, speedups->items[i]);

		if (!x || !x->metrics[m].has_predicted)
			continue;
		if (to->len)
			str_addc(to, ' ');
		add_change(to, change(m, x->metrics[m].predicted));
		str_add(to, kind_is_replayed_only(x->kind) ? "*" : "");
	}
}

static void print_rows(const struct style *s, const struct experiments *e, const speedup_list *speedups, enum gain_metric m)
{
	_cleanup_(table_freep) struct table *t = table_new();

	table_column(t, "target", TABLE_LEFT);
	for (size_t i = 0; i < speedups->cnt; i++) {
		char title[TEXT_MAX];

		snprintf(title, sizeof(title), "%.3g %%", 100 * speedups->items[i]);
		table_column(t, title, TABLE_RIGHT);
	}
	if (!e->replayed) {
		table_column(t, "predicted", TABLE_RIGHT);
		table_column(t, "rounds", TABLE_RIGHT);
	}
	for (size_t i = 0; i < e->list.cnt; i++) {
		_cleanup_(str_release) struct str predicted = STR_INIT;
		const char *target = e->list.items[i].target;
		uint64_t rounds = 0;

		if (!causal_is_first(e, i))
			continue;
		table_cell(t, "%s%s", target, e->replayed && kind_is_replayed_only(e->list.items[i].kind) ? " *" : "");
		for (size_t k = 0; k < speedups->cnt; k++) {
			_cleanup_(str_release) struct str cell = STR_INIT;
			const struct experiment *x = causal_find(e, target, speedups->items[k]);

			add_cell(&cell, e, x, m);
			table_cell(t, "%s", str_cstr(&cell));
			rounds = x && x->rounds > rounds ? x->rounds : rounds;
		}
		if (e->replayed)
			continue;
		add_predictions(&predicted, e, speedups, target, m);
		table_cell(t, "%s", str_cstr(&predicted));
		table_cell(t, "%" PRIu64, rounds);
	}
	table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
}

/* ---- the curve of the best target ---- */

static double value_at(const struct experiments *e, const struct experiment *x, enum gain_metric m)
{
	const struct gain *g = &x->metrics[m];
	double gain = e->replayed ? g->predicted : g->gain;

	return is_gain(m) ? e->baseline[m] * (1 + gain) : e->baseline[m] * (1 - gain);
}

static void add_value(char buf[TEXT_MAX], const struct style *s, enum gain_metric m, double value)
{
	if (m == GAIN_THROUGHPUT)
		snprintf(buf, TEXT_MAX, "%.3g/s", value);
	else if (m == GAIN_VARIANCE)
		snprintf(buf, TEXT_MAX, "%.3g ns^2", value);
	else
		text_ns(buf, value, s->utf8);
}

static void print_curve(const struct style *s, const struct experiments *e, const speedup_list *speedups, enum gain_metric m,
			const char *target)
{
	_cleanup_(str_release) struct str title = STR_INIT;
	double most = e->baseline[m];

	for (size_t i = 0; i < speedups->cnt; i++) {
		const struct experiment *x = causal_find(e, target, speedups->items[i]);

		if (x)
			most = fmax(most, value_at(e, x, m));
	}
	if (speedups->cnt < 2 || !(most > 0) || !isfinite(most))
		return;
	str_addf(&title, "  %s of %s", gain_metric_name(m), e->interval ? e->interval : "the interval");
	fputc('\n', s->out);
	table_line(s->out, str_cstr(&title));
	for (int line = CURVE_LINES; line >= 1; line--) {
		char label[TEXT_MAX];

		add_value(label, s, m, most * line / CURVE_LINES);
		fprintf(s->out, "%12s |", label);
		for (int i = 0, blanks = 2; i <= (int)speedups->cnt; i++, blanks += 6) {
			const struct experiment *x = i ? causal_find(e, target, speedups->items[i - 1]) : NULL;
			double value = i ? x ? value_at(e, x, m) : -1 : e->baseline[m];

			if (!(value >= 0) || (int)ceil(value / most * CURVE_LINES - 1e-9) != line)
				continue;
			fprintf(s->out, "%*s*", blanks, "");
			blanks = -1;
		}
		fputc('\n', s->out);
	}
	fprintf(s->out, "%12s  %3d   ", "0", 0);
	for (size_t i = 0; i < speedups->cnt; i++)
		fprintf(s->out, i + 1 < speedups->cnt ? "%3.0f   " : "%3.0f %% faster", 100 * speedups->items[i]);
	fputc('\n', s->out);
}

/* ---- the view ---- */

static const char *arg_target, *arg_metric;

static int check(struct diag *reterr)
{
	enum gain_metric m;

	if (!arg_metric || gain_metric_parse(arg_metric, &m))
		return 0;
	diag_set(reterr, EXIT_USAGE, -EINVAL, "--metric is one of mean, variance, p50, p90, p99, p99.9, throughput, not '%s'",
		 arg_metric);
	return diag_remedy(reterr, -EINVAL, "vprof show causal --metric p99");
}

/* Only what --target names; the judgement is that of --metric. */
static int make_causal(const struct view_input *in, void **ret, struct diag *reterr)
{
	struct experiments *e = in->experiments;
	size_t kept = 0;

	(void)ret;
	if (arg_metric)
		gain_metric_parse(arg_metric, &e->metric);
	for (size_t i = 0; i < e->list.cnt; i++)
		if (!arg_target || strcmp(e->list.items[i].target, arg_target) == 0)
			e->list.items[kept++] = e->list.items[i];
	if (arg_target && !kept && e->list.cnt) {
		diag_set(reterr, EXIT_USAGE, -ENOENT, "run %" PRIu32 " has no experiment with the target '%s'", in->run->number,
			 arg_target);
		return diag_remedy(reterr, -ENOENT, "vprof show causal %" PRIu32 " lists them", in->run->number);
	}
	e->list.cnt = kept;
	experiments_choose_best(e);
	return 0;
}

static void print_notes(const struct style *s, const struct experiments *e)
{
	const char *target = e->best == SIZE_MAX ? NULL : e->list.items[e->best].target;
	const struct experiment *flat = target ? experiments_flat_from(e, target) : NULL;
	bool bound = false, predicted = false;

	if (flat && flat->metrics[e->metric].known == !e->replayed)
		fprintf(s->out, "beyond %.3g %% nothing more: %s is the limit then\n", 100 * flat->speedup,
			flat->limit ? flat->limit : "something else");
	for (size_t i = 0; i < e->list.cnt; i++)
		bound |= kind_is_replayed_only(e->list.items[i].kind);
	for (size_t i = 0; i < e->list.cnt; i++)
		predicted |= e->list.items[i].metrics[e->metric].has_predicted;
	if (bound)
		fprintf(s->out, "* at most: what would then be waited for instead is not in the trace\n");
	if (predicted)
		table_line(s->out, "predictions are of a replay of the recorded run: a hypothesis, to be measured");
	for (size_t i = 0; i < e->refused.cnt; i++) {
		_cleanup_(str_release) struct str line = STR_INIT;
		const struct refusal *r = &e->refused.items[i];

		str_addf(&line, "%s: %s%s%s", r->target, r->why, r->instead ? "; instead: " : "", r->instead ? r->instead : "");
		table_line(s->out, str_cstr(&line));
	}
	for (size_t i = 0; i < e->warnings.cnt; i++) {
		_cleanup_(str_release) struct str line = STR_INIT;

		str_addf(&line, "warning %s: %s", e->warnings.items[i].code, e->warnings.items[i].text);
		table_line(s->out, str_cstr(&line));
	}
}

static void causal_text(const struct style *s, const struct view_input *in)
{
	const struct experiments *e = in->experiments;
	_cleanup_(freep) char *sentence = causal_sentence(e);
	_cleanup_(str_release) struct str heading = STR_INIT;
	speedup_list speedups = { NULL, 0, 0 };
	const char *dot = glyphs_of(s)->dot;
	char cnt[TEXT_MAX];

	find_speedups(e, &speedups);
	print_answer(s, sentence);
	str_addf(&heading, "%s%s%s interval%s%s%srun %" PRIu32 "%s", e->interval ? e->interval : "no interval", dot,
		 text_cnt(cnt, e->baseline_cnt), plural(e->baseline_cnt),
		 e->replayed ? " in the trace" : " with nothing faster", dot,
		 in->run->number, dot);
	str_addf(&heading, "change of the %s in %%", gain_metric_name(e->metric));
	if (!e->replayed)
		str_addf(&heading, " (95 %% interval, %.2g points on each side for the method itself)", 100 * e->floor);
	table_line(s->out, str_cstr(&heading));
	fputc('\n', s->out);
	if (e->list.cnt)
		print_rows(s, e, &speedups, e->metric);
	if (e->best != SIZE_MAX)
		print_curve(s, e, &speedups, e->metric, e->list.items[e->best].target);
	print_notes(s, e);
	VEC_RELEASE(&speedups);
}

static void nothing_made(void *made)
{
	(void)made;
}

static const struct option_desc options[] = {
	{ 0, "target", "T", OPT_STR, &arg_target, "causal: only the experiments with this target" },
	{ 0, "metric", "M", OPT_STR, &arg_metric,
	  "causal: judge by mean, variance, p50, p90, p99, p99.9 or throughput (default: what the run was judged by)" },
	OPT_END
};

const struct view view_causal = {
	.name = "causal", .summary = "what would be gained if this were faster (after vprof causal)",
	.needs = NEEDS_EXPERIMENTS, .options = options, .check = check, .make = make_causal, .release = nothing_made,
	.text = causal_text, .json = causal_json, .csv = causal_csv, .svg = causal_svg,
};
