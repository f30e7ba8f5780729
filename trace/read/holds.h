/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * holds.h - the threads that a wait for a lock waited for, one after the other.
 */
#ifndef TRACE_READ_HOLDS_H
#define TRACE_READ_HOLDS_H

#include "trace/read/releases.h"

struct lock_wait {
	uint64_t object;
	int64_t start_ns, woken_ns;
	uint32_t thread;		/* the waiting thread */
	uint32_t waker;			/* the thread that released at woken_ns; UINT32_MAX: it left no records */
};

#define HELD_UNKNOWN UINT32_MAX

struct held {
	int64_t since_ns, until_ns;
	uint32_t thread;		/* or HELD_UNKNOWN: held by an unknown thread, or by none */
};

#define HELD_MOST (2 * RELEASES_MOST + 2)

/*
 * In order of time, disjoint, within (start, woken]; the last one ends when the waiter was woken.  In between the lock was
 * free.  Returns how many; at least one.
 */
size_t holds_during(const struct releases *list, const struct lock_wait *w, struct held ret[HELD_MOST]);

#endif
