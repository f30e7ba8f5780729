/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay_build.h - a trace as a program for replay.h, with the answer to one question built in.
 *
 * A thread is a strand.  It works while it runs.  A wait that another thread ended waits for that moment of the other thread; one
 * that a device, a timer or nobody known ended lasts as long as it did.  A thread that picks up tasks (struct creation) is several
 * strands, one a task, which share a pool of as many units as there are such threads: who is free takes the next task.
 *
 * What did not happen is not in a trace: a thread that found a lock free is never made to wait for it, though with something faster
 * it might come at a bad moment; and one that waited for a holder waits for that holder, though it might come first.  Where the
 * same waits happen after the change the answer is exact, else it may be off (tests/unit/analysis/test_predict.c measures it).
 */
#ifndef ANALYSIS_CAUSAL_REPLAY_BUILD_H
#define ANALYSIS_CAUSAL_REPLAY_BUILD_H

#include "analysis/causal/experiments.h"
#include "analysis/causal/replay.h"
#include "analysis/path/timeline.h"

struct replay_question {
	enum asked_kind kind;
	const char *name;		/* as experiment_target_parse() yields it; NULL: none */
	double speedup;			/* 0: the run as it was */
};

/* interval: a name's number; its completed intervals, in the trace's order, are the program's.  Returns how many steps the question
 * changes; 0: the trace has nothing of that name. */
uint64_t replay_build(const struct timeline *tl, uint32_t interval, const struct replay_question *q, struct replay_program *ret);

/* Whether that interval of the trace counts. */
bool replay_counts(const struct interval *iv, uint32_t name);

#endif
