/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff_text.c - a comparison for a terminal:
 *
 *	▶ head is worse: p99 +34 % (95 % CI +20 to +50 %); 83 % of the added variance is log_append › lock wait.
 *	request · base: 3 runs, 4,500 intervals · head: 3 runs, 4,500 intervals
 *
 *	           base     head  change  95 % CI         verdict
 *	mean    1.12 ms  1.30 ms   +16 %  +9.8 to +23 %   worse
 */
#include <math.h>

#include "base/banned.h"
#include "base/text/table.h"
#include "report/compare/diff_words.h"
#include "report/style.h"

enum { CHANGES_SHOWN = 10 };

/* The unit for all variances, chosen by the largest. */
struct unit2 {
	const char *name, *ascii;
	double ns2;
};

static const struct unit2 *unit_for(double largest_ns2)
{
	static const struct unit2 units[] = {
		{ "s²", "s^2", 1e18 }, { "ms²", "ms^2", 1e12 }, { "µs²", "us^2", 1e6 }, { "ns²", "ns^2", 1 },
	};
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(units) && largest_ns2 < .1 * units[i].ns2)
		i++;
	return &units[i];
}

/* Four digits, without an exponent. */
static const char *text_in(char buf[TEXT_MAX], double ns2, const struct unit2 *u, bool sign)
{
	double value = ns2 / u->ns2, size = fabs(value);

	snprintf(buf, TEXT_MAX, sign ? "%+.*f" : "%.*f", size >= 999.5 ? 0 : size >= 99.95 ? 1 : size >= 9.995 ? 2 : 3, value);
	return buf;
}

static void print_sides(const struct style *s, const struct diff_input *in)
{
	static const char *const names[SIDE_CNT] = { "base", "head" };
	const struct comparison *c = in->comparison;
	const char *dot = glyphs_of(s)->dot;
	_cleanup_(str_release) struct str line = STR_INIT;
	char cnt[TEXT_MAX], runs[TEXT_MAX];

	str_add(&line, c->interval);
	for (unsigned i = 0; i < SIDE_CNT; i++) {
		str_addf(&line, " %s %s", dot, names[i]);
		if (in->label[i])
			str_addf(&line, " %s", in->label[i]);
		str_addf(&line, ": %s %s%s, %s interval%s", text_cnt(runs, c->run_cnt[i]), unit_word(c), plural(c->run_cnt[i]),
			 text_cnt(cnt, c->interval_cnt[i]), plural(c->interval_cnt[i]));
	}
	if (c->paired)
		str_addf(&line, " %s %s", dot, c->by_host ? "each host compared with itself" : "in turns, compared pair by pair");
	table_line(s->out, str_cstr(&line));
}

static void print_metrics(const struct style *s, const struct comparison *c)
{
	_cleanup_(table_freep) struct table *t = table_new();
	double largest = fmax(c->metrics[METRIC_VAR].of[SIDE_BASE], c->metrics[METRIC_VAR].of[SIDE_HEAD]);
	const struct unit2 *u = unit_for(largest);

	table_column(t, "", TABLE_LEFT);
	table_column(t, "base", TABLE_RIGHT);
	table_column(t, "head", TABLE_RIGHT);
	table_column(t, "change", TABLE_RIGHT);
	table_column(t, "95 % CI", TABLE_LEFT);
	table_column(t, c->enough ? "verdict" : c->by_host ? "of these hosts only" : "within these runs only", TABLE_LEFT);
	for (unsigned i = 0; i < METRIC_CNT; i++) {
		const struct compared_metric *m = &c->metrics[i];
		char buf[TEXT_MAX];

		table_cell(t, "%s", metric_name((enum metric)i));
		for (unsigned side = 0; side < SIDE_CNT; side++) {
			if (!isfinite(m->of[side]))
				table_cell(t, "?");
			else if (i == METRIC_VAR)
				table_cell(t, "%s %s", text_in(buf, m->of[side], u, false), s->utf8 ? u->name : u->ascii);
			else
				table_cell(t, "%s", text_ns(buf, m->of[side], s->utf8));
		}
		table_cell(t, "%s", text_change(buf, m->ratio));
		table_cell(t, "%s", text_change_ci95(buf, m->has_ci95, m->ci95));
		table_cell(t, "%s", c->enough ? verdict_name(m->verdict) : "");
		if (m->verdict == VERDICT_WORSE)
			table_style(t, style_bold(s));
	}
	table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
}

static void add_change_row(struct table *t, const struct change *x, const struct unit2 *u, bool utf8)
{
	_cleanup_(freep) char *label = change_label(x, utf8);
	char buf[TEXT_MAX], high[TEXT_MAX];

	for (unsigned side = 0; side < SIDE_CNT; side++)
		table_cell(t, "%s", text_in(buf, x->of_ns2[side], u, false));
	table_cell(t, "%s", text_in(buf, x->delta_ns2, u, true));
	if (x->has_ci95)
		table_cell(t, "%s to %s", text_in(buf, x->ci95[0], u, true), text_in(high, x->ci95[1], u, true));
	else
		table_cell(t, "%s", "");
	table_cell(t, "%s", isfinite(x->share_of_change) ? text_percent_cell(buf, x->share_of_change) : "");
	table_cell(t, "%s", label);
}

/* Adds the rest of the list as one line. */
static void add_rest_row(struct table *t, const struct comparison *c, const struct unit2 *u)
{
	struct change rest = { .share_of_change = 0 };
	char buf[TEXT_MAX];

	for (size_t i = CHANGES_SHOWN; i < c->changes.cnt; i++) {
		for (unsigned side = 0; side < SIDE_CNT; side++)
			rest.of_ns2[side] += c->changes.items[i].of_ns2[side];
		rest.share_of_change += c->changes.items[i].share_of_change;
	}
	for (unsigned side = 0; side < SIDE_CNT; side++)
		table_cell(t, "%s", text_in(buf, rest.of_ns2[side], u, false));
	table_cell(t, "%s", text_in(buf, rest.of_ns2[SIDE_HEAD] - rest.of_ns2[SIDE_BASE], u, true));
	table_cell(t, "%s", "");
	table_cell(t, "%s", isfinite(rest.share_of_change) ? text_percent_cell(buf, rest.share_of_change) : "");
	table_cell(t, "(%zu more; all with --format json)", c->changes.cnt - CHANGES_SHOWN);
}

static void print_changes(const struct style *s, const struct comparison *c)
{
	_cleanup_(table_freep) struct table *t = table_new();
	const struct unit2 *u;
	double largest = 0;

	if (!c->changes.cnt)
		return;
	for (size_t i = 0; i < c->changes.cnt; i++)
		for (unsigned side = 0; side < SIDE_CNT; side++)
			largest = fmax(largest, fabs(c->changes.items[i].of_ns2[side]));
	u = unit_for(largest);
	fprintf(s->out, "\nwhere the variance is, in %s; the changes add up to that of var\n", s->utf8 ? u->name : u->ascii);
	table_column(t, "base", TABLE_RIGHT);
	table_column(t, "head", TABLE_RIGHT);
	table_column(t, "change", TABLE_RIGHT);
	table_column(t, "95 % CI", TABLE_LEFT);
	table_column(t, "of it %", TABLE_RIGHT);
	table_column(t, "", TABLE_SHRINKS);
	for (size_t i = 0; i < c->changes.cnt && i < CHANGES_SHOWN; i++)
		add_change_row(t, &c->changes.items[i], u, s->utf8);
	if (c->changes.cnt > CHANGES_SHOWN)
		add_rest_row(t, c, u);
	table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
}

static void print_gate(const struct style *s, const struct diff_input *in)
{
	static const char *const results[] = {
		[GATE_PASS] = "passed", [GATE_FAIL] = "failed", [GATE_INCONCLUSIVE] = "not enough evidence",
	};
	const struct gate *g = in->gate;
	char needed[TEXT_MAX];

	fprintf(s->out, "\n%sgate: %s%s", style_bold(s), results[g->result], style_end(s));
	text_needed(needed, g, in->comparison);
	fprintf(s->out, "%s%s\n", *needed ? ": " : "", needed);
	for (size_t i = 0; i < g->terms.cnt; i++) {
		_cleanup_(freep) char *text = term_text(&g->terms.items[i], in->comparison);
		_cleanup_(freep) char *line = xasprintf("  %s", text);

		table_line(s->out, line);
	}
}

void diff_text(const struct style *s, const struct diff_input *in)
{
	_cleanup_(freep) char *sentence = diff_sentence(in, s->utf8);

	print_answer(s, sentence);
	print_sides(s, in);
	fputc('\n', s->out);
	print_metrics(s, in->comparison);
	print_changes(s, in->comparison);
	if (in->gate)
		print_gate(s, in);
}
