/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay_pools.h - finds the pools of threads that pick up tasks.  Private to replay_build.c.
 *
 * Threads that picked up tasks of the same creator form a pool.  A worker without work waits for a creator: its previous task ended
 * when that wait began (idle_ns), and its wake-up delay is the time from the next task's creation to the task's begin.  A worker
 * that did not wait came straight from its previous task: its only delay is that of the pool.
 */
#ifndef ANALYSIS_CAUSAL_REPLAY_POOLS_H
#define ANALYSIS_CAUSAL_REPLAY_POOLS_H

#include "analysis/path/timeline.h"

enum replay_mark_kind { MARK_END, MARK_POST, MARK_PICK_UP, MARK_BEGIN, MARK_SYNC };

struct replay_mark {
	uint32_t thread;		/* its number in the timeline */
	int64_t ns;
	enum replay_mark_kind kind;
	uint32_t index;			/* of the event, interval, or sync op */
	int64_t created_ns;		/* MARK_PICK_UP */
};

typedef VEC(struct replay_mark) replay_marks;	/* by thread, time, kind */

struct replay_task {
	uint32_t thread, event, pool;
	int64_t from_ns;		/* picked up */
	int64_t idle_ns;		/* when the worker's previous task ended */
	int64_t delay_ns;		/* a free worker begins the task this long after its creation */
};

struct replay_pair {
	uint32_t worker, creator;
};

struct replay_pools {
	VEC(struct replay_pair) pairs;
	VEC(struct replay_task) tasks;	/* by thread, from_ns */
	VEC(uint32_t) units;		/* workers of each pool */
	uint32_t busiest;		/* the pool whose tasks waited longest for a worker; UINT32_MAX: no task waited */
	int64_t busiest_ns;
};

void replay_pools_add(struct replay_pools *p, uint32_t worker, uint32_t creator);

/* Makes the tasks from the marks; call it after the last replay_pools_add(). */
void replay_pools_finish(struct replay_pools *p, const struct timeline *tl, const replay_marks *marks);
void replay_pools_release(struct replay_pools *p);

#endif
