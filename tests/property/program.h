/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program.h - random programs, simulated nanosecond by nanosecond, that know their own truth.
 *
 * Threads of two processes run random scripts: nested locks (handed over or barged into),
 * condition variables with broadcasts, time-outs and stolen wake-ups, barriers, task queues with
 * stealing, tasks of tasks, fork and join, event loops that pause and resume many intervals on
 * one thread or another, preemption and late wake-ups.  The simulator writes the tuples that a
 * recorder would, and, going forward in time, keeps for each nanosecond of each interval the thread that was
 * the cause.  It uses nothing of the analysis, which goes backward.
 */
#ifndef TESTS_PROPERTY_PROGRAM_H
#define TESTS_PROPERTY_PROGRAM_H

#include "trace/model.h"

#define PROGRAM_FUNCTIONS 8

struct charge_tick {			/* one nanosecond of a thread's or an interval's past */
	uint64_t tid;			/* the thread that is charged */
	uint32_t function;		/* its innermost function, or FUNCTION_NONE */
	uint32_t waiter;		/* the innermost function of the interval's own thread */
	enum trace_state state, wait;	/* as in struct piece */
	enum trace_state meanwhile;	/* in the queue: what its thread did for others, or queue */
	bool explained;			/* depth above 0 */
};

struct program_options {
	unsigned int seed;
	uint32_t thread_cnt;
	int64_t ticks;			/* length of the run, ns */
	bool keep_truth;		/* costs memory: for short runs */
};

struct program {
	struct trace *t;
	struct charge_tick **truths;	/* by sid, of completed intervals, by time; or NULL */
};

struct program *program_run(const struct program_options *o);
void program_free(struct program *p);
DEFINE_CLEANUP(struct program *, program_free);

#endif
