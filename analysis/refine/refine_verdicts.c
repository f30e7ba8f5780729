/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refine_verdicts.c - the k first factors, each named once, and their outcomes.
 *
 * The ranking of select.c has the same time under many names.  It is reported under the last name that has nearly all
 * of it, if nothing is lost:
 *
 *	f > g > h, h .8 of f or more		h
 *	f, which calls nothing and waits		f's wait: it has a class and a waker
 *	f, which only calls others		nothing: its callees above the threshold have it all
 *
 * Example, threshold 5 %: handle 100 %, of it copy 63 %, hash 35 % and its body 2 %: copy, hash; not handle.  With
 * thirty callees of 3 % each it would be handle, because no other can be named.
 */
#include "analysis/refine/refine_state.h"

#include <string.h>
#include "base/banned.h"
#include "base/str.h"

#define CHAIN 0.8 /* a factor with this part of another's share explains it */

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

static bool is_queue(const struct factor *x)
{
	return x->kind == FACTOR_WAIT && x->wait == STATE_QUEUE;
}

void refine_subjects_of(const struct refinement *r, const struct findings *f,
			const struct factor *x, refine_subjects *ret)
{
	const struct refine_state *s = r->state;
	bool outside = x->kind == FACTOR_WAIT && !is_queue(x);

	ret->cnt = 0;
	if (factor_is_runqueue(x))
		return;			/* no function causes it */
	if (x->kind != FACTOR_PAIR)
		add_subject(ret, refine_find(s, x->function, x->file, x->line), false);
	if (x->kind != FACTOR_PAIR && !x->function && !is_queue(x)) {
		indexes callers = { NULL, 0, 0 };

		refine_callers(r, &callers);
		for (size_t i = 0; i < callers.cnt; i++)
			add_subject(ret, callers.items[i], false);
		VEC_RELEASE(&callers);
	}
	/* A pair has only names: takes the functions of that name in the tree. */
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

/* Whether child is f, or below it and nearly all of it. */
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

static bool is_part(const struct factor *x)
{
	return x->kind == FACTOR_BODY || x->kind == FACTOR_WAIT;
}

/* Whether x is the same time as y, which is reported, or nearly.  A callee does not explain a body, nor does a wait
 * beside it. */
static bool tells(const struct refinement *r, const struct factor *y, const struct factor *x)
{
	uint32_t function = refine_find(r->state, x->function, x->file, x->line);
	uint32_t other = refine_find(r->state, y->function, y->file, y->line);

	if (y->kind == FACTOR_PAIR || function == FUNCTION_NONE || other == FUNCTION_NONE)
		return false;
	if (!is_part(x))
		return explains(r->state, other, function);
	return function == other && (!is_part(y) || (x->kind == y->kind && x->wait == y->wait));
}

static bool is_told(const struct refinement *r, const struct findings *f, const struct factor *x)
{
	for (size_t i = 0; i < r->verdicts.cnt && x->kind != FACTOR_PAIR; i++)
		if (tells(r, &f->factors.items[r->verdicts.items[i].factor], x))
			return true;
	return false;
}

/* ---- what only hands on ---- */

static uint64_t factor_hash(enum factor_kind kind, const char *function, const char *file, bool is_wait,
			    enum trace_state wait)
{
	if (is_wait && state_is_runqueue(wait))
		return hash_u64(1, kind);	/* one, wherever it is */

	uint64_t hash = hash_str(hash_u64(1, kind), function ? function : "");

	return hash_u64(hash_str(hash, file ? file : ""), is_wait ? 1 + (uint64_t)wait : 0);
}

/* Index + 1 of the factor of a node, for those above the threshold. */
static struct map *factors_above(const struct refinement *r, const struct findings *f)
{
	struct map *above = map_new();

	for (size_t i = 0; i < f->factors.cnt; i++) {
		const struct factor *x = &f->factors.items[i];

		if (x->kind != FACTOR_PAIR && x->share > r->options.threshold)
			map_set(above, factor_hash(x->kind, x->function, x->file, x->is_wait, x->wait), i + 1);
	}
	return above;
}

static const struct factor *above_of(const struct map *above, const struct findings *f, const struct node *n)
{
	static const enum factor_kind kinds[] = {
		[NODE_FUNCTION] = FACTOR_FUNCTION, [NODE_BODY] = FACTOR_BODY, [NODE_WAIT] = FACTOR_WAIT };
	uint64_t at;

	return map_get(above, factor_hash(kinds[n->kind], n->function, n->file, n->is_wait, n->wait), &at) ?
		&f->factors.items[at - 1] : NULL;
}

/* Whether all of x's share, less a threshold's worth, is in factors below it that are above the threshold. */
static bool hands_on(const struct refinement *r, const struct findings *f, const struct map *above,
		     const struct factor *x)
{
	_cleanup_(freep) bool *inside = xcalloc(f->nodes.cnt + 1, sizeof(*inside));
	_cleanup_(freep) bool *has_children = xcalloc(f->nodes.cnt + 1, sizeof(*has_children));
	double rest = 0;
	bool found = false;

	if (x->kind != FACTOR_FUNCTION)
		return false;
	for (size_t i = 1; i < f->nodes.cnt; i++)
		has_children[f->nodes.items[i].parent] = true;
	for (size_t i = 1; i < f->nodes.cnt; i++) {
		const struct node *n = &f->nodes.items[i];
		const struct factor *own;

		if (n->kind == NODE_BLAME)
			continue;
		inside[i] = inside[n->parent];
		own = above_of(above, f, n);
		if (own == x)
			inside[i] = found = true;
		else if (own && (n->kind != NODE_FUNCTION || own->height < x->height))
			inside[i] = false;
		if (inside[i] && (n->kind != NODE_FUNCTION || !has_children[i]) && n->share > 0)
			rest += n->share;
	}
	return found && rest <= r->options.threshold;
}

/*
 * The last link in order[] of the chain that begins with order[i], also if f comes first: functions in one circle of
 * calls have one height, so that only the share decides their order.
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

uint64_t refine_needed(const struct refinement *r, const struct findings *f,
			  const struct factor *x)
{
	const struct select_options o = { 0, r->options.threshold,
					  r->options.policy == REFINE_PAPER, false };

	return factor_intervals_needed(f, x, &o);
}

/* The functions around a queue whose thread is in no recorded function; the paper's policy looks for nothing there. */
static void find_around(const struct refinement *r, const struct findings *f, const struct factor *x, indexes *ret)
{
	ret->cnt = 0;
	if (is_queue(x) && !x->function && r->options.policy == REFINE_BUDGET &&
	    r->state->queue_nobody + r->state->queue_nobody_doubt > r->options.threshold)
		refine_around(r, f, ret);
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
	find_around(r, f, &f->factors.items[factor], &children);
	for (size_t c = 0; c < children.cnt && v.kind != REFINE_VERDICT_DEEPER; c++)
		v.kind = next && next[children.items[c]] == REFINE_ALWAYS ? REFINE_VERDICT_DEEPER : REFINE_VERDICT_OPEN;
	refine_waiters(r, f, &f->factors.items[factor], &children);
	for (size_t c = 0; c < children.cnt && !v.waiter; c++) {
		bool is_next = next && next[children.items[c]] >= REFINE_IN_INTERVALS;

		if (is_next)
			v.waiter = &r->state->p->functions[children.items[c]];
		v.kind = is_next ? REFINE_VERDICT_DEEPER : v.kind == REFINE_VERDICT_END ? REFINE_VERDICT_OPEN : v.kind;
	}
	VEC_RELEASE(&children);
	VEC_RELEASE(&subjects);
	v.needed = refine_needed(r, f, &f->factors.items[factor]);
	return v;
}

/* The factor that stands for order[i], or NULL: that one is reported already. */
static const struct factor *told_by(const struct refinement *r, const struct findings *f, const struct map *above,
				    const uint32_t *order, size_t cnt, size_t i)
{
	const struct factor *x = &f->factors.items[order[i]];

	if (is_told(r, f, x))
		return NULL;
	if (r->options.policy == REFINE_PAPER)
		return &f->factors.items[last_link(r, f, order, cnt, i)];
	if (hands_on(r, f, above, x))
		return NULL;
	return factor_to_name(f, &f->factors.items[last_link(r, f, order, cnt, i)], r->options.threshold);
}

void refine_judge(struct refinement *r, const struct findings *f, const enum refine_level *next)
{
	struct select_options o = { 0, r->options.threshold, r->options.policy == REFINE_PAPER,
				    false };
	_cleanup_(map_freep) struct map *above = factors_above(r, f);
	_cleanup_(freep) uint32_t *order = NULL;
	size_t cnt = factors_select(f, &o, &order);

	r->verdicts.cnt = 0;
	for (size_t i = 0; i < cnt && (r->options.k == 0 || r->verdicts.cnt < r->options.k); i++) {
		const struct factor *x = told_by(r, f, above, order, cnt, i);

		if (x)
			VEC_ADD(&r->verdicts, verdict_of(r, f, (uint32_t)(x - f->factors.items), next));
	}
}
