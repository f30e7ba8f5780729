/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.c - computes a rate from the cost of recording.
 *
 * Of all intervals' time the part p * calls * cost / latency goes to probes, p being the part of intervals in
 * full, calls those that one of them makes, cost what one takes.  So p = budget * latency / (calls * cost),
 * and the level is the first whose p is not more.  Example: a budget of 5 %, intervals of 100 us with 2,000
 * calls of 17 ns: p = .05 * 100 / 34 = .147; level 2 has 15/64 = .234, level 3 15/128 = .117: level 3.
 *
 * Where processors are short that says little: most of an interval's time is waiting then, for others and for
 * what their probes take.  So the same holds for processor time, and the smaller p counts.  A call takes a
 * processor of the program's and, as a record, of the recorder's.  Cost that does not depend on the rate (waits,
 * events, functions that are recorded anywhere, waking up) is paid first, but never with more than three
 * quarters of the budget, or nothing would be known of functions.  Example: in a second the program takes
 * 1.04 s, 40 ms of them for a million records of 40 ns; the recorder 70, 60 of them for records; 900,000
 * records were calls of 100 intervals in full, of 1,000.
 *
 *	a record		40 + 60,000,000 / 1,000,000 = 100 ns
 *	may be taken		.05 * (1,040 - 40) = 50 ms
 *	of that, paid first	10 for waking up, 100,000 * 100 ns = 10 for other records: 30 ms are left
 *	all intervals in full	9,000 calls * 1,000 intervals * 100 ns = 900 ms: p = .033, level 5
 *
 * The level goes up at once, and down, one level a look, if a cost higher by a quarter would still fit into
 * the budget, so that a load between two levels does not oscillate.  A decision needs some intervals of each
 * kind, or a second; if none was in full, no cost is known, and the level goes down.  It starts in the
 * middle, and the first decision comes soon.
 *
 * Calls are counted as chunks are drained.  The thread that ends an interval reports its duration directly,
 * because the chunks of BEGIN and END may arrive in any order.
 */
#include <string.h>
#include <time.h>
#include "drainer/budget.h"

enum {
	FIRST_LEVEL = 4,
	LOOK_NS = 100000000,
	SILENCE_NS = 1000000000,
	ENOUGH = 30,			/* intervals of each kind, */
	ENOUGH_FIRST = 5,		/* for the first decision */
	ROUNDS = 1000,
};

#define WORTH 1.25			/* how far below the budget a rate must be to be taken up again */
#define BESIDES 1.15			/* a call is two looks at the clock and this (doc/overhead.md), */
#define COLD 1.5			/* and in a large program that */
#define FOR_FUNCTIONS .25		/* of the budget, at least */
#define ANY 1e9				/* part of the intervals: there is no bound */

static uint64_t wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The shortest of some rounds: others may have been interrupted. */
static double two_looks(double *ret_ns_per_tick)
{
	uint64_t best = UINT64_MAX, start_ns = wall_ns(), first = vprof_ticks();

	for (int i = 0; i < 20; i++) {
		uint64_t start = vprof_ticks(), took;

		for (int k = 0; k < 2 * ROUNDS; k++)
			(void)vprof_ticks();
		took = vprof_ticks() - start;
		best = took < best ? took : best;
	}
	*ret_ns_per_tick = (double)(wall_ns() - start_ns) / (double)(vprof_ticks() - first);
	return (double)best / ROUNDS;
}

static void tell(struct budget *b)
{
	__atomic_store_n(&b->arena->control->sample_level, b->level + 1, __ATOMIC_RELAXED);
}

void budget_init(struct budget *b, double part, const struct arena_map *arena)
{
	double ns_per_tick;

	memset(b, 0, sizeof(*b));
	if (!(part > 0))
		return;
	b->part = part;
	b->arena = arena;
	b->level = FIRST_LEVEL;
	b->call_ticks = BESIDES * two_looks(&ns_per_tick);
	b->call_ns = COLD * b->call_ticks * ns_per_tick;
	b->recorder_before_ns = usage_own_ns();
	usage_init(&b->usage, wall_ns());
	tell(b);
}

void budget_release(struct budget *b)
{
	usage_release(&b->usage);
}

/* Threads add to sums in their slots, and the next owner of a slot continues: the sums only grow. */
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

static void add_processor_time(struct budget *b, uint64_t now_ns)
{
	uint64_t recorder_ns = usage_own_ns();

	b->run_ns += (double)usage_take(&b->usage, b->arena, now_ns);
	b->recorder_ns += (double)(recorder_ns - b->recorder_before_ns);
	b->recorder_before_ns = recorder_ns;
}

/* The part of all intervals that may be in full, by their time. */
static double part_by_latency(const struct budget *b)
{
	return b->part * (b->ticks / b->latency_cnt) / (b->calls / b->full_cnt * b->call_ticks);
}

/* The same by processor time. */
static double part_by_processors(const struct budget *b)
{
	double record_ns = b->call_ns + (b->records > 0 ? b->work_ns / b->records : 0);
	double own_ns = b->run_ns - b->records * b->call_ns;
	double may_ns = b->part * (own_ns > b->run_ns / 4 ? own_ns : b->run_ns / 4);
	double rest_ns = b->recorder_ns - b->work_ns + (b->records - b->calls) * record_ns;
	double all_ns = b->calls / b->full_cnt * b->latency_cnt * record_ns;

	if (!(b->run_ns > 0))
		return ANY;			/* some processes' clocks cannot be read */
	return (rest_ns < (1 - FOR_FUNCTIONS) * may_ns ? may_ns - rest_ns : FOR_FUNCTIONS * may_ns) / all_ns;
}

static double part_in_full(const struct budget *b)
{
	double latency, processors;

	if (b->full_cnt < 1 || b->latency_cnt < 1 || !(b->calls > 0))
		return ANY;
	latency = part_by_latency(b);
	processors = part_by_processors(b);
	return latency < processors ? latency : processors;
}

/* The first level at which at most that part of all intervals is in full. */
static unsigned int level_for(double part)
{
	unsigned int level = 0;

	while (level + 1 < SAMPLE_LEVELS && (double)SAMPLE_FULL / SAMPLE_OF / (double)(1u << level) > part)
		level++;
	return level;
}

static void forget_half(struct budget *b)
{
	double *const sums[] = { &b->calls, &b->full_cnt, &b->records, &b->ticks, &b->latency_cnt, &b->run_ns,
				 &b->recorder_ns, &b->work_ns };

	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		*sums[i] /= 2;
}

void budget_decide(struct budget *b, uint64_t now_ns)
{
	int enough = b->is_decided ? ENOUGH : ENOUGH_FIRST;
	double part;

	if (!b->evidence_ns)
		b->evidence_ns = now_ns;
	if ((b->full_cnt < enough || b->latency_cnt < enough) && now_ns - b->evidence_ns < SILENCE_NS)
		return;
	b->is_decided = true;
	b->evidence_ns = now_ns;
	part = part_in_full(b);
	if (level_for(part) > b->level)
		b->level = level_for(part);
	else if (level_for(part / WORTH) < b->level)
		b->level--;
	tell(b);
	forget_half(b);
}

void budget_turn(struct budget *b, uint64_t now_ns)
{
	if (!(b->part > 0) || now_ns < b->next_ns)
		return;
	b->next_ns = now_ns + LOOK_NS;
	add_latencies(b);
	add_processor_time(b, now_ns);
	budget_decide(b, now_ns);
}
