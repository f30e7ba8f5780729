/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay.h - a run as strands of steps, which can be run again with something changed.
 *
 *	strand 0: BEGIN 0, WORK 40, TAKE lock, OFF 100, GIVE lock, POST 0, END 0
 *	strand 1: WORK 20, TAKE lock, WORK 10, GIVE lock, AWAIT 0 (+5), WORK 7
 *
 * Times are ns from 0.  A step begins when the one before it is done; of two strands that want the same at one time, the one that
 * came first gets it.
 *
 *	WORK ns		the strand runs; there is a CPU for each
 *	OFF ns		it is off the CPU for so long, whatever the others do: a disk, a timer, somebody outside
 *	TAKE resource	it waits until a unit is free (a lock has one, a pool as many as it has workers); first come, first served
 *	GIVE resource	a unit goes to who waits longest
 *	AWAIT event	it waits until the event is posted, and then another ns; posted before: it goes on at once
 *	POST event
 *	BEGIN, END	of an interval
 */
#ifndef ANALYSIS_CAUSAL_REPLAY_H
#define ANALYSIS_CAUSAL_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

enum replay_op { OP_WORK, OP_OFF, OP_TAKE, OP_GIVE, OP_AWAIT, OP_POST, OP_BEGIN, OP_END };

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
	VEC(uint32_t) resources;	/* units of each */
	uint32_t event_cnt, interval_cnt;
};

void replay_program_release(struct replay_program *p);

#define REPLAY_NEVER INT64_MIN

struct replay_times {
	int64_t *begin_ns, *end_ns;	/* of each interval; REPLAY_NEVER */
	size_t stuck_cnt;		/* strands that wait for ever: the order of the run does not allow the change */
};

void replay_run(const struct replay_program *p, struct replay_times *ret);
void replay_times_release(struct replay_times *t);

#endif
