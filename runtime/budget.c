/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.c - from calls and latencies to a rate.
 *
 * Of all intervals' time the part p * calls * cost / latency goes to probes, p being the part of intervals in
 * full, calls those that one of them makes, cost what one takes.  So p = budget * latency / (calls * cost), and
 * the level is the first whose p is not more.  Example: a budget of 5 %, intervals of 100 us with 2,000 calls of
 * 17 ns: p = .05 * 100 / 34 = .147; level 2 has 15/64 = .234, level 3 15/128 = .117: level 3.
 *
 * It goes up at once, and down when a quarter more than the budget needs would still fit, one level a look: a load
 * at the border of two does not swing.  Where nothing is drained there is little to spare, and it goes down
 * slowly.  It begins in the middle, for nothing is known yet.
 *
 * Calls are counted as chunks are drained.  How long an interval took its last thread says at once: BEGIN and END of
 * one may be in chunks that come in any order.
 */
#include <string.h>
#include "runtime/budget.h"

enum {
	FIRST_LEVEL = 4,
	LOOK_NS = 100000000,
	SILENCE_NS = 1000000000,
	ENOUGH = 30,			/* intervals of each kind */
	ROUNDS = 1000,
};

#define WORTH 1.25			/* how far below the budget a rate must be to be taken up again */
#define BESIDES 1.15			/* a call is two looks at the clock and this (doc/overhead.md) */

/* The quickest of some rounds: others may have been interrupted. */
static double two_looks(void)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t start = vprof_ticks(), took;

		for (int k = 0; k < 2 * ROUNDS; k++)
			(void)vprof_ticks();
		took = vprof_ticks() - start;
		best = took < best ? took : best;
	}
	return (double)best / ROUNDS;
}

static void tell(struct budget *b)
{
	__atomic_store_n(&b->arena->control->sample_level, b->level + 1, __ATOMIC_RELAXED);
}

void budget_init(struct budget *b, double part, const struct arena_map *arena)
{
	memset(b, 0, sizeof(*b));
	if (!(part > 0))
		return;
	b->part = part;
	b->arena = arena;
	b->level = FIRST_LEVEL;
	b->call_ticks = BESIDES * two_looks();
	tell(b);
}

/* Threads add to what their slot says, and who gets the slot next goes on: a sum that only grows. */
static void add_latencies(struct budget *b)
{
	uint64_t cnt = 0, ticks = 0, slots = b->arena->control->thread_cnt;

	for (uint64_t i = 1; i <= slots && i <= ARENA_SLOTS; i++) {
		cnt += __atomic_load_n(&b->arena->slots[i].ended_cnt, __ATOMIC_RELAXED);
		ticks += __atomic_load_n(&b->arena->slots[i].ended_ticks, __ATOMIC_RELAXED);
	}
	b->latency_cnt += (double)(cnt - b->ended_cnt);
	b->ticks += (double)(ticks - b->ended_ticks);
	b->ended_cnt = cnt;
	b->ended_ticks = ticks;
}

/* The first level at which that part of all intervals, or less, is in full. */
static unsigned int level_for(double part)
{
	unsigned int level = 0;

	while (level + 1 < SAMPLE_LEVELS && (double)SAMPLE_FULL / SAMPLE_OF / (double)(1u << level) > part)
		level++;
	return level;
}

void budget_turn(struct budget *b, uint64_t now_ns)
{
	double part;

	if (!(b->part > 0) || now_ns < b->next_ns)
		return;
	b->next_ns = now_ns + LOOK_NS;
	add_latencies(b);
	if (!b->evidence_ns)
		b->evidence_ns = now_ns;
	if (b->full_cnt < ENOUGH || b->latency_cnt < ENOUGH) {
		if (now_ns - b->evidence_ns < SILENCE_NS)
			return;
		b->evidence_ns = now_ns;
		b->level -= b->level > 0;
		tell(b);
		return;
	}
	b->evidence_ns = now_ns;
	part = b->calls > 0 ? b->part * (b->ticks / b->latency_cnt) / (b->calls / b->full_cnt * b->call_ticks) : 1;
	if (level_for(part) > b->level)
		b->level = level_for(part);
	else if (level_for(part / WORTH) < b->level)
		b->level--;
	tell(b);
	b->calls /= 2;
	b->full_cnt /= 2;
	b->ticks /= 2;
	b->latency_cnt /= 2;
}
