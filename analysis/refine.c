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
#include "base/str.h"

#define OF_ACCOUNT 0.5 /* of the threshold: less is no reason for another run */
#define CHAIN 0.8 /* a callee with this part of its caller's share explains it */

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
	free(r);
}

/* ---- factors ---- */

/* "f", "body of f", "wait:lock in f": f. */
static const char *member_function(const char *label)
{
	const char *in = strstr(label, " in ");

	if (starts_with(label, "body of "))
		return label + strlen("body of ");
	return starts_with(label, "wait:") && in ? in + strlen(" in ") : label;
}

static void add_subject(refine_subjects *list, uint32_t function, bool outside)
{
	if (function == FUNCTION_NONE)
		return;
	for (size_t i = 0; i < list->cnt; i++)
		if (list->items[i].function == function && list->items[i].outside == outside)
			return;
	VEC_ADD(list, (struct refine_subject){ function, outside });
}

void refine_subjects_of(const struct refinement *r, const struct findings *f,
			const struct factor *x, refine_subjects *ret)
{
	const struct refine_state *s = r->state;
	bool outside = x->kind == FACTOR_WAIT && x->wait != STATE_QUEUE;

	ret->cnt = 0;
	if (x->kind != FACTOR_PAIR)
		add_subject(ret, refine_find(s, x->function, x->file, x->line), false);
	/* A pair has but names: functions of that name in the tree. */
	for (size_t m = 0; x->kind == FACTOR_PAIR && m < 2; m++)
		for (size_t i = 1; i < f->nodes.cnt; i++) {
			const struct node *n = &f->nodes.items[i];

			if (n->kind == NODE_FUNCTION && n->function && x->functions[m] &&
			    strcmp(n->function, member_function(x->functions[m])) == 0)
				add_subject(ret, refine_find(s, n->function, n->file, n->line),
					    false);
		}
	for (size_t i = 0; i < x->because_of.cnt; i++) {
		const struct because *b = &x->because_of.items[i];

		if (!b->function || b->share <= r->options.threshold)
			continue;
		for (size_t n = 1; n < f->nodes.cnt; n++)
			if (f->nodes.items[n].kind == NODE_BLAME && f->nodes.items[n].function &&
			    strcmp(f->nodes.items[n].function, b->function) == 0)
				add_subject(ret,
					    refine_find(s, b->function, b->file,
							f->nodes.items[n].line),
					    outside);
	}
}

/* Is child f, or below it and nearly all of it? */
static bool explains(const struct refine_state *s, uint32_t child, uint32_t f)
{
	if (child == f)
		return true;
	if (s->total[child] < CHAIN * s->total[f])
		return false;
	for (unsigned steps = 0; child != FUNCTION_NONE && steps < s->p->function_cnt; steps++) {
		child = s->parent[child];
		if (child == f)
			return true;
	}
	return false;
}

/* f > g > h where h is nearly all of f: h says it all (study/stats.md 1.3, chain collapse). */
static bool is_told(const struct refinement *r, const struct findings *f, const struct factor *x)
{
	uint32_t function = refine_find(r->state, x->function, x->file, x->line);

	if (x->kind == FACTOR_PAIR || function == FUNCTION_NONE)
		return false;
	for (size_t i = 0; i < r->verdicts.cnt; i++) {
		const struct factor *told = &f->factors.items[r->verdicts.items[i].factor];
		uint32_t other = refine_find(r->state, told->function, told->file, told->line);

		if (told->kind != FACTOR_PAIR && other != FUNCTION_NONE &&
		    explains(r->state, other, function))
			return true;
	}
	return false;
}

/*
 * The same chain, should f come first: functions in one circle of calls are of one height, so that the
 * score goes by share alone.  Of order[], the last link of the chain that begins with order[i].
 */
static uint32_t last_link(const struct refinement *r, const struct findings *f,
			  const uint32_t *order, size_t cnt, size_t i)
{
	const struct factor *x = &f->factors.items[order[i]];
	uint32_t first = refine_find(r->state, x->function, x->file, x->line);
	uint32_t last = first, ret = order[i];

	if (x->kind != FACTOR_FUNCTION || first == FUNCTION_NONE)
		return ret;
	for (size_t j = i + 1; j < cnt; j++) {
		const struct factor *y = &f->factors.items[order[j]];
		uint32_t other = refine_find(r->state, y->function, y->file, y->line);

		if (y->kind == FACTOR_FUNCTION && other != FUNCTION_NONE && other != last &&
		    explains(r->state, other, first) && explains(r->state, other, last)) {
			last = other;
			ret = order[j];
		}
	}
	return ret;
}

static uint64_t needed_of(const struct refinement *r, const struct findings *f,
			  const struct factor *x)
{
	const struct select_options o = { 0, r->options.threshold,
					  r->options.policy == REFINE_PAPER, false };

	return factor_intervals_needed(f, x, &o);
}

static struct refine_verdict verdict_of(struct refinement *r, const struct findings *f,
					uint32_t factor, const enum refine_level *next)
{
	struct refine_verdict v = { .factor = factor, .kind = REFINE_VERDICT_END };
	refine_subjects subjects = { NULL, 0, 0 };
	indexes children = { NULL, 0, 0 };

	refine_subjects_of(r, f, &f->factors.items[factor], &subjects);
	for (size_t k = 0; k < subjects.cnt; k++) {
		const struct refine_subject *subject = &subjects.items[k];
		const struct refine_function *unprobed;

		refine_children(r->state, subject->function, &children, &unprobed);
		v.unprobed = v.unprobed ? v.unprobed : unprobed;
		for (size_t c = 0; c < children.cnt; c++) {
			uint32_t child = children.items[c];

			if (!refine_hidden(r, child, subject->outside))
				continue;
			if (next && next[child] >= REFINE_IN_INTERVALS)
				v.kind = REFINE_VERDICT_DEEPER;
			else if (v.kind == REFINE_VERDICT_END)
				v.kind = REFINE_VERDICT_OPEN;
		}
	}
	VEC_RELEASE(&children);
	VEC_RELEASE(&subjects);
	v.needed = needed_of(r, f, &f->factors.items[factor]);
	return v;
}

static void judge(struct refinement *r, const struct findings *f, const enum refine_level *next)
{
	struct select_options o = { 0, r->options.threshold, r->options.policy == REFINE_PAPER,
				    false };
	_cleanup_(freep) uint32_t *order = NULL;
	size_t cnt = factors_select(f, &o, &order);

	r->verdicts.cnt = 0;
	for (size_t i = 0; i < cnt && (r->options.k == 0 || r->verdicts.cnt < r->options.k); i++)
		if (!is_told(r, f, &f->factors.items[order[i]]))
			VEC_ADD(&r->verdicts,
				verdict_of(r, f, last_link(r, f, order, cnt, i), next));
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
				  needed_of(r, f, &f->factors.items[i]);

		most = needed > most ? needed : most;
	}
	return most;
}

void refinement_look(struct refinement *r, const struct findings *f)
{
	learn_calls(r->state, f);
	refine_learn(r, f);
	r->run_cnt++;
	judge(r, f, NULL);
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
	judge(r, f, r->stop == REFINE_GOES_ON ? next : NULL);
	if (r->stop == REFINE_GOES_ON)
		take_plan(r, next);
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
