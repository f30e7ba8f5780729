/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iterate_end.c - the last words of `vprof iterate`: the answer, and why this was the last run.
 *
 *	> deep6 carries 97.9 % of the variance of 'handle'
 *	  then: decoy (6.1 %)
 *	ended after 2 runs: every factor above 5 % is broken down to its end
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/text/utf8.h"
#include "cmd/iterate/iterate_loop.h"
#include "report/words/sentence.h"

static void add_too_dear(const struct loop *l, struct str *to)
{
	const struct refine_options *o = &l->refinement->options;

	str_addf(to,
		 "what is left to record is called too often for %.3g %% of the latency "
		 "(--overhead)",
		 o->overhead * 100);
	if (l->refinement->gate_intervals)
		str_addf(to, "; with %" PRIu64 " intervals a run, in place of %" PRIu64 ", it could be recorded "
			 "in one of so many", l->refinement->gate_intervals,
			 l->findings->interval.cnt + l->findings->probing.root_only_cnt);
}

/* Warns of a run with few intervals, or with many of which few were recorded in full. */
static void add_few(const struct loop *l, struct str *to)
{
	if (l->refinement->gate > 1)
		str_addf(to, "only %" PRIu64 " intervals of the run were recorded in full, one in %" PRIu32
			 ": at least %d are needed to tell, run longer", l->findings->interval.cnt,
			 l->refinement->gate, FINDINGS_INTERVALS_MIN);
	else
		str_addf(to, "the run has too few intervals to tell (at least %d)",
			 FINDINGS_INTERVALS_MIN);
}

static void add_unresolved(const struct loop *l, struct str *to)
{
	const struct refinement *r = l->refinement;

	if (!l->findings || l->findings->interval.cnt < FINDINGS_INTERVALS_MIN)
		add_few(l, to);
	else
		str_addf(to,
			 "not resolved: it takes about %" PRIu64 " more intervals to tell %s above "
			 "%.3g %%; run the command longer", r->needed * r->gate,
			 r->verdicts.cnt ? "whether the first factor is" : "whether a factor is",
			 r->options.threshold * 100);
}

static bool declined_any(const struct loop *l)
{
	for (size_t i = 0; i < l->project->functions.cnt; i++)
		if (l->refinement->answers[i] == REFINE_NO)
			return true;
	return false;
}

/* Reports what was not looked into, if there is an answer. */
static void add_left(const struct loop *l, struct str *to)
{
	_cleanup_(freep) char *left = l->findings && l->refinement->left.cnt ? left_text(l->refinement, l->findings) : NULL;

	if (left)
		str_addf(to, "; not looked into: %s", left);
}

static char *why_stopped(const struct loop *l)
{
	const struct refine_options *o = &l->refinement->options;
	double percent = o->threshold * 100;
	struct str s = STR_INIT;

	if (strcmp(l->stop, "closed") == 0)
		str_addf(&s, "every factor above %.3g %% is broken down %s%s", percent,
			 l->refinement->left.cnt ? "as far as it can be" : "to its end",
			 declined_any(l) ? ", but what you declined" : "");
	else if (strcmp(l->stop, "nothing") == 0)
		str_addf(&s, "no factor is above %.3g %%", percent);
	else if (strcmp(l->stop, "unresolved") == 0)
		add_unresolved(l, &s);
	else if (strcmp(l->stop, "too-dear") == 0)
		add_too_dear(l, &s);
	else if (strcmp(l->stop, "max-runs") == 0)
		str_addf(&s, "there is more to break down, but %u runs were made (--max-runs)",
			 o->max_runs);
	else if (strcmp(l->stop, "interrupted") == 0)
		str_add(&s, "it was interrupted; the results so far are kept, and the same command continues");
	else if (strcmp(l->stop, "quit") == 0)
		str_add(&s, "you ended it; the results so far are kept, and the same command continues");
	else if (strcmp(l->stop, "failed") == 0)
		str_add(&s, "it failed, see above; the results so far are kept, and the same command continues");
	else if (strcmp(l->stop, "command-failed") == 0)
		str_add(&s, "the command failed (--ignore-status continues)");
	else
		str_add(&s, l->stop);
	add_left(l, &s);
	return str_take(&s);
}

/* The last run's sentence. */
static char *answer_of(const struct loop *l, const struct select_options *o)
{
	return sentence_text(l->findings, o, locale_is_utf8());
}

/* The sentence names the first factor; these are the others. */
static void print_others(const struct loop *l)
{
	const struct refinement *r = l->refinement;

	for (size_t i = 1; i < r->verdicts.cnt; i++) {
		const struct factor *f = &l->findings->factors.items[r->verdicts.items[i].factor];
		_cleanup_(freep) char *label = factor_label(f, locale_is_utf8());
		_cleanup_(str_release) struct str clean = STR_INIT;
		double share = r->options.policy == REFINE_PAPER ? f->paper_contribution : f->share;

		utf8_add_line(&clean, label);
		printf("%s%s (%.1f %%%s)%s", i > 1 ? ", " : "  then: ", str_cstr(&clean), share * 100,
		       r->verdicts.items[i].needed ? ", not resolved" : "", i + 1 == r->verdicts.cnt ? "\n" : "");
	}
}

void iterate_end(struct loop *l)
{
	_cleanup_(freep) char *why = why_stopped(l);
	_cleanup_(str_release) struct str clean = STR_INIT;
	struct view_input in = { .options = VIEW_OPTIONS_INIT,
				 .run = &l->run,
				 .findings = l->findings };

	in.options.ranking.k = l->refinement->options.k;
	in.options.ranking.threshold = l->refinement->options.threshold;
	in.options.ranking.paper = l->refinement->options.policy == REFINE_PAPER;
	if (l->json) {
		json_t *document = iteration_json(l->refinement, json_incref(l->rounds),
						  l->stop, why, l->findings ? &in : NULL);

		report_write_json(stdout, document);
		json_decref(document);
		return;
	}
	if (!l->findings)
		return;

	_cleanup_(freep) char *sentence = answer_of(l, &in.options.ranking);

	utf8_add_line(&clean, sentence);
	printf("%s %s\n", locale_is_utf8() ? "▶" : ">", str_cstr(&clean));
	print_others(l);
	printf("ended after %u run%s: %s\n", l->refinement->run_cnt,
	       l->refinement->run_cnt == 1 ? "" : "s", why);
	printf("next:  vprof show variance-tree    vprof show critical-path --slowest 1    vprof "
	       "show runs\n");
}
