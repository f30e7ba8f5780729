/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refine.c - what both policies need: names to functions, callees, stopping.
 *
 * A function that cannot take a probe is looked through: where f calls an inlined g and g
 * calls h, h is among f's children, for that is where its time would show.
 */
#include "analysis/refine_state.h"

#include <string.h>
#include "base/banned.h"

#define OF_ACCOUNT 0.5 /* of the threshold: less is no reason for another run */

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

/* ---- names to functions ---- */

static uint64_t place_hash(const char *name, uint32_t line)
{
	return hash_u64(hash_str(0, name), line);
}

/* The findings' paths may be shortened: "src/log.c" is "/home/u/server/src/log.c". */
static bool same_file(const char *whole, const char *end)
{
	size_t whole_len = whole ? strlen(whole) : 0, end_len = end ? strlen(end) : 0;

	return end_len <= whole_len && strcmp(whole + whole_len - end_len, end ? end : "") == 0 &&
	       (end_len == 0 || end_len == whole_len || end[0] == '/' ||
		whole[whole_len - end_len - 1] == '/');
}

uint32_t refine_find(const struct refine_state *s, const char *name, const char *file,
		     uint32_t line)
{
	uint64_t at;

	if (!name || !map_get(s->by_place, place_hash(name, line), &at))
		return FUNCTION_NONE;
	for (; at; at = s->same_place[at - 1]) {
		const struct refine_function *f = &s->p->functions[at - 1];

		if (f->line == line && strcmp(f->name, name) == 0 &&
		    (!file || same_file(f->file ? f->file : "", file)))
			return (uint32_t)at - 1;
	}
	return FUNCTION_NONE;
}

/* ---- the call graph ---- */

static void group_calls(struct refine_state *s)
{
	size_t function_cnt = s->p->function_cnt;
	uint32_t *next = xcalloc(function_cnt + 1, sizeof(*next));

	free(s->first);
	s->first = xcalloc(function_cnt + 1, sizeof(*s->first));
	s->callees = xrealloc(s->callees, s->edges.cnt + 1, sizeof(*s->callees));
	s->weights = xrealloc(s->weights, s->edges.cnt + 1, sizeof(*s->weights));
	for (size_t i = 0; i < s->edges.cnt; i++)
		s->first[s->edges.items[i].caller + 1]++;
	for (size_t i = 0; i < function_cnt; i++)
		s->first[i + 1] += s->first[i];
	memcpy(next, s->first, function_cnt * sizeof(*next));
	for (size_t i = 0; i < s->edges.cnt; i++) {
		uint32_t at = next[s->edges.items[i].caller]++;

		s->callees[at] = s->edges.items[i].callee;
		s->weights[at] = s->edges.items[i].weight;
	}
	free(next);
}

/* What the run showed and the call graph did not know. */
static void learn_calls(struct refine_state *s, const struct findings *f)
{
	size_t known = s->edges.cnt;

	for (size_t i = 0; i < f->observed.cnt; i++) {
		uint64_t caller, callee;

		if (map_get(s->by_key, f->observed.items[i].caller, &caller) &&
		    map_get(s->by_key, f->observed.items[i].callee, &callee))
			VEC_ADD(&s->edges, (struct refine_call){ (uint32_t)caller - 1,
								 (uint32_t)callee - 1, 1 });
	}
	if (s->edges.cnt > known)
		group_calls(s);
}

void refine_children(struct refine_state *s, uint32_t f, indexes *ret,
		     const struct refine_function **ret_unprobed)
{
	indexes through = { NULL, 0, 0 };

	ret->cnt = 0;
	if (ret_unprobed)
		*ret_unprobed = NULL;
	s->visit++;
	VEC_ADD(&through, f);
	while (through.cnt > 0) {
		uint32_t caller = through.items[--through.cnt];

		for (uint32_t i = s->first[caller]; i < s->first[caller + 1]; i++) {
			uint32_t callee = s->callees[i];
			const struct refine_function *function = &s->p->functions[callee];

			if (callee == f || s->visited[callee] == s->visit || function->left_out)
				continue;
			s->visited[callee] = s->visit;
			if (!function->skipped && (!function->folded || function->root ||
						   function->always)) {
				VEC_ADD(ret, callee);
				continue;
			}
			if (function->skipped && ret_unprobed && !*ret_unprobed)
				*ret_unprobed = function;
			VEC_ADD(&through, callee);
		}
	}
	VEC_RELEASE(&through);
}

bool refine_settled(const struct refinement *r, uint32_t f)
{
	const struct refine_state *s = r->state;

	return s->calls[f] == 0 ||
	       (s->most[f] >= 0 && s->most[f] < OF_ACCOUNT * r->options.threshold);
}

bool refine_hidden(const struct refinement *r, uint32_t child, bool outside)
{
	if (outside)
		return r->levels[child] != REFINE_ALWAYS;
	return r->levels[child] < REFINE_IN_INTERVALS && !refine_settled(r, child);
}

bool refine_has_hidden(const struct refinement *r, uint32_t f, bool outside)
{
	indexes children = { NULL, 0, 0 };
	bool hidden = false;

	if (r->answers[f] == REFINE_NO)
		return false;
	refine_children(r->state, f, &children, NULL);
	for (size_t i = 0; i < children.cnt && !hidden; i++)
		hidden = refine_hidden(r, children.items[i], outside);
	VEC_RELEASE(&children);
	return hidden;
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
	s->p = p;
	s->by_key = map_new();
	s->by_place = map_new();
	s->plans = map_new();
	s->same_place = xcalloc(cnt, sizeof(*s->same_place));
	s->visited = xcalloc(cnt, sizeof(*s->visited));
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
		uint64_t *slot = map_slot(s->by_place, place_hash(f->name, f->line));

		if (f->key)
			map_set(s->by_key, f->key, i + 1);
		s->same_place[i] = (uint32_t)*slot;
		*slot = i + 1;
		s->calls[i] = s->most[i] = -1;
		if (!f->skipped && (f->root || f->always))
			r->levels[i] = f->always ? REFINE_ALWAYS : REFINE_IN_INTERVALS;
	}
	for (size_t i = 0; i < p->call_cnt; i++)
		VEC_ADD(&s->edges, p->calls[i]);
	group_calls(s);
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

/* It is broken down as far as it goes: do the data carry the answer?  The first factor is the answer; that
 * there is none holds if none of them may be well above the threshold after all. */
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
	learn_calls(r->state, f);
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

enum refine_stop refinement_step(struct refinement *r, const struct findings *f)
{
	refinement_look(r, f);
	return refinement_decide(r, f);
}

const struct refine_function *refinement_function(const struct refinement *r, uint32_t index)
{
	return &r->state->p->functions[index];
}
