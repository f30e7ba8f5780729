/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refine_learn.c - what a run shows about each function.
 *
 * Shares are the run's own and count in its step only:
 *
 *	transaction > commit 0.8 > flush 0.7 > (wait) 0.6	total flush 0.7, own flush 0.6
 *		wait because of sync 0.5			blamed sync 0.5
 *
 * Later steps keep how often a function was called, and the most that it can have been: a function of 1 % +- 1 that
 * does not fit the budget any more is no reason for another run.
 */
#include "analysis/refine/refine_state.h"

#include <limits.h>
#include <math.h>
#include "base/banned.h"

static double positive(double x)
{
	return x > 0 ? x : 0;
}

/* Adds the error of a place to a sum; places are treated as independent. */
static void add_doubt(double *doubt, const struct node *n)
{
	if (n->has_ci95)
		*doubt = hypot(*doubt, findings_ci95_half(n->share, n->ci95));
}

/* Time of no recorded function: an interval continues in an unrecorded function, or waits for such a thread, or is in the queue
 * while its thread is in one. */
static void add_nobodys_share(struct refine_state *s, const struct findings *f, const struct node *n, bool has_children)
{
	bool queue = refine_is_queue(n) ? !has_children : n->kind == NODE_BLAME && refine_is_queue(&f->nodes.items[n->parent]);

	if (n->function || n->kind == NODE_FUNCTION || (refine_is_queue(n) && !queue))
		return;
	if (queue) {
		s->queue_nobody += positive(n->share);
		add_doubt(&s->queue_nobody_doubt, n);
	} else if (n->kind == NODE_BLAME) {
		s->blamed_nobody += positive(n->share);
		add_doubt(&s->blamed_nobody_doubt, n);
	} else {
		s->own_nobody += positive(n->share);
		add_doubt(&s->own_nobody_doubt, n);
	}
}

/* A function's own part: its body and waits, and the time that it keeps others in the queue; all of it if it has no
 * children. */
static void add_own_shares(struct refine_state *s, const struct findings *f,
			   const uint32_t *function_of)
{
	bool *has_children = xcalloc(f->nodes.cnt + 1, sizeof(*has_children));

	for (size_t i = 1; i < f->nodes.cnt; i++)
		has_children[f->nodes.items[i].parent] = true;
	for (size_t i = 1; i < f->nodes.cnt; i++) {
		const struct node *n = &f->nodes.items[i];
		uint32_t owner = n->kind == NODE_FUNCTION || n->kind == NODE_BLAME
					 ? function_of[i]
					 : function_of[n->parent];

		if (owner == FUNCTION_NONE) {
			add_nobodys_share(s, f, n, has_children[i]);
			continue;
		}
		if (n->kind == NODE_BLAME && !refine_is_queue(&f->nodes.items[n->parent])) {
			s->blamed[owner] += positive(n->share);
			add_doubt(&s->blamed_doubt[owner], n);
		} else if (n->kind != NODE_FUNCTION || !has_children[i]) {
			s->own[owner] += positive(n->share);
			add_doubt(&s->own_doubt[owner], n);
		}
	}
	free(has_children);
}

/* A function with all that it calls, over all its places, and the waits for it. */
static void add_most(struct refinement *r, const struct findings *f)
{
	struct refine_state *s = r->state;

	for (uint32_t i = 0; i < s->p->function_cnt; i++)
		if (r->levels[i] >= REFINE_IN_INTERVALS)
			s->most[i] = fmax(refine_upper(s, i, false), refine_upper(s, i, true));
	for (size_t i = 0; i < f->factors.cnt; i++) {
		const struct factor *x = &f->factors.items[i];
		uint32_t at = x->kind == FACTOR_FUNCTION ? refine_find(s, x->function, x->file, x->line)
							 : FUNCTION_NONE;

		if (at != FUNCTION_NONE)
			s->most[at] = fmax(s->most[at], x->has_ci95 ? x->ci95[1] : x->share);
	}
}

void refine_learn(struct refinement *r, const struct findings *f)
{
	struct refine_state *s = r->state;
	size_t cnt = s->p->function_cnt;
	uint32_t *function_of = xcalloc(f->nodes.cnt + 1, sizeof(*function_of));

	for (size_t i = 0; i < cnt; i++) {
		if (r->levels[i] >= REFINE_IN_INTERVALS) {
			s->calls[i] = 0;
			s->tried[i] += s->tried[i] < UCHAR_MAX;
		}
		s->total[i] = s->own[i] = s->blamed[i] = 0;
		s->own_doubt[i] = s->blamed_doubt[i] = 0;
		s->parent[i] = FUNCTION_NONE;
	}
	s->own_nobody = s->own_nobody_doubt = s->blamed_nobody = s->blamed_nobody_doubt = 0;
	s->queue_nobody = s->queue_nobody_doubt = 0;
	for (size_t i = 0; i < f->nodes.cnt; i++) {
		const struct node *n = &f->nodes.items[i];
		uint32_t at = refine_find(s, n->function, n->file, n->line);

		function_of[i] = at;
		if (n->kind != NODE_FUNCTION || at == FUNCTION_NONE)
			continue;
		s->calls[at] = positive(s->calls[at]) + n->calls_per_interval;
		if (n->share >= s->total[at]) {
			s->total[at] = n->share;
			s->parent[at] = n->parent ? function_of[n->parent] : FUNCTION_NONE;
		}
	}
	add_own_shares(s, f, function_of);
	add_most(r, f);
	refine_learn_cost(r, f);
	free(function_of);
}
