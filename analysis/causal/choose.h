/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * choose.h - turns a run's factors into targets for causal experiments.
 *
 *	factor				target
 *	function f, body of f		f, body:f
 *	wait:io in f, wait:sleep in f	io@f
 *	wait:lock, cond, join in f	refused; instead, the functions that its blames name; of a lock also lock:f, unless one of
 *					them explains nearly all of the wait
 *	wait:queue			refused; instead, the functions that its blames name
 *	time without a CPU		refused: pausing other threads would free the CPUs in question
 *
 * A replay accepts what an experiment refuses: wait:f, queue, runqueue.
 */
#ifndef ANALYSIS_CAUSAL_CHOOSE_H
#define ANALYSIS_CAUSAL_CHOOSE_H

#include "analysis/causal/experiments.h"

#define CHOICE_SHARE_MIN 0.1		/* share of the variance below which a factor is not worth an experiment */
enum { CHOICE_MAX = 16 };

enum choice_for {
	CHOICE_EXPERIMENT,
	CHOICE_REPLAY,			/* refuses nothing, and appends the targets that only a replay accepts, too */
	CHOICE_REPLAY_OF_LOCKS		/* ... of a run that noted every taking of a lock */
};

/* Appends each target once, those of larger factors first; e's arena holds their texts. */
void choose_targets(const struct findings *f, enum choice_for of, struct experiments *e, strings *ret);

#endif
