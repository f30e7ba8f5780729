/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff_words.c - see diff_words.h. */
#include "report/compare/diff_words.h"

#include <inttypes.h>
#include <math.h>

#include "base/banned.h"
#include "report/style.h"
#include "report/words/sentence.h"

static void add_percent(char buf[TEXT_MAX], double ratio)
{
	double percent = 100 * (ratio - 1);

	snprintf(buf, TEXT_MAX, "%+.*f", fabs(percent) < 9.95 ? 1 : 0, percent);
}

const char *text_change(char buf[TEXT_MAX], double ratio)
{
	char number[TEXT_MAX];

	if (!isfinite(ratio)) {
		snprintf(buf, TEXT_MAX, "?");
		return buf;
	}
	add_percent(number, ratio);
	snprintf(buf, TEXT_MAX, "%.40s %%", number);
	return buf;
}

const char *text_change_ci95(char buf[TEXT_MAX], bool known, const double ci95[2])
{
	char low[TEXT_MAX], high[TEXT_MAX];

	buf[0] = '\0';
	if (!known)
		return buf;
	add_percent(low, ci95[0]);
	add_percent(high, ci95[1]);
	snprintf(buf, TEXT_MAX, "%.20s to %.20s %%", low, high);
	return buf;
}

const char *unit_word(const struct comparison *c)
{
	return c->by_host ? "host" : "run";
}

const char *text_within(const struct comparison *c)
{
	return c->by_host ? "of these hosts" : "within these runs";
}

char *change_label(const struct change *x, bool utf8)
{
	struct part as_part = { .function = x->function, .file = x->file, .is_wait = x->is_wait, .wait = x->wait };
	_cleanup_(freep) char *label = part_label(&as_part, utf8);
	struct str s = STR_INIT;

	str_add(&s, label);
	switch (x->match) {
	case MATCH_SAME:
		break;
	case MATCH_MOVED:
		str_addf(&s, "  (moved from %s)", x->was_file ? x->was_file : "elsewhere");
		break;
	case MATCH_RENAMED:
		str_addf(&s, "  (renamed from %s)", x->was);
		break;
	case MATCH_SPLIT:
		str_addf(&s, "  (new, split off from %s)", x->was);
		break;
	case MATCH_NEW:
		str_add(&s, "  (new)");
		break;
	case MATCH_GONE:
		str_add(&s, "  (gone)");
		break;
	}
	return str_take(&s);
}

/* ---- the sentence ---- */

/* The first metric with that verdict; metrics are in the order in which users notice them. */
static const struct compared_metric *first_with(const struct comparison *c, enum verdict v, enum metric *ret)
{
	static const enum metric order[] = {
		METRIC_P99, METRIC_VAR, METRIC_MEAN, METRIC_P50, METRIC_P90, METRIC_SD, METRIC_P999,
	};

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		if (c->metrics[order[i]].verdict == v) {
			*ret = order[i];
			return &c->metrics[order[i]];
		}
	return NULL;
}

/* "p99 +58 %"; there is no ratio to 0: "p99 100 ns after 0 ns", and of a variance its root. */
static void add_metric(struct str *s, enum metric metric, const struct compared_metric *m, bool utf8)
{
	char change[TEXT_MAX], ci[TEXT_MAX], base[TEXT_MAX], head[TEXT_MAX];
	bool is_var = metric == METRIC_VAR;

	if (!isfinite(m->ratio) && isfinite(m->of[SIDE_BASE]) && isfinite(m->of[SIDE_HEAD]))
		str_addf(s, "%s %s after %s", metric_name(is_var ? METRIC_SD : metric),
			 text_ns(head, is_var ? sqrt(m->of[SIDE_HEAD]) : m->of[SIDE_HEAD], utf8),
			 text_ns(base, is_var ? sqrt(m->of[SIDE_BASE]) : m->of[SIDE_BASE], utf8));
	else
		str_addf(s, "%s %s", metric_name(metric), text_change(change, m->ratio));
	if (m->has_ci95)
		str_addf(s, " (95 %% CI %s)", text_change_ci95(ci, true, m->ci95));
}

/* "; 83 % of the added variance is f › lock wait" */
static void add_cause(struct str *s, const struct comparison *c, bool utf8)
{
	const struct change *first = c->changes.cnt ? &c->changes.items[0] : NULL;
	double change = c->metrics[METRIC_VAR].of[SIDE_HEAD] - c->metrics[METRIC_VAR].of[SIDE_BASE];
	_cleanup_(freep) char *label = first ? change_label(first, utf8) : NULL;
	char percent[TEXT_MAX];

	/* A change that may be 0, or that opposes the total, explains nothing. */
	if (!first || !(first->share_of_change > 0) || (first->has_ci95 && first->ci95[0] <= 0 && first->ci95[1] >= 0))
		return;
	str_addf(s, "; %s of the %s variance is %s", text_percent(percent, first->share_of_change),
		 change > 0 ? "added" : "removed", label);
}

static void add_verdict(struct str *s, const struct comparison *c, const struct compared_metric *worse, enum metric worse_metric,
			const struct compared_metric *better, enum metric better_metric, bool utf8)
{
	if (worse && better)
		str_add(s, "head is worse in one thing and better in another: ");
	else
		str_add(s, worse ? "head is worse: " : better ? "head is better: " : "no difference is shown: ");
	if (worse)
		add_metric(s, worse_metric, worse, utf8);
	if (worse && better)
		str_add(s, ", ");
	if (better)
		add_metric(s, better_metric, better, utf8);
	if (!worse && !better)
		add_metric(s, METRIC_P99, &c->metrics[METRIC_P99], utf8);
}

char *diff_sentence(const struct diff_input *in, bool utf8)
{
	const struct comparison *c = in->comparison;
	enum metric worse_metric = METRIC_P99, better_metric = METRIC_P99;
	const struct compared_metric *worse = first_with(c, VERDICT_WORSE, &worse_metric);
	const struct compared_metric *better = first_with(c, VERDICT_BETTER, &better_metric);
	struct str s = STR_INIT;

	if (!c->enough) {
		str_addf(&s, "%s only: ", text_within(c));
		add_metric(&s, METRIC_P99, &c->metrics[METRIC_P99], utf8);
		str_add(&s, ", ");
		add_metric(&s, METRIC_VAR, &c->metrics[METRIC_VAR], utf8);
		str_addf(&s, "; a verdict needs %zu %ss a side", c->least, unit_word(c));
	} else {
		add_verdict(&s, c, worse, worse_metric, better, better_metric, utf8);
		if (worse || better)
			add_cause(&s, c, utf8);
	}
	str_add(&s, ".");
	return str_take(&s);
}

/* ---- the gate ---- */

char *term_text(const struct gate_term *t, const struct comparison *c)
{
	static const char *const words[] = {
		[GATE_PASS] = "holds", [GATE_FAIL] = "is violated", [GATE_INCONCLUSIVE] = "is open",
	};
	struct str s = STR_INIT;
	char a[TEXT_MAX], b[TEXT_MAX];

	str_addf(&s, "%s %s", t->text, words[t->result]);
	if (!t->is_known)
		str_addf(&s, ": not all %ss have that figure", unit_word(c));
	if (!isfinite(t->value))
		return str_take(&s);
	if (t->subject == GATE_SHARE)
		str_addf(&s, ": %+.1f points", 100 * t->value);
	else
		str_addf(&s, ": %s", text_change(a, t->value));
	if (t->has_ci95 && t->subject == GATE_SHARE)
		str_addf(&s, " (95 %% CI %+.1f to %+.1f)", 100 * t->ci95[0], 100 * t->ci95[1]);
	else if (t->has_ci95)
		str_addf(&s, " (95 %% CI %s%s%s)", text_change_ci95(b, true, t->ci95), c->enough ? "" : " ", c->enough ? "" : text_within(c));
	return str_take(&s);
}

static bool all_known(const struct gate *g)
{
	for (size_t i = 0; i < g->terms.cnt; i++)
		if (!g->terms.items[i].is_known)
			return false;
	return true;
}

const char *text_needed(char buf[TEXT_MAX], const struct gate *g, const struct comparison *c)
{
	buf[0] = '\0';
	if (g->result != GATE_INCONCLUSIVE)
		return buf;
	if (!c->enough)
		snprintf(buf, TEXT_MAX, "a verdict needs %zu %ss a side", c->least, unit_word(c));
	else if (g->runs_needed)
		snprintf(buf, TEXT_MAX, "about %" PRIu64 " %ss a side would tell", g->runs_needed, unit_word(c));
	else if (all_known(g))
		snprintf(buf, TEXT_MAX, "the difference is too near to the limit to tell");
	return buf;
}

void diff_warn(const struct comparison *c, diff_warnings *ret)
{
	if (!c->enough && c->by_host)
		VEC_ADD(ret, (struct warning){ "few-hosts", "a side has fewer than 5 hosts: what differs may be these hosts, and not "
			"the program on them" });
	else if (!c->enough)
		VEC_ADD(ret, (struct warning){ "few-runs", "a side has fewer than 3 runs: what holds within these runs may be "
			"chance from run to run; vprof record --repeat 10 -o NAME -- COMMAND" });
	if (c->enough && c->apart)
		VEC_ADD(ret, (struct warning){ "not-interleaved", "all runs of one side came before those of the other: what the "
			"machine did meanwhile counts as a difference; vprof diff --interleave 10 -- COMMAND_A -- COMMAND_B "
			"takes turns" });
}
