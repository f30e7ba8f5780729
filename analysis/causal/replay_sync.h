/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay_sync.h - locks, semaphores and barriers for replay_build.c, if the run noted all of them (record --order).
 *
 * Private to replay_build.c.  Then a thread that found a lock free waits in the replay if the lock is held, and at a barrier all
 * wait for the one that comes last in the replay:
 *
 *	T1 takes m at 10, lets it go at 50; T2 asks at 60, has it at once.  If T2 asks at 30, it waits until 50.
 *
 * An object whose notes contradict each other (two hold it at a time, because some code that vprof did not see let it go) is left
 * to the waits that were recorded.
 */
#ifndef ANALYSIS_CAUSAL_REPLAY_SYNC_H
#define ANALYSIS_CAUSAL_REPLAY_SYNC_H

#include "analysis/causal/replay.h"
#include "analysis/causal/replay_build.h"

struct replay_sync_op {			/* beside the trace's sync_op of that number */
	enum { SYNC_OP_NONE, SYNC_OP_STEP, SYNC_OP_MEET } use;
	enum replay_op op;		/* SYNC_OP_STEP: its step */
	uint32_t index;			/* ... and its resource; SYNC_OP_MEET: the first of the round's events */
	uint32_t cnt, number;		/* SYNC_OP_MEET: of that round; which of them this is */
	int64_t delay_ns;		/* from the release to the end of the wait, if it has to wait */
	bool is_target;			/* of a lock that the question makes faster while it is held */
	bool is_named;			/* the question takes it away: of a lock, or of a function's waits for locks */
};

struct replay_sync {
	struct replay_sync_op *ops;	/* by number */
	size_t cnt;
	uint32_t *op_of_segment;	/* the op, plus 1, that ended that wait; 0: none did */
	uint64_t named_cnt;		/* ops that the question takes away */
};

/* Adds resources and events to p.  The trace may have no notes: cnt 0. */
void replay_sync_find(struct replay_sync *s, const struct timeline *tl, size_t segment_cnt, const struct replay_question *q,
		      struct replay_program *p);
void replay_sync_release(struct replay_sync *s);

#endif
