/* SPDX-License-Identifier: GPL-3.0-or-later */
/* causal_targets.c - see causal_targets.h. */
#include <errno.h>
#include <string.h>

#include "analysis/causal/choose.h"
#include "base/banned.h"
#include "base/str.h"
#include "cmd/causal/causal_targets.h"
#include "cmd/messages.h"
#include "project/runs/project.h"
#include "project/runs/shown_run.h"

#define LOCK_PREFIX "lock:"

void asked_targets_release(struct asked_targets *a)
{
	causal_targets_release(&a->list);
	predictor_free(a->predictor);
	trace_free(a->trace);
	run_release(&a->run);
}

/* Reads the latest run.  Without it only the predictions are missing. */
static void read_latest(struct asked_targets *a, const struct causal_request *q, struct store *s)
{
	if (shown_run_find(s, NULL, true, &a->run, NULL) < 0 || run_trace_read(s, &a->run, &a->trace, NULL) < 0)
		return;
	trace_sort(a->trace);
	a->predictor = predictor_new(a->trace, q->interval);
	a->knows_locks = a->trace->sync_ops.cnt;
}

static int add_target(struct asked_targets *a, struct store *s, const char *text, struct experiments *e, struct diag *reterr)
{
	struct causal_target t = { .text = NULL };
	struct causal_refusal refusal = { NULL, NULL, NULL };
	int r = causal_target_parse(text, &t, reterr);

	if (r < 0)
		return r;
	r = causal_target_find(s, &t, &refusal, reterr);
	if (r == 0) {
		a->needs_kernel |= causal_target_needs_kernel(&t);
		VEC_ADD(&a->list, t);
		return 0;
	}
	if (r > 0) {
		experiments_refuse(e, refusal.target, refusal.why, refusal.instead);
		causal_refusal_release(&refusal);
	}
	causal_target_release(&t);
	return r < 0 ? r : 0;
}

static double predicted(struct asked_targets *a, const char *target)
{
	static const double half = 0.5;
	_cleanup_(experiments_freep) struct experiments *e = experiments_new();

	if (!a->predictor || !predictor_ask(a->predictor, target, &half, 1, e))
		return 0;
	return e->list.items[0].metrics[GAIN_MEAN].predicted;
}

/* Without record --order a replay does not know which thread holds which lock when: half of what the waits for the lock cost. */
static double promise(struct asked_targets *a, const char *target)
{
	_cleanup_(freep) char *wait = starts_with(target, LOCK_PREFIX) ? xasprintf("wait:%s", target + strlen(LOCK_PREFIX)) : NULL;

	double gain = predicted(a, target);

	return wait && !a->knows_locks ? predicted(a, wait) / 2 : gain;
}

/* Sorts by the predicted gain, largest first; equal gains stay in order of the factors. */
static void rank(struct asked_targets *a, strings *targets)
{
	_cleanup_(freep) double *promises = xcalloc(targets->cnt + 1, sizeof(*promises));

	for (size_t i = 0; i < targets->cnt; i++) {
		const char *target = targets->items[i];
		double p = promise(a, target);
		size_t k = i;

		for (; k > 0 && promises[k - 1] < p; k--) {
			promises[k] = promises[k - 1];
			targets->items[k] = targets->items[k - 1];
		}
		promises[k] = p;
		targets->items[k] = target;
	}
}

static int choose(struct asked_targets *a, const struct causal_request *q, struct store *s, struct experiments *e,
		  struct diag *reterr)
{
	_cleanup_(findings_freep) struct findings *f = NULL;
	strings targets = { NULL, 0, 0 };
	int r;

	if (!a->run.number && shown_run_find(s, NULL, true, &a->run, reterr) < 0)
		return diag_remedy(reterr, -ENOENT, "vprof record -- COMMAND says what to ask; or name it with --target");
	r = findings_read_sums(s, a->run.number, q->interval, &f, reterr);
	if (r < 0)
		return r;
	choose_targets(f, CHOICE_EXPERIMENT, e, &targets);
	rank(a, &targets);
	if (a->predictor)
		predictor_keep_distinct(a->predictor, &targets);
	for (size_t i = 0; r >= 0 && i < targets.cnt && (!q->k || a->list.cnt < q->k); i++)
		r = add_target(a, s, targets.items[i], e, reterr);
	VEC_RELEASE(&targets);
	return r;
}

int asked_targets_find(struct asked_targets *a, const struct causal_request *q, struct store *s, struct experiments *e,
		       struct diag *reterr)
{
	int r = 0;

	read_latest(a, q, s);
	for (size_t i = 0; r == 0 && i < q->targets.cnt; i++)
		r = add_target(a, s, q->targets.items[i], e, reterr);
	return q->targets.cnt ? r : choose(a, q, s, e, reterr);
}

void asked_targets_predict(struct asked_targets *a, struct experiments *e)
{
	const char *of = a->predictor ? predictor_interval(a->predictor) : NULL;

	if (!of || !e->interval || strcmp(of, e->interval) != 0)
		return;			/* the latest run had more intervals of another name */
	for (size_t i = 0; i < e->list.cnt; i++) {
		struct experiment *x = &e->list.items[i];
		_cleanup_(experiments_freep) struct experiments *of_one = experiments_new();

		if (!predictor_ask(a->predictor, x->target, &x->speedup, 1, of_one))
			continue;
		for (unsigned m = 0; m < GAIN_CNT; m++) {
			x->metrics[m].has_predicted = of_one->list.items[0].metrics[m].has_predicted;
			x->metrics[m].predicted = of_one->list.items[0].metrics[m].predicted;
		}
	}
}
