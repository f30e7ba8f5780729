/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sentence.c - the answer in one sentence, and what nodes and factors are called.
 *
 *	log_append › lock wait causes 62 % of the variance of 'request' (95 % CI 52 to 73); because of
 *	flush_log (60 %).
 *
 * Where the data do not carry it, it "may cause", and how much more is needed is said.
 *
 * The subject is the first of the ranking, or, where that does little but wait, its wait.  When nothing is above the threshold, when nothing
 * varies, when there is nothing to say anything about, that is the sentence.
 */
#include <string.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/text/label.h"
#include "base/text/utf8.h"
#include "report/style.h"
#include "report/words/because.h"
#include "report/words/cpu_words.h"
#include "report/words/sentence.h"

#define RUN_QUEUE "waiting for a CPU"

const char *wait_text(enum trace_state wait)
{
	static const char *const texts[STATE_CNT] = {
#define X(id, name) [STATE_##id] = name " wait",
		WAIT_CLASSES(X)
#undef X
		[STATE_RUNNING] = "running time", [STATE_RUNNABLE] = "runnable time", [STATE_WAKEUP] = "wakeup delay",
		[STATE_OTHER] = "off the CPU, unknown why",
	};

	return texts[wait];
}

/* "(lock wait)", "f › lock wait" */
static char *who(const char *function, enum trace_state wait, bool utf8)
{
	if (!function)
		return xasprintf("(%s)", wait_text(wait));
	if (wait == STATE_OTHER)	/* in a sentence it needs a noun */
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

/* As a sentence tells it. */
static char *readable_label(const struct factor *f, bool utf8)
{
	_cleanup_(freep) char *label = factor_label(f, utf8);
	struct str s = STR_INIT;

	label_add_readable(&s, label, NAME_READABLE, glyphs_for(utf8)->ellipsis);
	return str_take(&s);
}

/* The first of the ranking, or NULL if none is above the threshold. */
static const struct factor *first_factor(const struct findings *f, const struct select_options *o)
{
	struct select_options select = { 1, o->threshold, o->paper, false };
	_cleanup_(freep) uint32_t *order = NULL;

	return factors_select(f, &select, &order) ? &f->factors.items[order[0]] : NULL;
}

/* Best share among all that are not pairs; NULL if there are none. */
static const struct factor *largest_factor(const struct findings *f)
{
	const struct factor *best = NULL;

	for (size_t i = 0; i < f->factors.cnt; i++) {
		const struct factor *x = &f->factors.items[i];

		if (x->kind != FACTOR_PAIR && (!best || x->share > best->share))
			best = x;
	}
	return best;
}

static const double *ci95_of(const struct factor *f, const struct select_options *o)
{
	/* A hair above the whole is the whole: there is nothing to be told more finely. */
	bool whole = f->share > 1 && !share_is_above_all(f->share);

	return ci95_to_show(f->has_ci95 && !o->paper && !whole, f->ci95);
}

static const char *share_text(char buf[TEXT_MAX], const struct factor *f, const struct select_options *o)
{
	return text_percent_with_ci95(buf, o->paper ? f->paper_contribution : f->share, ci95_of(f, o));
}

/* "62 % of the variance of 'request' (95 % CI 52 to 73)" */
static void add_ci95(struct str *s, const struct findings *all, const struct factor *f, const struct select_options *o)
{
	const char *instead = share_is_above_all(f->share) ? findings_instead_of(all, f) : NULL;
	char text[TEXT_MAX];

	if (!ci95_of(f, o))
		return;
	str_addf(s, " (95 %% CI %s", text_ci95(text, f->ci95));
	if (instead)
		str_addf(s, "; above 100 %%: intervals have it or %s", instead);
	else if (share_is_above_all(f->share))
		str_add(s, "; above 100 %: other parts make up for some of it");
	str_addc(s, ')');
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

/* What had no room may be what causes it. */
static bool is_whole(const struct findings *f)
{
	for (size_t i = 0; i < f->warnings.cnt; i++)
		if (strcmp(f->warnings.items[i].code, "table-full") == 0 ||
		    strcmp(f->warnings.items[i].code, "names-missing") == 0)
			return false;
	return true;
}

static void add_missing(struct str *s, const struct findings *f)
{
	if (!is_whole(f))
		str_add(s, " Not all was recorded: vprof show warnings says what is missing.");
}

/* Where a function is named and most of it is one wait, but not nearly all: "; 64 % by its lock wait, because of flush". */
static void add_main_wait(struct str *s, const struct findings *f, const struct factor *first, const struct select_options *o,
			  bool utf8)
{
	const struct factor *wait = NULL;
	char percent[TEXT_MAX];

	for (size_t i = 0; first->kind == FACTOR_FUNCTION && !o->paper && i < f->factors.cnt; i++) {
		const struct factor *x = &f->factors.items[i];

		if (x->kind == FACTOR_WAIT && x->function && first->function && !strcmp(x->function, first->function) &&
		    x->line == first->line && x->share >= first->share / 2 &&
		    x->share < NEARLY_ALL * first->share && (!wait || x->share > wait->share))
			wait = x;
	}
	if (!wait || !wait->because_of.cnt)
		return;
	str_addf(s, "; %s by its %s", text_percent(percent, wait->share), wait_text(wait->wait));
	because_add(s, f, wait, utf8);
}

static void add_cause(struct str *s, const struct findings *f, const struct factor *first,
		      const struct select_options *o, bool utf8)
{
	_cleanup_(freep) char *label = readable_label(first, utf8);
	uint64_t needed = factor_intervals_needed(f, first, o);
	char percent[TEXT_MAX];

	str_addf(s, "%s %s %s of the variance of '%s'", label, needed || !is_whole(f) ? "may cause" : "causes",
		 share_text(percent, first, o), f->interval.name);
	add_ci95(s, f, first, o);
	because_add(s, f, first, utf8);
	add_main_wait(s, f, first, o, utf8);
	str_add(s, ".");
	if (needed)
		add_needed(s, f, needed);
	cpu_add_reason(s, f, first);
	add_missing(s, f);
	if (first->open)
		str_add(s, " It calls functions that carry no probe yet: probe them to see further.");
}

static void add_no_cause(struct str *s, const struct findings *f, const struct select_options *o,
			 bool utf8)
{
	const struct factor *largest = largest_factor(f);
	char threshold[TEXT_MAX], percent[TEXT_MAX];

	str_addf(s, "Nothing%s causes more than %s of the variance of '%s'",
		 is_whole(f) ? "" : " that was recorded", text_percent(threshold, o->threshold), f->interval.name);
	if (largest) {
		_cleanup_(freep) char *label = readable_label(largest, utf8);

		str_addf(s, "; the largest factor is %s with %s", label,
			 share_text(percent, largest, o));
		add_ci95(s, f, largest, o);
	}
	str_add(s, ".");
	add_missing(s, f);
}

const struct factor *sentence_factor(const struct findings *f, const struct select_options *o)
{
	const struct factor *first = f->interval.variance_ns2 > 0 ? first_factor(f, o) : NULL;

	return first && !o->paper ? factor_to_name(f, first, o->threshold) : first;
}

char *sentence_text(const struct findings *f, const struct select_options *o, bool utf8)
{
	const struct interval_summary *iv = &f->interval;
	const struct factor *first;
	struct str s = STR_INIT;
	char a[TEXT_MAX], b[TEXT_MAX];

	if (iv->cnt == 0 && f->probing.root_only_cnt) {
		str_addf(&s, "None of %s intervals of '%s' was recorded in full: there is nothing to explain.",
			 text_cnt(a, f->probing.root_only_cnt), iv->name);
	} else if (iv->cnt == 0) {
		str_addf(&s, "No interval was completed: there is nothing to explain.");
	} else if (iv->cnt == 1) {
		str_addf(&s, "Only one interval of '%s' was completed (%s): a variance needs several.",
			 iv->name, text_ns(a, iv->mean_ns, utf8));
	} else if (!(iv->variance_ns2 > 0)) {
		str_addf(&s, "'%s' does not vary: each of %s intervals took %s.", iv->name,
			 text_cnt(a, iv->cnt), text_ns(b, iv->mean_ns, utf8));
	} else if ((first = sentence_factor(f, o))) {
		add_cause(&s, f, first, o, utf8);
	} else {
		add_no_cause(&s, f, o, utf8);
	}
	return str_take(&s);
}

char *sentence_about(const struct findings *f, const struct factor *x, const struct select_options *o, bool utf8)
{
	struct str s = STR_INIT;

	add_cause(&s, f, x, o, utf8);
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
