/* SPDX-License-Identifier: GPL-3.0-or-later */
/* causal_predict.c - `vprof causal --predict`: replays a run's trace; the program does not run. */
#include <inttypes.h>

#include "analysis/causal/choose.h"
#include "analysis/causal/experiment_warnings.h"
#include "analysis/causal/predict.h"
#include "analysis/causal/unfair.h"
#include "base/banned.h"
#include "cmd/causal/causal.h"
#include "cmd/messages.h"
#include "project/config/locate.h"
#include "project/runs/project.h"
#include "project/runs/shown_run.h"

#define OFF_MAX 0.1			/* difference between the unchanged replay's mean and the recorded mean */

static int open_run(const char *text, struct store **s, struct run *run, struct trace **t, struct diag *reterr)
{
	int r = store_open(data_dir(), false, s, reterr);

	if (r == 0)
		r = shown_run_find(*s, text, true, run, reterr);
	if (r == 0)
		r = run_trace_read(*s, run, t, reterr);
	if (r == 0)
		trace_sort(*t);
	return r;
}

/* The targets that the user named, or those that the factors suggest. */
static int find_targets(const struct causal_request *q, struct store *s, const struct run *run, const struct trace *t,
			struct experiments *e, strings *ret,
			struct diag *reterr)
{
	_cleanup_(findings_freep) struct findings *f = NULL;
	int r;

	for (size_t i = 0; i < q->targets.cnt; i++)
		VEC_ADD(ret, q->targets.items[i]);
	if (q->targets.cnt)
		return 0;
	r = findings_read_sums(s, run->number, q->interval, &f, reterr);
	if (r == 0)
		choose_targets(f, t->sync_ops.cnt ? CHOICE_REPLAY_OF_LOCKS : CHOICE_REPLAY, e, ret);
	return r;
}

static int no_interval(const struct causal_request *q, const struct run *run)
{
	if (q->interval)
		return fail_now(EXIT_NO_EVIDENCE, "vprof show summary says which intervals there are", "run %" PRIu32
				" has no completed interval '%s' recorded in full", run->number, q->interval);
	return fail_now(EXIT_NO_EVIDENCE, "vprof show summary says why",
			"run %" PRIu32 " has no completed interval: nothing can be predicted",
			run->number);
}

/* Stores the predictions, unless the run has measured results. */
static int keep(struct store *s, const struct run *run, const struct experiments *e, struct diag *reterr)
{
	_cleanup_(experiments_freep) struct experiments *before = NULL;
	int r = experiments_read(s, run->number, &before, NULL);

	if (r == 0 && !before->replayed) {
		note_line("run %" PRIu32 " has measured experiments: this prediction is printed, not stored", run->number);
		return 0;
	}
	if (store_check_ours(s, NULL) < 0)
		return 0;
	return experiments_write(s, run->number, e, reterr);
}

static int answer(const struct causal_request *q, struct store *s, const struct run *run, struct experiments *e, struct diag *diag)
{
	if (q->targets.cnt == 0)
		e->refused.cnt = 0;		/* the user did not ask for them */
	if (!e->list.cnt && !q->targets.cnt)
		return fail_now(EXIT_ENVIRONMENT, "name one with --target",
				"nothing to ask: run %" PRIu32 " has no factor above %g %% that can be made"
				" faster", run->number, 100 * CHOICE_SHARE_MIN);
	if (keep(s, run, e, diag) < 0)
		return fail(diag);
	return causal_print(q, run, e);
}

int causal_predict(const struct causal_request *q, const char *text)
{
	_cleanup_(store_closep) struct store *s = NULL;
	_cleanup_(run_release) struct run run = { 0 };
	_cleanup_(trace_freep) struct trace *t = NULL;
	_cleanup_(experiments_freep) struct experiments *e = experiments_new();
	_cleanup_(predictor_freep) struct predictor *p = NULL;
	strings targets = { NULL, 0, 0 };
	struct experiment_facts facts = { .others_cpus = -1, .runqueue_share = -1 };
	struct diag diag = DIAG_INIT;

	if (open_run(text, &s, &run, &t, &diag) < 0)
		return fail(&diag);
	p = predictor_new(t, q->interval);
	if (!p)
		return no_interval(q, &run);
	e->metric = q->has_metric ? q->metric : GAIN_MEAN;
	predictor_baseline(p, e);
	if (find_targets(q, s, &run, t, e, &targets, &diag) < 0) {
		VEC_RELEASE(&targets);
		return fail(&diag);
	}
	if (!q->targets.cnt)
		predictor_keep_distinct(p, &targets);
	for (size_t i = 0; i < targets.cnt; i++) {
		progress_line("replaying run %" PRIu32 " with %s faster (%zu of %zu)", run.number, targets.items[i], i + 1,
			      targets.cnt);
		predictor_ask(p, targets.items[i], q->speedups.items, q->speedups.cnt, e);
	}
	progress_done();
	VEC_RELEASE(&targets);
	predictions_rank(e, q->targets.cnt ? 0 : q->k);
	if (e->floor > OFF_MAX)
		VEC_ADD(&e->warnings, (struct warning){
			"replay-off", arena_printf(e->arena, "the replay of the unchanged run differs from the recorded mean latency by %.0f %%:"
						   " threads do what a replay does not model (polling, batches, timeouts), so predictions"
						   " mean little", 100 * e->floor)
		});
	facts.unfair_share = unfair_lock(t, &facts.unfair_lock);
	experiment_warnings(e, &facts);
	return answer(q, s, &run, e, &diag);
}
