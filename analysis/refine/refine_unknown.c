/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refine_unknown.c - where the time of no recorded function may be.
 *
 *	transformer()  calls  take()  (where the interval goes on)  and  transform()
 *
 * The interval's time is transform()'s, but nothing leads there from take(), which is recorded: it has returned.  So
 * its callers are examined, then theirs, up to the first that call an unrecorded function.
 *
 * In the queue nothing inside intervals helps: the thread has left the function that put the interval aside, and is in one
 * that called it, or in something else that that one calls:
 *
 *	do_command()  calls  net_read(), where it waits for the client, and  dispatch_command(), where the interval goes on
 *
 * These are recorded always, as far as they were not recorded.
 *
 * A thread that others wait for, without a recorded function, is in the function it began with, or below that.
 */
#include "analysis/refine/refine_state.h"

#include <string.h>
#include "base/banned.h"

#define LEVELS_UP 3

/* Adds the callers of those in seen; false if there are no new ones. */
static bool go_up(const struct refine_state *s, bool *seen, indexes *ret)
{
	_cleanup_(freep) bool *below = xcalloc(s->p->function_cnt + 1, sizeof(*below));

	for (uint32_t i = 0; i < s->p->function_cnt; i++)
		below[i] = seen[i];
	ret->cnt = 0;
	for (size_t i = 0; i < s->edges.cnt; i++) {
		uint32_t caller = s->edges.items[i].caller;

		if (!below[s->edges.items[i].callee] || seen[caller] || s->p->functions[caller].left_out)
			continue;
		seen[caller] = true;
		VEC_ADD(ret, caller);
	}
	return ret->cnt > 0;
}

void refine_callers(const struct refinement *r, indexes *ret)
{
	const struct refine_state *s = r->state;
	_cleanup_(freep) bool *seen = xcalloc(s->p->function_cnt + 1, sizeof(*seen));

	ret->cnt = 0;
	for (uint32_t i = 0; i < s->p->function_cnt; i++)
		seen[i] = s->p->functions[i].root;
	for (int level = 0; level < LEVELS_UP && go_up(s, seen, ret); level++)
		for (size_t i = 0; i < ret->cnt; i++)
			if (refine_has_hidden(r, ret->items[i], false))
				return;
	ret->cnt = 0;
}

/* The functions between which intervals are in the queue, or, if that is not known, where they begin and go on. */
static void find_put_aside(const struct refinement *r, const struct findings *f, bool *ret)
{
	const struct refine_project *p = r->state->p;
	bool any = false;

	for (size_t n = 0; n < f->nodes.cnt; n++) {
		const struct node *queue = &f->nodes.items[n];

		for (uint32_t i = 0; refine_is_queue(queue) && i < p->function_cnt; i++)
			if ((queue->put_aside && strcmp(p->functions[i].name, queue->put_aside) == 0) ||
			    (queue->taken_up && strcmp(p->functions[i].name, queue->taken_up) == 0))
				ret[i] = any = true;
	}
	for (uint32_t i = 0; i < p->function_cnt && !any; i++)
		ret[i] = p->functions[i].root;
}

void refine_around(const struct refinement *r, const struct findings *f, indexes *ret)
{
	const struct refine_state *s = r->state;
	_cleanup_(freep) bool *seen = xcalloc(s->p->function_cnt + 1, sizeof(*seen));
	size_t cnt = 0;

	find_put_aside(r, f, seen);
	for (int level = 0; level < LEVELS_UP && cnt == 0 && go_up(s, seen, ret); level++)
		for (size_t i = 0; i < ret->cnt; i++) {
			uint32_t at = ret->items[i];

			if (r->levels[at] < REFINE_IN_INTERVALS && !s->p->functions[at].skipped && r->answers[at] != REFINE_NO)
				ret->items[cnt++] = at;
		}
	ret->cnt = cnt;
}

bool refine_is_start(const struct refinement *r, uint32_t f)
{
	const struct refine_function *function = &r->state->p->functions[f];

	return function->start && !function->skipped && !function->left_out && r->answers[f] != REFINE_NO &&
	       r->levels[f] != REFINE_ALWAYS;
}
