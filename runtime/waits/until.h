/* SPDX-License-Identifier: Apache-2.0 */
/*
 * until.h - a call's deadline, which is meant in the thread's virtual time where clocks are virtual (runtime/causal/virtual_clock.h).
 *
 *	UNTIL u = { .of = NULL };
 *	WAITING wait = ...;
 *	return wait_error(&wait, real.sem_timedwait(s, until_real(&u, until, &wait)));
 */
#ifndef RUNTIME_WAITS_UNTIL_H
#define RUNTIME_WAITS_UNTIL_H

#include <time.h>
#include "runtime/causal/virtual_clock.h"
#include "runtime/waits/wait.h"

struct until {
	struct timespec at;		/* by the real clock */
	uint64_t behind;
	const struct wait *of;		/* NULL: the deadline is the program's own */
	bool came;			/* or the wait says so (timed_out) */
};

#define UNTIL struct until __attribute__((cleanup(until_end), unused))

const struct timespec *until_move(struct until *u, const struct timespec *until, const struct wait *of);
void until_end(struct until *u);

/* The deadline for the C library.  of: looked at when u goes out of scope, after its wait has ended. */
static inline const struct timespec *until_real(struct until *u, const struct timespec *until, const struct wait *of)
{
	return __builtin_expect(clock_is_virtual, 0) ? until_move(u, until, of) : until;
}

#endif
