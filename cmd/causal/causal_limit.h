/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * causal_limit.h - what is the limit when the best target is so much faster that more gains nothing.
 *
 * The part of the run's trace with the target as fast as it was asked at all, in virtual time, is analysed as any run.  Of its
 * intervals' parts (with other threads' work that they wait for), the largest one is named:
 *
 *	log_flush: 50 % gains 31 %, 75 % and 100 % 33 %; at 100 % the intervals are mostly format_reply: that is the limit beyond 50 %
 */
#ifndef CMD_CAUSAL_CAUSAL_LIMIT_H
#define CMD_CAUSAL_CAUSAL_LIMIT_H

#include "analysis/causal/experiments.h"
#include "store/store.h"

/* Sets limit of one of e's experiments, if its trace shows it. */
void causal_find_limit(struct store *s, const struct run *run, struct experiments *e);

#endif
