/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iterate_round.c - one round of `vprof iterate`: plan, rebuild, run, analyse, decide.
 *
 *	round 2	refine.h says: + parse, log_append
 *		2 of 40 units recompiled, linked
 *		the user's command, recorded as run 5
 *		its findings; what the next run is to record, or why there is none
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "cmd/iterate/iterate_loop.h"
#include "cmd/messages.h"

/* If the plan does not build, restores the last one that did.  Control-C is not such a failure: the objects match
 * their records. */
static int apply(struct loop *l, struct plan *plan, struct diag *reterr)
{
	int r = build_apply(l->store, &l->scanned, plan, &l->build_command, &l->build, reterr);

	if (r < 0 && !iterate_interrupted) {
		_cleanup_(plan_freep) struct plan *empty = plan_new();
		_cleanup_(units_release) units now = { 0 };
		struct build_options quiet = l->build;

		quiet.quiet = true;
		if (build_load_units(l->store, &now, NULL) == 0)
			build_apply(l->store, &now, l->built ? l->built : empty, &l->build_command, &quiet,
				    NULL);
	}
	return r;
}

static void add_names(const struct loop *l, strings *ret)
{
	for (size_t i = 0; i < l->project->functions.cnt; i++)
		if (l->refinement->added[i])
			VEC_ADD(ret, l->project->functions.items[i].name);
}

static int keep_round(struct loop *l, const struct round *round, struct diag *reterr)
{
	_cleanup_(freep) char *selected = round_selected(round, true);
	struct iteration i = {
		.run = l->run.number,
		.first_run = l->first_run,
		.policy = (char *)refine_policy_name(l->refinement->options.policy),
		.recorded_cnt = (uint32_t)round->recorded_cnt,
		.dormant_cnt = (uint32_t)round->dormant_cnt,
		.added_cnt = (uint32_t)round->added.cnt,
		.probe_cost = l->refinement->cost,
		.selected = selected,
		.stop = (char *)l->stop,
	};

	return iteration_write(l->store, &i, reterr);
}

/* Whether the run itself, besides its findings, is a reason to stop. */
static void look_at_run(struct loop *l, const struct run *run)
{
	if (iterate_interrupted || run->exit_status == 128 + SIGINT || run->exit_status == 128 + SIGQUIT) {
		l->stop = "interrupted";
		l->status = 128 + SIGINT;
	} else if (run->exit_status && !l->ignore_status) {
		l->stop = "command-failed";
		l->status = run->exit_status;
		warn_line("'%s' ended with status %d in run %u", l->run_command.items[0],
			  run->exit_status, run->number);
	}
}

/* Takes the step, or another round with the same functions if calls are to be recorded by place. */
static void take_step(struct loop *l, bool tells)
{
	struct refinement *r = l->refinement;

	refinement_decide(r, l->findings);
	if (iterate_find_sites(l, tells && !l->stop))
		refinement_again(r);
}

/* Takes in the run's findings and prints them; asks the user before the decision. */
static int decide(struct loop *l, struct round *round, struct diag *reterr)
{
	struct refinement *r = l->refinement;
	int e = 0;

	refinement_look(r, l->findings);
	if (l->ask) {
		round_text(&l->style, round);
		e = keep_round(l, round, reterr);
		if (e == 0 && !l->stop)
			e = iterate_ask(l, reterr);
	}
	take_step(l, true);
	if (!l->stop && r->stop != REFINE_GOES_ON)
		l->stop = refine_stop_name(r->stop);
	if (!l->ask)
		round_text(&l->style, round);
	return e;
}

/* Begins the round of l->run, before its step is made. */
static int round_begin(const struct loop *l, struct round *ret, struct diag *reterr)
{
	const struct refinement *r = l->refinement;

	*ret = (struct round){
		.number = r->run_cnt + 1, .run = &l->run, .findings = l->findings, .refinement = r,
		.recorded_cnt = r->recorded_cnt, .dormant_cnt = r->dormant_cnt, .gate = r->gate,
		.variance_before_ns2 = l->variance_ns2,
	};
	add_names(l, &ret->added);
	return iterate_find_missing(l, ret, reterr);
}

static void round_end(struct loop *l, struct round *round)
{
	json_array_append_new(l->rounds, round_json(round));
	l->variance_ns2 = l->findings->interval.variance_ns2;
}

int iterate_judge(struct loop *l, struct diag *reterr)
{
	_cleanup_(round_release) struct round round;
	int r = round_begin(l, &round, reterr);

	if (r == 0)
		r = iterate_find_absent(l, reterr);
	if (r == 0)
		r = decide(l, &round, reterr);
	if (r == 0)
		r = keep_round(l, &round, reterr);
	round_end(l, &round);
	return r;
}

int iterate_retrace(struct loop *l, struct diag *reterr)
{
	_cleanup_(round_release) struct round round;
	int r = round_begin(l, &round, reterr);

	if (r < 0)
		return r;
	refinement_look(l->refinement, l->findings);
	take_step(l, false);
	round_end(l, &round);
	return 0;
}

/*
 * Even if the plan records all intervals in full, one in sixteen is root-only, to measure the cost of probes, unless
 * the run before had too few intervals for that.  Functions that the plan always records keep that level.
 */
static void set_sample(struct loop *l)
{
	static const struct sample most = { 15, 16, false, 0 }, all = { 1, 1, false, 0 };
	const struct findings *f = l->findings;
	uint32_t gate = l->refinement->gate;

	l->record.keep_levels = true;
	if (gate > 1)
		l->record.sample = (struct sample){ 1, gate, false, 0 };
	else if (f && f->interval.cnt + f->probing.root_only_cnt < 16 * REFINE_GATED_MIN)
		l->record.sample = all;
	else
		l->record.sample = most;
}

int iterate_round(struct loop *l, struct diag *reterr)
{
	_cleanup_(plan_freep) struct plan *plan = iterate_plan(l->project, l->refinement);
	_cleanup_(findings_freep) struct findings *findings = NULL;
	_cleanup_(run_release) struct run run = { 0 };
	int status, r;

	iterate_plan_sites(l, plan);
	r = apply(l, plan, reterr);

	if (r < 0)
		return r;
	plan_free(l->built);
	l->built = TAKE_PTR(plan);
	progress_line("run %u/%u", l->refinement->run_cnt + 1, l->refinement->options.max_runs);
	r = iterate_check_places(l, reterr);	/* a unit may be untouched because of the new probes */
	if (r < 0)
		return r;
	set_sample(l);
	r = record_once(l->store, NULL, &l->run_command, &l->record, &run, &findings, &status,
			reterr);
	progress_done();
	if (r < 0)
		return r;
	if (!findings) {
		l->stop = "not-instrumented";
		l->status = run.exit_status && !l->ignore_status ? run.exit_status : status;
		return 0;
	}
	look_at_run(l, &run);
	if (findings->interval.cnt == 0) {
		status = announce_findings(l->store, &run, findings);
		iterate_explain_nothing(l, run.number);
		l->status = l->status ? l->status : status;
		l->stop = l->stop ? l->stop : "no-interval";
		return 0;
	}
	run_release(&l->run);
	findings_free(l->findings);
	l->run = run;
	l->findings = TAKE_PTR(findings);
	memset(&run, 0, sizeof(run));
	if (!l->first_run) {
		l->first_run = l->run.number;
		r = iterate_keep_start(l, reterr);
	}
	return r < 0 ? r : iterate_judge(l, reterr);
}
