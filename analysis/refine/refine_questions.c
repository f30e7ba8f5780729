/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refine_questions.c - what the next run would break down, one question each (Algorithm 3, line 8: the developer
 * decides).
 *
 * paper: the factors in their order, until k of them are to be broken down; a declined one does not count among the
 * k.  k = 2, factors a, b, c, all call what was not recorded: a no, b yes, c yes. budget: each function of the scope,
 * the largest part of the variance first.
 *
 * Each function is asked about once an iteration, so an answer also holds in later runs.  No to a pair declines those
 * of its functions that got no yes before.
 */
#include "analysis/refine/refine_state.h"

#include <string.h>
#include "base/banned.h"

static bool is_open(const struct refinement *r, const struct refine_subject *subject)
{
	return refine_has_hidden(r, subject->function, subject->outside);
}

static void add_function(struct refine_question *q, const struct refinement *r,
			 const struct refine_subject *subject)
{
	indexes children = { NULL, 0, 0 };

	VEC_ADD(&q->functions, subject->function);
	refine_children(r->state, subject->function, &children, NULL);
	for (size_t i = 0; i < children.cnt; i++)
		if (refine_hidden(r, children.items[i], subject->outside))
			VEC_ADD(&q->callees, children.items[i]);
	VEC_RELEASE(&children);
}

/* Whether all open subjects are accepted, or there is one to ask about.  Neither: nothing is open. */
static void look_at_subjects(const struct refinement *r, const refine_subjects *subjects,
			     bool *ret_accepted, struct refine_question *q)
{
	*ret_accepted = false;
	for (size_t i = 0; i < subjects->cnt; i++) {
		const struct refine_subject *s = &subjects->items[i];

		if (!is_open(r, s))
			continue;
		if (r->answers[s->function] == REFINE_YES)
			*ret_accepted = true;
		else
			add_function(q, r, s);
	}
}

static bool question_of_paper(struct refinement *r, const struct findings *f,
			      struct refine_question *q)
{
	struct select_options o = { 0, r->options.threshold, true, false };
	_cleanup_(freep) uint32_t *order = NULL;
	size_t cnt = factors_select(f, &o, &order);
	refine_subjects subjects = { NULL, 0, 0 };
	uint32_t accepted_cnt = 0;
	bool accepted;

	for (size_t i = 0; i < cnt && q->functions.cnt == 0 &&
			   (r->options.k == 0 || accepted_cnt < r->options.k); i++) {
		refine_subjects_of(r, f, &f->factors.items[order[i]], &subjects);
		look_at_subjects(r, &subjects, &accepted, q);
		accepted_cnt += accepted;
		q->factor = order[i];
		q->share = f->factors.items[order[i]].paper_contribution;
	}
	VEC_RELEASE(&subjects);
	return q->functions.cnt > 0;
}

static bool question_of_budget(struct refinement *r, struct refine_question *q)
{
	const struct refine_state *s = r->state;
	struct refine_subject best = { FUNCTION_NONE, false };
	double largest = 0;

	for (uint32_t i = 0; i < s->p->function_cnt; i++)
		for (int outside = 0; outside < 2; outside++) {
			double upper = refine_upper(s, i, outside);

			if (r->answers[i] != REFINE_UNASKED || upper <= largest ||
			    !refine_in_scope(r, i, outside))
				continue;
			best = (struct refine_subject){ i, outside };
			largest = upper;
			q->share = outside ? s->blamed[i] : s->own[i];
		}
	if (best.function == FUNCTION_NONE)
		return false;
	q->outside = best.outside;
	add_function(q, r, &best);
	return true;
}

bool refinement_question(struct refinement *r, const struct findings *f, struct refine_question *ret)
{
	ret->functions.cnt = ret->callees.cnt = 0;
	if (f->interval.cnt < FINDINGS_INTERVALS_MIN || r->run_cnt >= r->options.max_runs)
		return false;		/* there will be no next run */
	if (r->options.policy == REFINE_PAPER)
		return question_of_paper(r, f, ret);
	return question_of_budget(r, ret);
}

void refinement_answer(struct refinement *r, const struct refine_question *q, bool deeper)
{
	for (size_t i = 0; i < q->functions.cnt; i++)
		r->answers[q->functions.items[i]] = deeper ? REFINE_YES : REFINE_NO;
}

void refine_question_release(struct refine_question *q)
{
	VEC_RELEASE(&q->functions);
	VEC_RELEASE(&q->callees);
}
