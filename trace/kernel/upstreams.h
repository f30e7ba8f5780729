/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * upstreams.h - which server a thread's wait was for, from what it read first after it (struct kernel_upstream).
 *
 *	T waits 10..30 in epoll_wait, runs 30..40, at 33 reads from 127.0.0.1:5432
 *				the wait's wake-up is one by the peer 127.0.0.1:5432 (KIND_PEER)
 *
 * A wait that a thread of the run ended stays that thread's: what it did says more.  One that was not for files (a lock, a CPU) is not
 * looked at, nor one of which no wake-up is known.
 */
#ifndef TRACE_KERNEL_UPSTREAMS_H
#define TRACE_KERNEL_UPSTREAMS_H

#include "trace/kernel/kernel_threads.h"

/*
 * t is sorted, and not afterwards.  Returns the TIDs of the peers by index of k->upstreams; 0: a thread of the run, or nobody known.  The
 * caller frees it; NULL: there are none.
 */
uint64_t *upstreams_add(struct trace *t, const struct kernel_trace *k, struct kernel_threads *x);

#endif
