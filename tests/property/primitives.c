/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * primitives.c - locks, conditions, barriers, queues and event loops of the simulated program.
 *
 * Locks with an even number are handed over in order of arrival, and a wait for one is one
 * segment.  Odd ones are barged into: a woken thread may find it taken again; the wait is cut at
 * every release, as the recorder does.
 */
#include "tests/property/simulator.h"

#include "base/banned.h"

static uint32_t number(const struct simulator *s, const struct actor *a)
{
	return (uint32_t)(a - s->actors);
}

static void block(struct simulator *s, struct actor *a, enum op_kind in, uint32_t object,
		  enum trace_state state)
{
	end_segment(s, a, state);
	a->blocked = true;
	a->blocked_in = in;
	a->object = object;
	a->queued_ns = s->now_ns;
	a->woken = false;
	a->until_ns = INT64_MAX;
}

static void wake(struct simulator *s, const struct actor *waker, struct actor *a)
{
	a->woken = true;
	a->waker = number(s, waker);
	a->woken_ns = s->now_ns;
	a->ready_ns = s->now_ns + (chance(s, 40) ? random_below(&s->random, 4) : 0);
}

static bool waits_in(const struct actor *a, enum op_kind in, uint32_t object)
{
	return a->blocked && !a->woken && a->blocked_in == in && a->object == object;
}

/* The first to have come, or NULL. */
static struct actor *first_waiter(struct simulator *s, enum op_kind in, uint32_t object)
{
	struct actor *first = NULL;

	for (uint32_t i = 0; i < s->actor_cnt; i++)
		if (waits_in(&s->actors[i], in, object) &&
		    (!first || s->actors[i].queued_ns < first->queued_ns))
			first = &s->actors[i];
	return first;
}

/* ---- locks ---------------------------------------------------------------------- */

static bool is_barged(uint32_t lock)
{
	return lock % 2;
}

static void lock(struct simulator *s, struct actor *a, uint32_t lock)
{
	if (s->owners[lock] == NOBODY)
		s->owners[lock] = number(s, a);
	else
		block(s, a, OP_LOCK, lock, STATE_LOCK);
}

static void unlock(struct simulator *s, struct actor *a, uint32_t lock)
{
	struct actor *next = first_waiter(s, OP_LOCK, lock);

	s->owners[lock] = NOBODY;
	if (!next)
		return;
	if (!is_barged(lock))
		s->owners[lock] = number(s, next);
	for (uint32_t i = 0; i < s->actor_cnt && is_barged(lock); i++) {
		struct actor *w = &s->actors[i];

		if (w == next || !waits_in(w, OP_LOCK, lock) || w->since_ns == s->now_ns)
			continue;
		wake(s, a, w);
		end_wait(s, w, s->now_ns);
		w->woken = false;
	}
	wake(s, a, next);
}

/* Woken; false: another thread was faster, and the wait goes on as one that was cut. */
static bool retry_lock(struct simulator *s, struct actor *a)
{
	if (!is_barged(a->object))
		return true;
	if (s->owners[a->object] == NOBODY) {
		s->owners[a->object] = number(s, a);
		return true;
	}
	if (a->woken_ns > a->since_ns)
		end_wait(s, a, a->woken_ns);
	a->woken = false;
	return false;
}

/* ---- conditions, barriers ------------------------------------------------------- */

static void wait_cond(struct simulator *s, struct actor *a, uint32_t cond)
{
	static const enum trace_state states[CONDS] = { STATE_COND, STATE_COND, STATE_IO, STATE_JOIN };

	block(s, a, OP_WAIT, cond, states[cond]);
	a->until_ns = s->now_ns + 1 + random_below(&s->random, 40);
}

static void signal_cond(struct simulator *s, struct actor *a, uint32_t cond, bool all)
{
	struct actor *w;

	while ((w = first_waiter(s, OP_WAIT, cond))) {
		wake(s, a, w);
		if (!all)
			return;
	}
}

static void barrier(struct simulator *s, struct actor *a)
{
	struct actor *w;

	if (++s->at_barrier < s->barrier_cnt) {
		block(s, a, OP_BARRIER, 0, STATE_COND);
		return;
	}
	s->at_barrier = 0;
	while ((w = first_waiter(s, OP_BARRIER, 0)))
		wake(s, a, w);
}

/* ---- tasks ---------------------------------------------------------------------- */

static void push(struct simulator *s, struct actor *a, uint32_t pool, uint32_t parent)
{
	struct task task = make_task(s, a);
	struct actor *idle = first_waiter(s, OP_POP, chance(s, 70) ? pool
							: random_below(&s->random, POOLS));

	task.parent = parent;
	VEC_ADD(&s->pools[pool], task);
	if (idle)
		wake(s, a, idle);
}

/* From its own pool, else stolen from another. */
static bool pop(struct simulator *s, struct actor *a, uint32_t pool)
{
	for (uint32_t i = 0; i < POOLS; i++) {
		tasks *q = &s->pools[(pool + i) % POOLS];
		struct task task;

		if (q->cnt == 0)
			continue;
		task = q->items[0];
		for (size_t j = 1; j < q->cnt; j++)
			q->items[j - 1] = q->items[j];
		q->cnt--;
		take_task(s, a, &task, false);
		return true;
	}
	return false;
}

static void pop_or_wait(struct simulator *s, struct actor *a, uint32_t pool)
{
	if (!pop(s, a, pool))
		block(s, a, OP_POP, pool, STATE_COND);
}

static void join(struct simulator *s, struct actor *a)
{
	if (a->children > 0)
		block(s, a, OP_JOIN, 0, STATE_JOIN);
}

static void finish(struct simulator *s, struct actor *a, uint32_t pool)
{
	struct actor *parent = a->parent == NOBODY ? NULL : &s->actors[a->parent];

	if (parent) {
		if (--parent->children == 0 && waits_in(parent, OP_JOIN, 0))
			wake(s, a, parent);
		a->parent = NOBODY;
	} else if (a->sid != SID_NONE && chance(s, 35)) {
		push(s, a, pool, NOBODY);
	} else if (a->sid != SID_NONE) {
		end_interval(s, a);
	}
	detach(s, a);
}

static void slice(struct simulator *s, struct actor *a)
{
	size_t at;
	struct task task;

	if (s->paused.cnt < 3 || chance(s, 30)) {
		begin_interval(s, a);
		return;
	}
	at = random_below(&s->random, (uint32_t)s->paused.cnt);
	task = s->paused.items[at];
	s->paused.items[at] = s->paused.items[--s->paused.cnt];
	take_task(s, a, &task, task.from == number(s, a));
}

static void yield(struct simulator *s, struct actor *a)
{
	if (chance(s, 40)) {
		end_interval(s, a);
	} else {
		struct task task = make_task(s, a);

		VEC_ADD(&s->paused, task);
	}
	detach(s, a);
}

/* ---- the operations ------------------------------------------------------------- */

static void spend(struct simulator *s, struct actor *a, const struct op *op)
{
	if (a->state != op->state)
		end_segment(s, a, op->state);
	a->spending = true;
	a->until_ns = s->now_ns + op->value;
}

void perform(struct simulator *s, struct actor *a, const struct op *op)
{
	switch (op->kind) {
	case OP_SPEND:
		spend(s, a, op);
		break;
	case OP_CALL:
		call_function(s, a, op->value);
		break;
	case OP_RETURN:
		return_function(s, a);
		break;
	case OP_LOCK:
		lock(s, a, op->value);
		break;
	case OP_UNLOCK:
		unlock(s, a, op->value);
		break;
	case OP_WAIT:
		wait_cond(s, a, op->value);
		break;
	case OP_SIGNAL:
	case OP_BROADCAST:
		signal_cond(s, a, op->value, op->kind == OP_BROADCAST);
		break;
	case OP_BARRIER:
		barrier(s, a);
		break;
	case OP_BEGIN:
		begin_interval(s, a);
		break;
	case OP_END:
		end_interval(s, a);
		detach(s, a);
		break;
	case OP_PUSH:
		push(s, a, op->value, NOBODY);
		detach(s, a);
		break;
	case OP_FORK:
		a->children++;
		push(s, a, op->value, number(s, a));
		break;
	case OP_JOIN:
		join(s, a);
		break;
	case OP_POP:
		pop_or_wait(s, a, op->value);
		break;
	case OP_FINISH:
		finish(s, a, op->value);
		break;
	case OP_SLICE:
		slice(s, a);
		break;
	case OP_YIELD:
		yield(s, a);
		break;
	}
}

void go_on(struct simulator *s, struct actor *a)
{
	if (a->woken && a->blocked_in == OP_LOCK && !retry_lock(s, a))
		return;
	end_wait(s, a, s->now_ns);
	a->blocked = a->woken = false;
	a->state = STATE_RUNNING;
	if (a->blocked_in == OP_POP)
		pop_or_wait(s, a, a->object);
}
