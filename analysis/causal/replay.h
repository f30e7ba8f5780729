/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay.h - a run as strands of steps, which can run again with a change.
 *
 *	strand 0: BEGIN 0, WORK 40, TAKE lock, OFF 100, GIVE lock, POST 0, END 0
 *	strand 1: WORK 20, TAKE lock, WORK 10, GIVE lock, AWAIT 0 (+5), WORK 7
 *
 * Times are ns from 0.  A step begins when the step before it is done.  If two strands want the same thing at the same time, the
 * strand that came first gets it.
 *
 *	WORK ns		the strand runs: on a CPU of its own, or on one of cpu_cnt, first come, first served
 *	OFF ns		the strand is off the CPU for that long, whatever the others do: a disk, a timer, another program
 *	TAKE resource	waits until a unit is free (a lock has one, a pool one per worker); first come, first served
 *	GIVE resource	passes a unit to the strand that has waited longest
 *	TAKE_ALL, GIVE_ALL	the same with all units: a writer among readers
 *	AWAIT event	waits until the event is posted, then ns more; continues at once if it was posted before
 *	POST event
 *	BEGIN, END	of an interval
 *
 * With cpu_cnt CPUs a strand keeps its CPU until it is off or waits; after slice_ns it goes to the end of the queue, if others wait there.
 *
 * A TAKE with a time is that of a lock whose waiters sleep: the release wakes the strand that waited longest, which takes that long
 * to come back and then tries again; a strand that asks meanwhile gets the lock first.  A strand that need not wait loses no time.
 */
#ifndef ANALYSIS_CAUSAL_REPLAY_H
#define ANALYSIS_CAUSAL_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

enum replay_op { OP_WORK, OP_OFF, OP_TAKE, OP_GIVE, OP_TAKE_ALL, OP_GIVE_ALL, OP_AWAIT, OP_POST, OP_BEGIN, OP_END };

struct replay_step {
	enum replay_op op;
	uint32_t index;			/* of the resource, event or interval */
	int64_t ns;			/* at least 0 */
};

struct replay_strand {
	size_t first, cnt;		/* of steps */
	int64_t start_ns;
};

struct replay_program {
	VEC(struct replay_step) steps;
	VEC(struct replay_strand) strands;
	VEC(uint32_t) resources;	/* units of each, free at the beginning */
	uint32_t event_cnt, interval_cnt;
	uint32_t cpu_cnt;		/* 0: one for each strand */
	int64_t slice_ns;		/* above 0, if cpu_cnt is */
};

void replay_program_release(struct replay_program *p);

#define REPLAY_NEVER INT64_MIN

struct replay_times {
	int64_t *begin_ns, *end_ns;	/* of each interval; REPLAY_NEVER */
	size_t stuck_cnt;		/* strands that wait for ever: the order of the run rules out the change */
};

void replay_run(const struct replay_program *p, struct replay_times *ret);
void replay_times_release(struct replay_times *t);

#endif
