/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * waiters.h - waits in functions that carry no probe: such waits count for the probed function around them, which does
 * not show where in it the time goes.
 *
 * Private to analysis/.  The traces' segments have the caller of what blocked (struct wait_caller).  Example: handle has a
 * probe, lock_slow, which it calls through a pointer, has none:
 *
 *	handle > wait:lock .62		waiters: lock_slow in handle, lock, .62
 *
 * Shares are exact, as those of the tree: Cov(X, T) / Var(T), X the time in such waits on the intervals' own threads.
 */
#ifndef ANALYSIS_PASS_WAITERS_H
#define ANALYSIS_PASS_WAITERS_H

#include "analysis/pass/pass.h"

void find_waiters(const struct analysis *a);		/* f->waiters */

#endif
