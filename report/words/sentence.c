/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sentence.c - the answer in one sentence, and the labels of nodes and factors.
 *
 *	flush_log (server.c:41) causes 62 % of the variance of 'request' (95 % CI 52 to 73): log_append › lock
 *	wait (server.c:28) because of flush_log, which sleeps.
 *
 * If the data do not suffice, the cause "may cause" it, and the sentence says how many more intervals it takes.
 *
 * The subject is the first of the causes summed over the tree; with --paper, the first factor as Algorithm 1 ranks them.  The
 * sentence also says if nothing is above the threshold, if nothing varies, or if there is nothing to explain.
 */
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/text/label.h"
#include "base/text/utf8.h"
#include "report/style.h"
#include "report/words/because.h"
#include "report/words/cause_words.h"
#include "report/words/cpu_words.h"
#include "report/words/sentence.h"

#define RUN_QUEUE "waiting for a CPU"
#define NEXT_LEAST 0.1		/* of the first cause: the sentence leaves out a smaller next cause */

/* "(lock wait)", "f › lock wait" */
static char *who(const char *function, enum trace_state wait, bool utf8)
{
	if (!function)
		return xasprintf("(%s)", wait_text(wait));
	if (wait == STATE_OTHER)	/* its name needs a noun in a sentence */
		return xasprintf("%s%swait (%s)", function, glyphs_for(utf8)->then, wait_text(wait));
	return xasprintf("%s%s%s", function, glyphs_for(utf8)->then, wait_text(wait));
}

static char *body_label(const char *function)
{
	return function ? xasprintf("%s (body)", function) : xstrdup("(no probed function)");
}

char *node_label(const struct node *n, bool utf8)
{
	switch (n->kind) {
	case NODE_BODY:
		return body_label(n->function);
	case NODE_WAIT:
		return n->parent == 0 ? who(n->function, n->wait, utf8) : xstrdup(wait_text(n->wait));
	case NODE_BLAME:
		return blame_label(n);
	case NODE_FUNCTION:
		return xstrdup(n->function ? n->function : "?");
	case NODE_INTERVAL:
		break;
	}
	return xstrdup("interval");
}

char *factor_label(const struct factor *f, bool utf8)
{
	switch (f->kind) {
	case FACTOR_PAIR:
		return xasprintf("(%s, %s)", f->functions[0] ? f->functions[0] : "?",
				 f->functions[1] ? f->functions[1] : "?");
	case FACTOR_BODY:
		return body_label(f->function);
	case FACTOR_WAIT:
		if (factor_is_runqueue(f))
			return xstrdup(RUN_QUEUE);
		return who(f->function, f->wait, utf8);
	case FACTOR_FUNCTION:
		break;
	}
	return xstrdup(f->function ? f->function : "?");
}

char *part_label(const struct part *p, bool utf8)
{
	if (p->is_wait && state_is_runqueue(p->wait) && !p->function)
		return xstrdup(RUN_QUEUE);
	return p->is_wait ? who(p->function, p->wait, utf8) : body_label(p->function);
}

/* Adds a label in the form for a sentence, and frees it. */
static void add_label(struct str *to, char *label, bool utf8)
{
	label_add_readable(to, label, NAME_READABLE, glyphs_for(utf8)->ellipsis);
	free(label);
}

const struct summed_cause *sentence_cause(const struct findings *f, const struct select_options *o)
{
	bool any = f->interval.variance_ns2 > 0 && f->causes.cnt && f->causes.items[0].share > o->threshold;

	return any ? &f->causes.items[0] : NULL;
}

/* The first factor of the paper's ranking, or NULL if none is above the threshold. */
static const struct factor *paper_factor(const struct findings *f, const struct select_options *o)
{
	struct select_options select = { 1, o->threshold, true, false };
	_cleanup_(freep) uint32_t *order = NULL;

	return factors_select(f, &select, &order) ? &f->factors.items[order[0]] : NULL;
}

static void add_needed(struct str *s, const struct findings *f, uint64_t needed)
{
	char text[TEXT_MAX];

	if (f->interval.cnt < FINDINGS_INTERVALS_MIN)
		str_addf(s, " %s intervals are too few to tell: it takes at least %d.",
			 text_cnt(text, f->interval.cnt), FINDINGS_INTERVALS_MIN);
	else
		str_addf(s, " That is not resolved yet: it takes about %s more intervals to tell.",
			 text_cnt(text, needed));
}

/* Sums without windows of time have no confidence interval. */
static bool has_error(const struct findings *f, const struct summed_cause *c)
{
	return c->has_ci95 || f->interval.cnt < FINDINGS_INTERVALS_MIN;
}

static void add_missing(struct str *s, const struct findings *f)
{
	if (!findings_are_whole(f))
		str_add(s, " Not all was recorded: vprof show warnings says what is missing.");
}

/* "62 % of the variance of 'request' (95 % CI 52 to 73)".  A share above 1 is "all", with the reason why it is more. */
static void add_share(struct str *s, const struct findings *f, const struct summed_cause *c)
{
	bool above = share_is_above_all(c->share);
	const char *instead = above ? findings_instead_of(f, c->function) : NULL;
	const double *ci95 = ci95_to_show(c->has_ci95 && !(c->share > 1), c->ci95);
	char text[TEXT_MAX];

	if (instead)
		str_addf(s, "all of the variance of '%s' (intervals have it or %s)", f->interval.name, instead);
	else if (above)
		str_addf(s, "all of the variance of '%s' (and more, which other causes offset)", f->interval.name);
	else
		str_addf(s, "%s of the variance of '%s'", text_percent_with_ci95(text, c->share, ci95), f->interval.name);
	if (ci95)
		str_addf(s, " (95 %% CI %s)", text_ci95(text, ci95));
}

/* " Next: rotate_log (6.2 %), unknown (5.1 %)." */
static void add_next(struct str *s, const struct findings *f, double threshold, bool utf8)
{
	char percent[TEXT_MAX];
	size_t shown = 0;

	for (size_t i = 1; i < f->causes.cnt && shown < 2; i++) {
		const struct summed_cause *c = &f->causes.items[i];

		if (!(c->share > threshold) || c->share < NEXT_LEAST * f->causes.items[0].share)
			break;
		str_add(s, shown++ ? ", " : " Next: ");
		add_label(s, cause_label(c), utf8);
		str_addf(s, " (%s)", text_percent(percent, c->share));
	}
	if (shown)
		str_addc(s, '.');
}

static bool is_open(const struct findings *f, const struct summed_cause *c)
{
	for (size_t i = 0; i < c->places.cnt; i++) {
		const struct node *n = &f->nodes.items[c->places.items[i]];

		if (n->open && (n->kind == NODE_FUNCTION || n->kind == NODE_BODY))
			return true;
		while (n->kind == NODE_BLAME || n->kind == NODE_WAIT)	/* a wait of its own may be of something that it calls */
			n = &f->nodes.items[n->parent];
		if (n->open && c->function && n->function && strcmp(n->function, c->function) == 0)
			return true;
	}
	return false;
}

static void add_known(struct str *s, const struct findings *f, const struct summed_cause *c, uint64_t needed, bool utf8)
{
	add_label(s, cause_label(c), utf8);
	add_place(s, c->file, c->line);
	str_add(s, needed || !findings_are_whole(f) || !has_error(f, c) ? " may cause " : " causes ");
	if (c->is_estimated)
		str_add(s, "about ");
	add_share(s, f, c);
	cause_add_how(s, f, c, utf8);
	str_addc(s, '.');
	if (cause_is_parked(c))
		str_add(s, " What it waits for there is not known.");
}

static void add_unknown(struct str *s, const struct findings *f, const struct summed_cause *c, bool utf8)
{
	str_add(s, "Not known what causes ");
	add_share(s, f, c);
	str_add(s, ": ");
	cause_add_why_unknown(s, f, c, utf8);
	str_addc(s, '.');
}

/* " But requests may have waited before it, up to 4.1 ms on average, mostly for persist_backup: vprof show summary." */
static void add_before_start(struct str *s, const struct findings *f, bool utf8)
{
	const struct before_start *b = &f->before;
	char text[TEXT_MAX];

	if (!findings_hidden_before_start(f))
		return;
	str_addf(s, " But '%s' may begin too late: before it requests may wait up to %s on average (p99 ", f->interval.name,
		 text_ns(text, b->mean_ns, utf8));
	str_addf(s, "%s)", text_ns(text, (double)b->p99_ns, utf8));
	if (b->by.cnt && b->by.items[0].function) {
		str_add(s, ", mostly for ");
		add_label(s, xstrdup(b->by.items[0].function), utf8);
	} else if (b->by.cnt) {
		str_addf(s, ", mostly while its thread is busy in no probed function (%s)", would_name(f));
	}
	str_add(s, ", and that varies more (vprof show summary).");
}

static void add_cause(struct str *s, const struct findings *f, const struct summed_cause *c, const struct select_options *o, bool utf8)
{
	uint64_t needed = cause_intervals_needed(f, c, o->threshold);

	if (c->known)
		add_known(s, f, c, needed, utf8);
	else
		add_unknown(s, f, c, utf8);
	if (needed)
		add_needed(s, f, needed);
	if (c->known && !has_error(f, c))
		str_add(s, " It has no confidence interval: that takes 16 windows (vprof export --format digest --window TIME).");
	add_next(s, f, o->threshold, utf8);
	add_before_start(s, f, utf8);
	cpu_add_reason(s, f, cpu_claim_of_cause(c));
	add_missing(s, f);
	if (c->known && c->how != HOW_QUEUE && !c->peer && is_open(f, c))
		str_add(s, " It calls functions that carry no probe yet: probe them to see further.");
}

static void add_factor(struct str *s, const struct findings *f, const struct factor *first, const struct select_options *o, bool utf8)
{
	uint64_t needed = factor_intervals_needed(f, first, o);
	char percent[TEXT_MAX];

	add_label(s, factor_label(first, utf8), utf8);
	str_addf(s, " %s %s of the variance of '%s'", needed || !findings_are_whole(f) ? "may cause" : "causes",
		 text_percent(percent, first->paper_contribution), f->interval.name);
	because_add(s, f, first, utf8);
	str_addc(s, '.');
	if (needed)
		add_needed(s, f, needed);
	cpu_add_reason(s, f, cpu_claim_of_factor(first));
	add_missing(s, f);
	if (first->open)
		str_add(s, " It calls functions that carry no probe yet: probe them to see further.");
}

static void add_no_cause(struct str *s, const struct findings *f, const struct select_options *o, bool utf8)
{
	const struct summed_cause *largest = !o->paper && f->causes.cnt ? &f->causes.items[0] : NULL;
	char threshold[TEXT_MAX];

	str_addf(s, "Nothing%s causes more than %s of the variance of '%s'",
		 findings_are_whole(f) ? "" : " that was recorded", text_percent(threshold, o->threshold), f->interval.name);
	if (largest) {
		str_add(s, "; the largest cause is ");
		add_label(s, cause_label(largest), utf8);
		str_add(s, " with ");
		add_share(s, f, largest);
	}
	str_add(s, ".");
	add_missing(s, f);
}

const struct factor *sentence_factor(const struct findings *f, const struct select_options *o)
{
	return o->paper && f->interval.variance_ns2 > 0 ? paper_factor(f, o) : NULL;
}

static void add_answer(struct str *s, const struct findings *f, const struct select_options *o, bool utf8)
{
	const struct summed_cause *cause = o->paper ? NULL : sentence_cause(f, o);
	const struct factor *factor = sentence_factor(f, o);

	if (cause)
		add_cause(s, f, cause, o, utf8);
	else if (factor)
		add_factor(s, f, factor, o, utf8);
	else
		add_no_cause(s, f, o, utf8);
}

char *sentence_text(const struct findings *f, const struct select_options *o, bool utf8)
{
	const struct interval_summary *iv = &f->interval;
	struct str s = STR_INIT;
	char a[TEXT_MAX], b[TEXT_MAX];

	if (iv->cnt == 0 && f->probing.root_only_cnt)
		str_addf(&s, "None of %s intervals of '%s' was recorded in full: there is nothing to explain.",
			 text_cnt(a, f->probing.root_only_cnt), iv->name);
	else if (iv->cnt == 0)
		str_addf(&s, "No interval was completed: there is nothing to explain.");
	else if (iv->cnt == 1)
		str_addf(&s, "Only one interval of '%s' was completed (%s): a variance needs several.",
			 iv->name, text_ns(a, iv->mean_ns, utf8));
	else if (!(iv->variance_ns2 > 0))
		str_addf(&s, "'%s' does not vary: each of %s intervals took %s.", iv->name,
			 text_cnt(a, iv->cnt), text_ns(b, iv->mean_ns, utf8));
	else
		add_answer(&s, f, o, utf8);
	return str_take(&s);
}

void report_sentence(const struct findings *f, struct str *ret)
{
	static const struct select_options defaults = {
		FACTORS_K_DEFAULT, FACTORS_THRESHOLD_DEFAULT, false, false
	};
	bool utf8 = locale_is_utf8();
	_cleanup_(freep) char *sentence = sentence_text(f, &defaults, utf8);

	str_addf(ret, "%s ", glyphs_for(utf8)->answer);
	utf8_add_line(ret, sentence);
}
