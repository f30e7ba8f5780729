/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sentence_json.c - the sentence as data: its text, the cause that it names, and whether it can be relied on.
 *
 * It is not sure where more intervals are needed, where the cause is mostly unknown, and where the run's threads
 * had no CPU for so long that this may be the cause, or where not all was recorded.
 */
#include "base/banned.h"
#include "base/cleanup.h"
#include "report/output.h"
#include "report/words/cause_words.h"
#include "report/words/cpu_words.h"
#include "report/words/sentence.h"

static bool is_sure(const struct findings *f, const struct summed_cause *c, double threshold)
{
	if (!findings_are_whole(f) || findings_hidden_before_start(f) || !c->known || !c->has_ci95 || cause_is_parked(c) ||
	    cause_intervals_needed(f, c, threshold) || cpu_may_be_cause(f, cpu_claim_of_cause(c)))
		return false;
	return f->cpu.is_exact || c->how != HOW_RUNQUEUE || !f->cpu.is_known;
}

static bool is_sure_of_factor(const struct findings *f, const struct factor *x, const struct select_options *o)
{
	if (!findings_are_whole(f) || factor_intervals_needed(f, x, o) || cpu_may_be_cause(f, cpu_claim_of_factor(x)))
		return false;
	return f->cpu.is_exact || !factor_is_runqueue(x) || !f->cpu.is_known;
}

/* The subject of the sentence. */
static void set_subject(json_t *o, const struct run *run, const char *function, const char *file, uint32_t line, json_t *wait, const char *peer)
{
	json_set_function(o, run, function);
	json_set(o, "file", json_text(file));
	json_set(o, "line", line ? json_integer(line) : json_null());
	json_set(o, "wait", wait);
	json_set(o, "peer", json_text(peer));
}

json_t *sentence_json(const struct view_input *in)
{
	const struct findings *f = in->findings;
	const struct select_options *select = &in->options.ranking;
	_cleanup_(freep) char *text = sentence_text(f, select, true);
	const struct summed_cause *c = select->paper ? NULL : sentence_cause(f, select);
	const struct factor *x = sentence_factor(f, select);
	json_t *o = json_object();

	json_set(o, "text", json_text(text));
	json_set(o, "sure", json_boolean(c ? is_sure(f, c, select->threshold) : x && is_sure_of_factor(f, x, select)));
	if (c)
		set_subject(o, in->run, c->function, c->file, c->line, json_wait(c->known && c->is_wait, c->wait), c->peer);
	else if (x)
		set_subject(o, in->run, x->function, x->file, x->line, json_wait(x->is_wait, x->wait), NULL);
	else
		set_subject(o, in->run, NULL, NULL, 0, json_null(), NULL);
	json_set(o, "share", c ? json_number(c->share) : x ? json_number(x->paper_contribution) : json_null());
	json_set(o, "ci95", json_ci95(c && c->has_ci95, c ? c->ci95 : NULL));
	return o;
}
