/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scripts.c - what the actors of a random program do next.
 *
 * A script is written when the one before is through.  Example of a worker's: pop, spend 1
 * running, call f3, lock 2, spend 4 running, lock 5, spend 2 io, unlock 5, unlock 2, return,
 * finish, spend 1 running.
 *
 * Locks are taken in ascending order and every other wait has a time-out or a thread that will
 * end it, so no program stands still.  Between two tasks, or slices of an event loop, at least
 * 1 ns passes: tuples have no order within one.
 */
#include "tests/property/simulator.h"

#include "base/banned.h"

#define BODY_ROOM 60			/* operations that a body needs at most at once */

static void add(struct actor *a, enum op_kind kind, uint32_t value)
{
	if (a->op_cnt < SCRIPT_MAX)
		a->script[a->op_cnt++] = (struct op) { kind, STATE_RUNNING, value };
}

static void spend(struct actor *a, enum trace_state state, uint32_t ns)
{
	if (a->op_cnt < SCRIPT_MAX)
		a->script[a->op_cnt++] = (struct op) { OP_SPEND, state, ns };
}

static void spend_somehow(struct simulator *s, struct actor *a)
{
	static const enum trace_state states[] = {
		STATE_RUNNING, STATE_RUNNING, STATE_RUNNING, STATE_RUNNING, STATE_IO, STATE_SLEEP,
		STATE_RUNNABLE, STATE_OTHER,
	};

	spend(a, states[random_below(&s->random, 8)], 1 + random_below(&s->random, 9));
}

/* lock: the lowest that may still be taken. */
static void write_body(struct simulator *s, struct actor *a, uint32_t lock, int depth)
{
	for (uint32_t cnt = 1 + random_below(&s->random, 3); cnt > 0; cnt--) {
		uint32_t kind = random_below(&s->random, 10);

		if (a->op_cnt + BODY_ROOM > SCRIPT_MAX)
			return;
		if (kind < 3 && depth > 0) {
			add(a, OP_CALL, random_below(&s->random, PROGRAM_FUNCTIONS));
			write_body(s, a, lock, depth - 1);
			add(a, OP_RETURN, 0);
		} else if (kind < 6 && depth > 0 && lock < LOCKS) {
			uint32_t l = lock + random_below(&s->random, LOCKS - lock);

			add(a, OP_LOCK, l);
			if (chance(s, 90))
				spend_somehow(s, a);
			write_body(s, a, l + 1, depth - 1);
			add(a, OP_UNLOCK, l);
		} else if (kind == 6) {
			add(a, chance(s, 50) ? OP_SIGNAL : OP_BROADCAST,
			    random_below(&s->random, CONDS));
		} else if (kind == 7) {
			add(a, OP_WAIT, random_below(&s->random, CONDS));
		} else {
			spend_somehow(s, a);
		}
	}
}

static void write_called_body(struct simulator *s, struct actor *a)
{
	spend(a, STATE_RUNNING, 1 + random_below(&s->random, 4));
	if (chance(s, 80))
		add(a, OP_CALL, random_below(&s->random, PROGRAM_FUNCTIONS));
	else
		add(a, OP_CALL, 0);
	write_body(s, a, 0, 3);
	add(a, OP_RETURN, 0);
}

static void write_client(struct simulator *s, struct actor *a)
{
	uint32_t forks = 1 + random_below(&s->random, 3);

	spend(a, chance(s, 50) ? STATE_SLEEP : STATE_RUNNING, 1 + random_below(&s->random, 30));
	add(a, OP_BEGIN, 0);
	write_called_body(s, a);
	if (chance(s, 50)) {
		add(a, OP_PUSH, random_below(&s->random, POOLS));
		return;
	}
	if (chance(s, 50)) {
		while (forks-- > 0)
			add(a, OP_FORK, random_below(&s->random, POOLS));
		write_called_body(s, a);
		add(a, OP_JOIN, 0);
		write_called_body(s, a);
	}
	add(a, OP_END, 0);
}

void write_script(struct simulator *s, struct actor *a)
{
	a->op_cnt = a->op_at = 0;
	switch (a->role) {
	case ROLE_CLIENT:
		write_client(s, a);
		break;
	case ROLE_WORKER:
		add(a, OP_POP, random_below(&s->random, POOLS));
		write_called_body(s, a);
		add(a, OP_FINISH, random_below(&s->random, POOLS));
		break;
	case ROLE_LOOP:
		add(a, OP_SLICE, 0);
		write_called_body(s, a);
		add(a, OP_YIELD, 0);
		if (chance(s, 30))
			spend(a, STATE_IO, 1 + random_below(&s->random, 10));
		break;
	case ROLE_BARRIER:
		add(a, OP_BEGIN, 0);
		write_called_body(s, a);
		add(a, OP_BARRIER, 0);
		write_called_body(s, a);
		add(a, OP_END, 0);
		break;
	default:
		write_called_body(s, a);
		break;
	}
	spend(a, STATE_RUNNING, 1 + random_below(&s->random, 3));
}
