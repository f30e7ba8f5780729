/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.h - record --sample auto: sets the fraction of intervals recorded in full, so that recording stays within its
 * budget of all intervals' time, and of the CPU time of the run.
 *
 * The rate follows from the drained records and applies to intervals that begin after that.  Each interval has its rate in
 * the trace, so results are weighted (analysis/tree/rows.h) and it does not matter when a rate changes, or why.
 */
#ifndef DRAINER_BUDGET_H
#define DRAINER_BUDGET_H

#include "drainer/usage.h"
#include "runtime/shared/arena.h"

struct budget {
	double part;			/* of the intervals' time, and of processor time; 0: the rate is fixed */
	const struct arena_map *arena;
	unsigned int level;		/* trace/format.h */
	bool is_decided;		/* decided by measurement, not just the initial one */
	double call_ticks, call_ns;	/* what a recorded call takes: while its interval goes on; of a processor */
	/* Sums in which older values count half each time. */
	double calls, full_cnt;		/* drained: calls that only intervals in full make, and these */
	double records;			/* drained: of all kinds */
	double ticks, latency_cnt;	/* of all intervals, as reported by the threads */
	double run_ns;			/* processor time: of the processes that are recorded, */
	double recorder_ns, work_ns;	/* of the recorder; of that, for records */
	uint64_t ended_cnt, ended_ticks;	/* the threads' sums at the last look */
	uint64_t recorder_before_ns;
	uint64_t next_ns, evidence_ns;	/* next look; when a decision was taken, last */
	struct usage usage;
};

void budget_init(struct budget *b, double part, const struct arena_map *arena);
void budget_release(struct budget *b);

/* Counts drained records. */
static inline void budget_event(struct budget *b, enum trace_event kind, const uint64_t *words)
{
	if (b->part > 0 && kind == EVENT_BEGIN)
		b->full_cnt += !(words[2] & (BEGIN_SHORT | BEGIN_ROOT_ONLY));
}

static inline bool budget_counts(const struct budget *b)
{
	return b->part > 0;
}

static inline void budget_call(struct budget *b, uint32_t fid)
{
	if (budget_counts(b))
		b->calls += fid >= ARENA_FUNCTIONS_FIRST || b->arena->functions[fid].level == 1;	/* PROBE_IN_INTERVALS: only in those in full */
}

/* Put around the recorder's work on records: uint64_t began = budget_clock(b); ... budget_worked(b, began). */
static inline uint64_t budget_clock(const struct budget *b)
{
	return b->part > 0 ? usage_own_ns() : 0;
}

static inline void budget_worked(struct budget *b, uint64_t began)
{
	b->work_ns += (double)(budget_clock(b) - began);
}

/* Ten times a second, measures the cost and sets the rate; now_ns: CLOCK_MONOTONIC. */
void budget_turn(struct budget *b, uint64_t now_ns);

/* Its second half: computes a level from the sums and writes it to the arena. */
void budget_decide(struct budget *b, uint64_t now_ns);

#endif
