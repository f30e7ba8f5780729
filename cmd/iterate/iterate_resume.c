/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iterate_resume.c - continues an iteration that was interrupted.
 *
 * Of refine.h's state only the inputs are stored: each run's plan and findings, and the user's answers.  They go
 * through the same steps again:
 *
 *	run 4	plan r, a, b	found a 60 %	taken in
 *	run 5	plan r, a, b, c	found c 59 %	taken in, reported and decided on again: what next?
 *	run 6	killed, or ended by Control-C: made again
 *
 * It continues only with the same command, options, sources and vprof.conf; else it reports what differs and starts
 * anew.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/map.h"
#include "cmd/iterate/iterate_loop.h"
#include "cmd/messages.h"
#include "store/iteration_start.h"

/* The run of its plan is complete, and its findings count. */
static bool is_whole(const struct iteration *i)
{
	return !i->stop || strcmp(i->stop, "quit") == 0 || strcmp(i->stop, "max-runs") == 0;
}

/* Finds the complete runs of the latest iteration; none if it came to its end. */
static void find_unfinished(const struct loop *l, const iterations *all, iterations *ret)
{
	const struct iteration *last = all->cnt ? &all->items[all->cnt - 1] : NULL;

	if (!last || (!is_whole(last) && strcmp(last->stop, "interrupted") != 0 &&
		      strcmp(last->stop, "command-failed") != 0))
		return;
	for (size_t i = 0; i < all->cnt; i++)
		if (all->items[i].first_run == last->first_run && is_whole(&all->items[i]))
			VEC_ADD(ret, all->items[i]);
	if (last->stop && strcmp(last->stop, "max-runs") == 0 && ret->cnt >= l->options.max_runs)
		ret->cnt = 0;
}

/* ---- the runs once more ---- */

/* recorded: of the run before, then of this one. */
static void take_levels(struct loop *l, const planned_functions *plan, bool *recorded)
{
	static const enum refine_level levels[] = {
		[PLANNED_IN_INTERVALS] = REFINE_IN_INTERVALS, [PLANNED_ALWAYS] = REFINE_ALWAYS,
		[PLANNED_DORMANT] = REFINE_DORMANT,
	};
	_cleanup_(map_freep) struct map *level_of = map_new();
	struct refinement *r = l->refinement;

	for (size_t i = 0; i < plan->cnt; i++)
		map_set(level_of, plan->items[i].key, levels[plan->items[i].level]);
	r->recorded_cnt = r->dormant_cnt = 0;
	for (size_t i = 0; i < l->project->functions.cnt; i++) {
		uint64_t level = REFINE_OUT;

		map_get(level_of, l->project->functions.items[i].key, &level);
		r->levels[i] = (enum refine_level)level;
		r->added[i] = level >= REFINE_IN_INTERVALS && !recorded[i];
		recorded[i] = level >= REFINE_IN_INTERVALS;
		r->recorded_cnt += recorded[i];
		r->dormant_cnt += level == REFINE_DORMANT;
	}
}

static int read_run(struct loop *l, uint32_t number, bool *recorded, struct diag *reterr)
{
	_cleanup_(freep) char *text = xasprintf("%u", number);
	planned_functions plan = { NULL, 0, 0 };
	int r = planned_read(l->store, number, &plan, reterr);

	run_release(&l->run);
	findings_free(l->findings);
	l->findings = NULL;
	if (r == 0)
		r = run_find(l->store, text, &l->run, reterr);
	if (r == 0)
		r = findings_read_sums(l->store, number, NULL, &l->findings, reterr);
	if (r == 0)
		take_levels(l, &plan, recorded);
	VEC_RELEASE(&plan);
	return r;
}

static int take_answers(struct loop *l, uint32_t first_run, struct diag *reterr)
{
	_cleanup_(map_freep) struct map *answer_of = map_new();
	iteration_answers list;
	int r = iteration_answers_read(l->store, first_run, &list, reterr);

	for (size_t i = 0; i < list.cnt; i++)
		map_set(answer_of, list.items[i].function,
			list.items[i].deeper ? REFINE_YES : REFINE_NO);
	for (size_t i = 0; i < l->project->functions.cnt; i++) {
		uint64_t answer;

		if (map_get(answer_of, l->project->functions.items[i].key, &answer))
			l->refinement->answers[i] = (enum refine_answer)answer;
	}
	VEC_RELEASE(&list);
	return r;
}

static int replay(struct loop *l, const iterations *whole, struct diag *reterr)
{
	_cleanup_(freep) bool *recorded = xcalloc(l->project->functions.cnt + 1, sizeof(*recorded));
	int r = take_answers(l, whole->items[0].first_run, reterr);

	for (size_t i = 0; r == 0 && i < whole->cnt; i++) {
		r = read_run(l, whole->items[i].run, recorded, reterr);
		if (r < 0)
			break;
		l->first_run = whole->items[0].first_run;
		plan_free(l->built);
		l->built = iterate_plan(l->project, l->refinement);
		if (i + 1 < whole->cnt) {
			r = iterate_retrace(l, reterr);
			continue;
		}
		iterate_plan_sites(l, l->built);
		r = iterate_judge(l, reterr);
	}
	if (r < 0)
		diag_remedy(reterr, r, "--restart begins anew");
	return r;
}

/* It ended because of --max-runs: a larger limit continues it, but it was not interrupted. */
static bool ran_out(const iterations *whole)
{
	const char *stop = whole->items[whole->cnt - 1].stop;

	return stop && strcmp(stop, "max-runs") == 0;
}

static int go_on(struct loop *l, const iterations *whole, struct diag *reterr)
{
	_cleanup_(iteration_start_release) struct iteration_start start = { 0 };
	_cleanup_(freep) char *why_not = NULL;
	uint32_t first_run = whole->items[0].first_run;
	int r = iteration_start_read(l->store, first_run, &start, reterr);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	why_not = iterate_start_difference(l, &start);
	if (why_not && ran_out(whole))
		return 0;
	if (why_not) {
		note_line("the iteration that began with run %u is not finished, but %s: starting anew",
			  first_run, why_not);
		return 0;
	}
	note_line("continuing the iteration that began with run %u: %zu run%s of it %s complete, here is "
		  "the last (--restart starts anew)", first_run, whole->cnt, whole->cnt == 1 ? "" : "s",
		  whole->cnt == 1 ? "is" : "are");
	return replay(l, whole, reterr);
}

int iterate_resume(struct loop *l, struct diag *reterr)
{
	_cleanup_(iterations_release) iterations all = { NULL, 0, 0 };
	iterations whole = { NULL, 0, 0 };	/* shares all its texts */
	int r = iterations_read(l->store, &all, reterr);

	if (r == 0)
		find_unfinished(l, &all, &whole);
	if (r == 0 && whole.cnt)
		r = go_on(l, &whole, reterr);
	VEC_RELEASE(&whole);
	return r;
}
