/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * causal_sentence.c - the result of causal experiments in one sentence.
 *
 *	Making log_flush 50 % faster would lower the p50 of request by 31 % (27 to 35), its mean by 8 % (7 to 9).
 */
#include <math.h>

#include "base/banned.h"
#include "base/str.h"
#include "report/views/causal_formats.h"

static bool is_gain(enum gain_metric m)
{
	return m == GAIN_THROUGHPUT;
}

/* "lower the p50 of request by 31 % (27 to 35)" */
static void add_effect(struct str *to, const struct experiments *e, const struct experiment *x, enum gain_metric m, const char *of)
{
	const struct gain *g = &x->metrics[m];
	double gain = 100 * (e->replayed ? g->predicted : g->gain);

	str_addf(to, "%s%s by %s%.2g %%", gain_metric_name(m), of, e->replayed && kind_is_replayed_only(x->kind) ? "at most " : "",
		 fabs(gain));
	if (!e->replayed && g->has_ci95)
		str_addf(to, " (%.2g to %.2g)", 100 * g->ci95[0], 100 * g->ci95[1]);
}

static void add_premise(struct str *to, const struct experiment *x)
{
	const char *name = NULL;
	enum asked_kind kind;

	experiment_target_parse(x->target, &kind, &name);
	switch (x->kind) {
	case ASKED_WAIT:
		str_addf(to, x->function ? "If nothing ever waited in %s, that" : "If the lock %s did not exist, that", name ? name : x->target);
		return;
	case ASKED_QUEUE:
		str_add(to, "One more worker");
		return;
	case ASKED_RUNQUEUE:
		str_add(to, "A CPU for each thread, always free,");
		return;
	case ASKED_CPUS:
		str_addf(to, "With %s CPU%s, which no other program uses, the run", name, strcmp(name, "1") ? "s" : "");
		return;
	default:
		str_addf(to, "Making %s %.3g %% faster", x->target, 100 * x->speedup);
	}
}

char *causal_sentence(const struct experiments *e)
{
	static const enum gain_metric others[] = { GAIN_MEAN, GAIN_VARIANCE, GAIN_P99 };
	const struct experiment *x = e->best == SIZE_MAX ? NULL : &e->list.items[e->best];
	struct str s = STR_INIT, of = STR_INIT;

	if (!x && !e->list.cnt)
		str_addf(&s, "Nothing was asked%s.", e->refused.cnt ? ": all targets are refused" : "");
	else if (!x)
		str_addf(&s, e->list.cnt == 1 ? "The experiment %s no gain%s." : "None of the experiments %s a gain%s.",
			 e->replayed ? "promises" : "shows", e->replayed ? "" : " that is more than chance");
	if (!x)
		return str_take(&s);
	if (e->replayed)
		str_add(&s, "Hypothesis, by a replay of the trace: ");
	add_premise(&s, x);
	str_addf(&of, " of %s", e->interval ? e->interval : "the interval");
	str_addf(&s, " would %s the ", is_gain(e->metric) ? "raise" : "lower");
	add_effect(&s, e, x, e->metric, str_cstr(&of));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		const struct gain *g = &x->metrics[others[i]];

		if (others[i] == e->metric || !(e->replayed ? g->has_predicted && g->predicted > 0 : g->has_ci95 && g->ci95[0] > 0))
			continue;
		str_add(&s, is_gain(e->metric) ? ", lower its " : ", its ");
		add_effect(&s, e, x, others[i], "");
	}
	str_addc(&s, '.');
	str_release(&of);
	return str_take(&s);
}
