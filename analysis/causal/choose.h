/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * choose.h - from the factors of a run to targets that causal experiments can ask.
 *
 *	function f, body of f		f, body:f
 *	wait:io in f, wait:sleep in f	io@f
 *	wait:lock, cond, join in f	the functions that the blames name: what the thread that is waited for does meanwhile
 *	wait:queue			what its thread does for others: the same
 *	without a CPU			nothing that a pause could imitate
 *
 * The last three are kept as refusals with what is asked instead; a replay is asked themselves as well (wait:f, queue, runqueue).
 */
#ifndef ANALYSIS_CAUSAL_CHOOSE_H
#define ANALYSIS_CAUSAL_CHOOSE_H

#include "analysis/causal/experiments.h"

#define CHOICE_SHARE_MIN 0.1		/* of the variance: smaller factors are not worth an experiment */
enum { CHOICE_MAX = 16 };

/* Appends each target once, those of larger factors first; texts are in e's arena.  for_replay: also what only a replay answers,
 * and nothing is refused. */
void choose_targets(const struct findings *f, bool for_replay, struct experiments *e, strings *ret);

#endif
