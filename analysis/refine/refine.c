/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refine.c - the common part of both policies: turns a run's findings into the next plan, or ends.
 */
#include "analysis/refine/refine_state.h"

#include <string.h>
#include "base/banned.h"

static const char *const policy_names[] = { "budget", "paper" };
static const char *const stop_names[] = {
	"goes-on", "closed", "nothing", "unresolved", "too-dear", "max-runs"
};

const char *refine_policy_name(enum refine_policy policy)
{
	return policy_names[policy];
}

const char *refine_stop_name(enum refine_stop stop)
{
	return stop_names[stop];
}

/* ---- new and free ---- */

struct refinement *refinement_new(const struct refine_project *p, const struct refine_options *o)
{
	struct refinement *r = xcalloc(1, sizeof(*r));
	struct refine_state *s = xcalloc(1, sizeof(*s));
	size_t cnt = p->function_cnt + 1;

	r->options = *o;
	r->probe_ns = o->probe_ns;
	r->state = s;
	r->gate = 1;
	r->levels = xcalloc(cnt, sizeof(*r->levels));
	r->added = xcalloc(cnt, sizeof(*r->added));
	r->answers = xcalloc(cnt, sizeof(*r->answers));
	refine_index(s, p);
	s->plans = map_new();
	s->calls = xcalloc(cnt, sizeof(*s->calls));
	s->tried = xcalloc(cnt, sizeof(*s->tried));
	s->most = xcalloc(cnt, sizeof(*s->most));
	s->share_cost = xcalloc(cnt, sizeof(*s->share_cost));
	s->total = xcalloc(cnt, sizeof(*s->total));
	s->own = xcalloc(cnt, sizeof(*s->own));
	s->blamed = xcalloc(cnt, sizeof(*s->blamed));
	s->own_doubt = xcalloc(cnt, sizeof(*s->own_doubt));
	s->blamed_doubt = xcalloc(cnt, sizeof(*s->blamed_doubt));
	s->parent = xcalloc(cnt, sizeof(*s->parent));
	for (uint32_t i = 0; i < p->function_cnt; i++) {
		const struct refine_function *f = &p->functions[i];

		s->calls[i] = s->most[i] = -1;
		if (!f->skipped && (f->root || f->always))
			r->levels[i] = f->always ? REFINE_ALWAYS : REFINE_IN_INTERVALS;
	}
	if (o->policy == REFINE_BUDGET)
		refine_census(r);
	for (size_t i = 0; i < p->function_cnt; i++) {
		r->added[i] = r->levels[i] >= REFINE_IN_INTERVALS;
		r->recorded_cnt += r->added[i];
	}
	return r;
}

void refinement_free(struct refinement *r)
{
	struct refine_state *s = r ? r->state : NULL;

	if (!r)
		return;
	map_free(s->by_key);
	map_free(s->by_place);
	map_free(s->plans);
	free(s->first);
	free(s->callees);
	free(s->weights);
	free(s->vias);
	free(s->same_place);
	free(s->visited);
	VEC_RELEASE(&s->edges);
	free(s->calls);
	free(s->tried);
	free(s->most);
	free(s->share_cost);
	free(s->total);
	free(s->own);
	free(s->blamed);
	free(s->own_doubt);
	free(s->blamed_doubt);
	free(s->parent);
	free(s);
	free(r->levels);
	free(r->added);
	free(r->answers);
	VEC_RELEASE(&r->verdicts);
	VEC_RELEASE(&r->left);
	free(r);
}

/* ---- the step ---- */

static void take_plan(struct refinement *r, const enum refine_level *next)
{
	r->recorded_cnt = r->dormant_cnt = 0;
	r->gate = r->state->next_gate;
	for (size_t i = 0; i < r->state->p->function_cnt; i++) {
		r->added[i] = next[i] >= REFINE_IN_INTERVALS && r->levels[i] < REFINE_IN_INTERVALS;
		r->levels[i] = next[i];
		r->recorded_cnt += next[i] >= REFINE_IN_INTERVALS;
		r->dormant_cnt += next[i] == REFINE_DORMANT;
	}
}

static bool anything_above(const struct refinement *r, const struct findings *f)
{
	struct select_options o = { 1, r->options.threshold, r->options.policy == REFINE_PAPER,
				    false };
	_cleanup_(freep) uint32_t *order = NULL;

	return factors_select(f, &o, &order) > 0;
}

/* All is broken down as far as possible: is there enough data for the answer?  The first factor is the answer; "none"
 * is the answer only if no factor may be well above the threshold. */
static uint64_t needed_to_tell(const struct refinement *r, const struct findings *f)
{
	uint64_t most = 0;

	if (r->verdicts.cnt > 0)
		return r->verdicts.items[0].needed;
	for (size_t i = 0; i < f->factors.cnt; i++) {
		uint64_t needed = f->factors.items[i].kind == FACTOR_PAIR ? 0 :
				  refine_needed(r, f, &f->factors.items[i]);

		most = needed > most ? needed : most;
	}
	return most;
}

void refinement_look(struct refinement *r, const struct findings *f)
{
	refine_learn_calls(r->state, f);
	refine_learn(r, f);
	r->run_cnt++;
	refine_judge(r, f, NULL);
}

enum refine_stop refinement_decide(struct refinement *r, const struct findings *f)
{
	_cleanup_(freep) enum refine_level *next =
		xcalloc(r->state->p->function_cnt + 1, sizeof(*next));

	r->needed = 0;
	r->state->next_gate = 1;
	r->gate_intervals = 0;
	if (f->interval.cnt < FINDINGS_INTERVALS_MIN)
		r->stop = REFINE_UNRESOLVED;
	else if (r->options.policy == REFINE_PAPER)
		r->stop = refine_by_paper(r, f, next);
	else
		r->stop = refine_by_budget(r, f, next);
	if (r->stop == REFINE_CLOSED && !anything_above(r, f))
		r->stop = REFINE_NOTHING;
	if (r->stop == REFINE_GOES_ON && r->run_cnt >= r->options.max_runs)
		r->stop = REFINE_MAX_RUNS;
	refine_judge(r, f, r->stop == REFINE_GOES_ON ? next : NULL);
	r->left.cnt = 0;
	if (r->stop == REFINE_GOES_ON)
		take_plan(r, next);
	else
		refine_find_left(r, f);
	if (r->stop == REFINE_CLOSED || r->stop == REFINE_NOTHING || r->stop == REFINE_UNRESOLVED)
		r->needed = needed_to_tell(r, f);
	if (r->needed > 0)
		r->stop = REFINE_UNRESOLVED;
	return r->stop;
}

void refinement_again(struct refinement *r)
{
	bool is_over = r->stop == REFINE_CLOSED || r->stop == REFINE_NOTHING || r->stop == REFINE_TOO_DEAR;

	if (!is_over || r->run_cnt >= r->options.max_runs)
		return;
	r->stop = REFINE_GOES_ON;
	r->left.cnt = 0;
	memset(r->added, 0, r->state->p->function_cnt * sizeof(*r->added));
}

enum refine_stop refinement_step(struct refinement *r, const struct findings *f)
{
	refinement_look(r, f);
	return refinement_decide(r, f);
}

const struct refine_function *refinement_function(const struct refinement *r, uint32_t index)
{
	return &r->state->p->functions[index];
}
