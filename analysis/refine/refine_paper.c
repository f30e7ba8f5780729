/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refine_paper.c - Algorithm 3: the children of the k best factors, one level a run.
 *
 * Factors are ranked by Algorithm 1.  Those that need no breaking down are skipped, so each run continues with the k
 * best of the others; a pair stands for both its functions (the paper offers it again and again unchanged: only
 * variances are broken down there, line 6). Functions that wait without a probe are recorded if nothing is left to
 * break down.
 */
#include "analysis/refine/refine_state.h"

#include <string.h>
#include "base/banned.h"

/* Adds the hidden children of one function; false if it has none. */
static bool break_down(struct refinement *r, const struct refine_subject *subject,
		       indexes *children, enum refine_level *next)
{
	bool any = false;

	if (r->answers[subject->function] == REFINE_NO)
		return false;
	refine_children(r->state, subject->function, children, NULL);
	for (size_t i = 0; i < children->cnt; i++) {
		uint32_t child = children->items[i];

		if (!refine_hidden(r, child, subject->outside))
			continue;
		if (subject->outside)
			next[child] = REFINE_ALWAYS;
		else if (next[child] < REFINE_IN_INTERVALS)
			next[child] = REFINE_IN_INTERVALS;
		any = true;
	}
	return any;
}

enum refine_stop refine_by_paper(struct refinement *r, const struct findings *f,
				 enum refine_level *next)
{
	struct select_options o = { 0, r->options.threshold, true, false };
	_cleanup_(freep) uint32_t *order = NULL;
	size_t cnt = factors_select(f, &o, &order);
	uint32_t broken_down = 0;
	refine_subjects subjects = { NULL, 0, 0 };
	indexes children = { NULL, 0, 0 };

	memcpy(next, r->levels, r->state->p->function_cnt * sizeof(*next));
	for (size_t i = 0; i < cnt && (r->options.k == 0 || broken_down < r->options.k); i++) {
		bool any = false;

		refine_subjects_of(r, f, &f->factors.items[order[i]], &subjects);
		for (size_t k = 0; k < subjects.cnt; k++)
			any |= break_down(r, &subjects.items[k], &children, next);
		broken_down += any;
	}
	children.cnt = 0;
	if (!broken_down)			/* as far as the call graph leads */
		refine_waiters(r, f, NULL, &children);
	for (size_t i = 0; i < children.cnt; i++)
		next[children.items[i]] = REFINE_IN_INTERVALS;
	broken_down += children.cnt > 0;
	VEC_RELEASE(&subjects);
	VEC_RELEASE(&children);
	return broken_down ? REFINE_GOES_ON : REFINE_CLOSED;
}
