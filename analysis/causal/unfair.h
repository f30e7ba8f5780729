/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unfair.h - in which order the locks of a run go round, if it noted them all (record --order).
 *
 *	T2 asks for m at 20; T1 lets it go at 30, takes it again at 31, lets it go at 40; T2 has it at 41:
 *	of two releases while others waited, after one the same thread had it again
 *
 * After a change another thread may be the one that comes again and again: means hold then, quantiles may not.
 */
#ifndef ANALYSIS_CAUSAL_UNFAIR_H
#define ANALYSIS_CAUSAL_UNFAIR_H

#include "trace/model.h"

/* The largest share, of a lock with at least 20 such releases; *ret_lock: its name.  0: there is none.  t is sorted. */
double unfair_lock(const struct trace *t, const char **ret_lock);

#endif
