/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * virtual.h - the intervals of a causal experiment in virtual time: what they would take if the target were faster
 * (doc/design/causal.md).
 *
 * A thread's virtual clock is the real clock minus the thread's shift (EVENT_SHIFT).  The virtual length of an interval is the
 * virtual time of the thread that ends it, at the end, minus that of the thread that began it, at the begin.
 *
 *	block 3 (parse 50 % faster) counts from 100 to 250 ms, and is over at 270
 *	T1 begins request/7 at 120, its shift 10; T2 ends it at 130, its shift 14: 10 real, 6 virtual ms, counts
 *	T1 begins request/8 at 249; it ends at 300: does not count, is one of the block's late intervals
 *
 *	struct virtual_trace v = { 0 };
 *	virtual_join(&events, label, &v);
 *	... v.blocks.items[i], v.intervals.items[i]
 *	virtual_release(&v);
 */
#ifndef TRACE_CAUSAL_VIRTUAL_H
#define TRACE_CAUSAL_VIRTUAL_H

#include "base/alloc.h"
#include "trace/format.h"

struct virtual_block {
	uint32_t number, round;		/* from 1; blocks by time */
	uint32_t target;		/* index into the experiment's targets; BLOCK_NO_TARGET: the baseline */
	uint32_t speed;			/* per mille: 500 is 50 % faster; 0: the baseline */
	int64_t begin_ns, end_ns;	/* intervals that begin in between count; the block starts 20 ms before */
	int64_t over_ns;		/* ... if they end by then.  INT64_MAX: the program ended before the block was over */
	int64_t growth_ns;		/* of G, the shift that all threads have to reach, from begin_ns to end_ns */
	uint64_t late_cnt;		/* intervals that began in it, and ended after over_ns or never */
};

struct virtual_interval {
	uint32_t block;			/* index into blocks */
	int64_t begin_ns;		/* real time */
	int64_t real_ns, virtual_ns;	/* latencies; virtual_ns <= real_ns up to noise; equal at speed 0 */
	bool counts;			/* false: it began before begin_ns or after end_ns, or ended after over_ns */
};

typedef VEC(struct virtual_block) virtual_blocks;
typedef VEC(struct virtual_interval) virtual_intervals;

struct virtual_trace {
	virtual_blocks blocks;
	virtual_intervals intervals;	/* by begin_ns */
};

void virtual_release(struct virtual_trace *v);

/* The events of all threads, in any order.  Times in ns of one clock. */
struct virtual_event {
	int64_t ns;
	uint64_t thread;		/* any number, unique per thread */
	enum trace_event kind;		/* BEGIN, END, DROP, SHIFT, BLOCK; others are ignored */
	uint64_t words[3];		/* as in the trace */
	uint32_t order;			/* of appearance, for events of a thread with the same time */
};

typedef VEC(struct virtual_event) virtual_events;

/* Sorts the events, and adds the blocks and intervals of that label (trace/format.h) to ret.  Leaves out blocks and intervals that
 * had begun before the first event or end after the last one. */
void virtual_join(virtual_events *events, uint64_t label, struct virtual_trace *ret);

#endif
