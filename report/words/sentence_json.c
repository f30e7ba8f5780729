/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sentence_json.c - the sentence as data: its text, of whom it speaks, and whether it can be relied on.
 *
 * It is not sure where more intervals are needed, where who is to blame is mostly unknown, and where the run's threads
 * had no CPU for so long that this may be the cause.
 */
#include "base/banned.h"
#include "base/cleanup.h"
#include "report/output.h"
#include "report/words/cpu_words.h"
#include "report/words/sentence.h"

static bool is_unknown(const struct factor *x)
{
	return x->because_of.cnt && !x->because_of.items[0].function && x->because_of.items[0].share > x->share / 2;
}

static bool is_sure(const struct findings *f, const struct factor *x, const struct select_options *o)
{
	if (factor_intervals_needed(f, x, o) || is_unknown(x) || cpu_may_be_cause(f, x))
		return false;
	return f->cpu.is_exact || !factor_is_runqueue(x) || !f->cpu.is_known;
}

json_t *sentence_json(const struct view_input *in)
{
	const struct select_options *select = &in->options.ranking;
	_cleanup_(freep) char *text = sentence_text(in->findings, select, true);
	const struct factor *x = sentence_factor(in->findings, select);
	static const struct factor none;
	json_t *o = json_object();

	json_set(o, "text", json_text(text));
	json_set(o, "sure", json_boolean(x && is_sure(in->findings, x, select)));
	if (!x)
		x = &none;
	json_set(o, "function", json_text(x->function));
	json_set(o, "file", json_text(x->file));
	json_set(o, "line", x->line ? json_integer(x->line) : json_null());
	json_set(o, "wait", json_wait(x->is_wait, x->wait));
	json_set(o, "peer", json_null());
	json_set(o, "share", x != &none ? json_number(select->paper ? x->paper_contribution : x->share) : json_null());
	json_set(o, "ci95", json_ci95(x->has_ci95 && !select->paper, x->ci95));
	return o;
}
