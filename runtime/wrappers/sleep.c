/* SPDX-License-Identifier: Apache-2.0 */
/* sleep.c - wrappers of calls that wait for time to pass: class sleep, without a waker. */
#include "runtime/waits/until.h"
#include "runtime/waits/wait.h"
#include "runtime/wrappers/real.h"

/* Whether the program sleeps until a time. */
#define UNTIL_thrd_sleep 0
#define UNTIL_sleep 0
#define UNTIL_usleep 0
#define UNTIL_nanosleep 0
#define UNTIL_clock_nanosleep (flags & TIMER_ABSTIME)

#define MOVE_thrd_sleep
#define MOVE_sleep
#define MOVE_usleep
#define MOVE_nanosleep
#define MOVE_clock_nanosleep if (UNTIL_clock_nanosleep && virtual_clock_has(clock)) length = until_real(&u, length, &wait);

#define X(type, name, params, args)								\
	type vprof_w_##name params								\
	{											\
		UNTIL u = { .of = NULL };							\
												\
		if (causal_on && UNTIL_##name)							\
			causal_until();								\
		WAITING wait = wait_begin(WAIT_SLEEP, 0);					\
		MOVE_##name									\
		type r = real.name args;							\
		u.came = r == 0;								\
		return r;									\
	}
SLEEP_WRAPPERS(X)
