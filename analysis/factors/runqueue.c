/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * runqueue.c - the time in which threads could run and had no CPU, as one factor.
 *
 * A preemption hits functions by chance: every function has a part of this time, and none is its cause.  So all of it
 * is summed before the variance is taken: the time in which the intervals' own threads waited for a CPU in any
 * function (runnable, wakeup), and the same time of the threads that they waited for.
 *
 *	f runnable 4 0 0 4, g runnable 0 4 4 0, T 14 14 14 14: both vary, their sum does not
 *	f lock wait 9, of it its holder runnable 5: 5 of it are the run queue's
 *
 * This applies to recorded runs.  In imported tuples runnable may have any meaning, so each function keeps its own.
 */
#include "analysis/factors/factors.h"

#include "base/banned.h"

bool place_is_runqueue(const struct vtree *v, const struct place *p)
{
	if (p->kind == NODE_WAIT)
		return state_is_runqueue(p->wait);
	if (p->kind != NODE_BLAME || !p->is_wait || !state_is_runqueue(p->wait))
		return false;
	return !place_is_runqueue(v, &v->places.items[place_blamed_wait(v, p->parent)]);
}

bool place_has_runqueue_factor(const struct factor_columns *c, const struct vtree *v, const struct place *p)
{
	return c->runqueue != NODE_NONE && place_is_runqueue(v, p);
}

bool has_runqueue(const struct analysis *a)
{
	if (!a->t->cpu_use.ns && !a->t->cpu_use.kernel_knows)
		return false;
	for (size_t i = 1; i < a->v->places.cnt; i++)
		if (a->v->places.items[i].presence && place_is_runqueue(a->v, &a->v->places.items[i]))
			return true;
	return false;
}
