/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refine_left.c - what the iteration leaves: functions that wait without a probe, and functions that cannot be broken
 * down.
 *
 *	handle > wait:lock .62	called by lock_slow .60, by handle itself .02		lock_slow is recorded next
 *	handle > wait:cond .20	called by foo_get of libfoo.so				left, for vprof built nothing of it
 *	parse (body) .30	calls fast_hash, which cannot take a probe		left as well: it may be that one's
 */
#include "analysis/refine/refine_state.h"

#include <stdlib.h>
#include <string.h>
#include "base/banned.h"

static uint32_t function_of(const struct refine_state *s, const struct waiter *w)
{
	uint64_t at;

	return w->key && map_get(s->by_key, w->key, &at) ? (uint32_t)at - 1 : FUNCTION_NONE;
}

static bool is_inside(const struct waiter *w, const struct factor *x)
{
	const char *name = w->inside ? w->inside : "", *other = x->function ? x->function : "";

	return strcmp(name, other) == 0 && w->inside_line == x->line &&
	       (x->kind == FACTOR_FUNCTION || (x->kind == FACTOR_WAIT && x->wait == w->wait));
}

static bool is_declined(const struct refinement *r, const struct waiter *w)
{
	uint32_t inside = refine_find(r->state, w->inside, w->inside_file, w->inside_line);

	return inside != FUNCTION_NONE && r->answers[inside] == REFINE_NO;
}

/* Why it is not recorded next; REFINE_LEFT_OPEN: it is. */
static enum refine_left_why why_not(const struct refinement *r, const struct waiter *w)
{
	uint32_t at = function_of(r->state, w);
	const struct refine_function *f = at == FUNCTION_NONE ? NULL : &r->state->p->functions[at];

	if (!f)
		return w->is_built ? REFINE_LEFT_UNKNOWN : REFINE_LEFT_FOREIGN;
	if (f->skipped)
		return REFINE_LEFT_SKIPPED;
	if (f->left_out || (f->looked_through && !f->root && !f->always))
		return REFINE_LEFT_OUT;
	if (r->levels[at] >= REFINE_IN_INTERVALS)
		return REFINE_LEFT_UNRECORDED;
	return is_declined(r, w) ? REFINE_LEFT_DECLINED : REFINE_LEFT_OPEN;
}

/* The joint share of one function in several places, or several classes. */
static double share_of(const struct findings *f, const struct waiter *w)
{
	double share = 0;

	for (size_t i = 0; i < f->waiters.cnt; i++)
		if (w->key && f->waiters.items[i].key == w->key)
			share += f->waiters.items[i].share;
	return w->key ? share : w->share;
}

static void add_once(indexes *list, uint32_t function)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (list->items[i] == function)
			return;
	VEC_ADD(list, function);
}

void refine_waiters(const struct refinement *r, const struct findings *f, const struct factor *inside, indexes *ret)
{
	ret->cnt = 0;
	for (size_t i = 0; i < f->waiters.cnt; i++) {
		const struct waiter *w = &f->waiters.items[i];

		if (share_of(f, w) > r->options.threshold && (!inside || is_inside(w, inside)) &&
		    why_not(r, w) == REFINE_LEFT_OPEN)
			add_once(ret, function_of(r->state, w));
	}
}

/* ---- at the end ---- */

static void add_waits(struct refinement *r, const struct findings *f)
{
	for (uint32_t i = 0; i < f->waiters.cnt; i++) {
		const struct waiter *w = &f->waiters.items[i];
		uint32_t at = function_of(r->state, w);

		if (w->share > r->options.threshold && !w->is_outer)
			VEC_ADD(&r->left, (struct refine_left){ why_not(r, w), i, FUNCTION_NONE,
				at == FUNCTION_NONE ? NULL : &r->state->p->functions[at], w->share });
	}
}

/* A function's running time outside its probed callees, over all its places. */
static double *body_shares(const struct refinement *r, const struct findings *f)
{
	_cleanup_(freep) bool *has_children = xcalloc(f->nodes.cnt + 1, sizeof(*has_children));
	double *shares = xcalloc(r->state->p->function_cnt + 1, sizeof(*shares));

	for (size_t i = 1; i < f->nodes.cnt; i++)
		has_children[f->nodes.items[i].parent] = true;
	for (size_t i = 1; i < f->nodes.cnt; i++) {
		const struct node *n = &f->nodes.items[i];
		uint32_t at = n->kind == NODE_BODY || (n->kind == NODE_FUNCTION && !has_children[i]) ?
			refine_find(r->state, n->function, n->file, n->kind == NODE_BODY ?
				    f->nodes.items[n->parent].line : n->line) : FUNCTION_NONE;

		if (at != FUNCTION_NONE)
			shares[at] += n->share;
	}
	return shares;
}

static void add_bodies(struct refinement *r, const struct findings *f)
{
	_cleanup_(freep) double *shares = body_shares(r, f);
	indexes children = { NULL, 0, 0 };

	for (uint32_t i = 0; i < r->state->p->function_cnt; i++) {
		const struct refine_function *unprobed = NULL;

		if (shares[i] <= r->options.threshold)
			continue;
		refine_children(r->state, i, &children, &unprobed);
		if (unprobed)
			VEC_ADD(&r->left, (struct refine_left){ REFINE_LEFT_SKIPPED, UINT32_MAX, i, unprobed, shares[i] });
	}
	VEC_RELEASE(&children);
}

static int by_share(const void *pa, const void *pb)
{
	const struct refine_left *a = pa, *b = pb;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	if (a->waiter != b->waiter)
		return a->waiter < b->waiter ? -1 : 1;
	return (a->caller > b->caller) - (a->caller < b->caller);
}

void refine_find_left(struct refinement *r, const struct findings *f)
{
	r->left.cnt = 0;
	add_waits(r, f);
	add_bodies(r, f);
	if (r->left.cnt > 1)
		qsort(r->left.items, r->left.cnt, sizeof(*r->left.items), by_share);
}
