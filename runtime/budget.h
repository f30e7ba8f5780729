/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.h - record --sample auto: how many intervals are recorded in full, so that what probes take of all
 * intervals' time is about what it may be.
 *
 * Decided from what was drained, for intervals that begin from then on; each tells in the trace which rate it
 * met, so results are weighted (analysis/rows.h) and it does not matter when a rate changes, or why.
 */
#ifndef RUNTIME_BUDGET_H
#define RUNTIME_BUDGET_H

#include "runtime/arena.h"

struct budget {
	double part;			/* of the intervals' time; 0: the rate is fixed */
	const struct arena_map *arena;
	unsigned int level;		/* trace/format.h */
	double call_ticks;		/* what a recorded call takes */
	double calls, full_cnt;		/* drained: calls that only intervals in full make, and these */
	double ticks, latency_cnt;	/* of all intervals, as the threads say; older ones count half each time */
	uint64_t ended_cnt, ended_ticks;	/* what the threads had said the last time */
	uint64_t next_ns, evidence_ns;	/* next look; when there was enough to tell, last */
};

void budget_init(struct budget *b, double part, const struct arena_map *arena);

/* Records that are drained. */
static inline void budget_event(struct budget *b, enum trace_event kind, const uint64_t *words)
{
	if (b->part > 0 && kind == EVENT_BEGIN)
		b->full_cnt += !(words[2] & (BEGIN_SHORT | BEGIN_ROOT_ONLY));
}

static inline void budget_call(struct budget *b, uint32_t fid)
{
	if (b->part > 0)
		b->calls += b->arena->functions[fid].level == 1;	/* PROBE_IN_INTERVALS: only in those in full */
}

void budget_turn(struct budget *b, uint64_t now_ns);

#endif
