/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay_build.h - turns a trace into a program for replay.h, with the change of one question.
 *
 * A thread is a strand, and works while it runs.  A wait that another thread ended waits for that moment of the other thread.  A
 * wait that a device, a timer or an unknown waker ended lasts as long as it did.  A thread that picks up tasks (struct creation) is
 * one strand per task; these strands share a pool with one unit per such thread, so a free worker takes the next task.
 *
 * If the run noted every synchronisation (struct sync_op), locks, semaphores and barriers wait in the replay for whoever has them
 * then (replay_sync.h).  Else a trace holds only what happened.  A thread that found a lock free never waits for it in the replay, although a change may make
 * it arrive while the lock is held; and a thread that waited for a holder waits for that holder, although it might arrive first.
 * The answer is exact if the same waits happen after the change; else it may be off (measured in tests/unit/analysis/test_predict.c).
 */
#ifndef ANALYSIS_CAUSAL_REPLAY_BUILD_H
#define ANALYSIS_CAUSAL_REPLAY_BUILD_H

#include "analysis/causal/experiments.h"
#include "analysis/causal/replay.h"
#include "analysis/path/timeline.h"

struct replay_stretch {			/* of a thread, by its number in the timeline */
	uint32_t thread;
	int64_t from_ns, to_ns;
};

typedef VEC(struct replay_stretch) replay_stretches;

struct replay_question {
	enum asked_kind kind;
	const char *name;		/* from experiment_target_parse(); NULL: none */
	double speedup;			/* 0: the run unchanged */
	replay_stretches *changed;	/* gets the time that the question changes, by thread and time; NULL: not wanted */
};

/* interval: the number of a name; the program gets its completed intervals, in the trace's order.  Returns the number of steps that
 * the question changes; 0: the trace has nothing of that name. */
uint64_t replay_build(const struct timeline *tl, uint32_t interval, const struct replay_question *q, struct replay_program *ret);

/* Whether that interval of the trace counts: it has that name and was completed. */
bool replay_counts(const struct interval *iv, uint32_t name);

#endif
