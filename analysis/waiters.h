/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * waiters.h - who waited in a function that carries no probe: such waits are those of the probed function around it, and
 * say nothing of where in it the time goes.
 *
 * Private to analysis/.  The traces' segments have the caller of what blocked (struct wait_caller).  Example: handle has a
 * probe, lock_slow, which it calls through a pointer, has none:
 *
 *	handle > wait:lock .62		waiters: lock_slow in handle, lock, .62
 *
 * Shares are exact, as those of the tree: Cov(X, T) / Var(T), X the time in such waits on the intervals' own threads.
 */
#ifndef ANALYSIS_WAITERS_H
#define ANALYSIS_WAITERS_H

#include "analysis/critical_path.h"

struct waiter_sums;

struct waiter_sums *waiter_sums_new(void);
void waiter_sums_free(struct waiter_sums *s);	/* NULL is fine */

/* The waits in a path of folded pieces, of an interval that stands for weight of them. */
void waiter_sums_add(struct waiter_sums *s, const struct timeline *tl, const pieces *path, int64_t latency_ns,
		     uint32_t weight);

struct analysis;
void find_waiters(struct analysis *a);		/* f->waiters */

#endif
