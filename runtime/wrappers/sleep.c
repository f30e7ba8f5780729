/* SPDX-License-Identifier: Apache-2.0 */
/* sleep.c - wrappers of calls that wait for time to pass: class sleep, without a waker. */
#include "runtime/waits/wait.h"
#include "runtime/wrappers/real.h"

/* Whether the program sleeps until a time. */
#define UNTIL_thrd_sleep 0
#define UNTIL_sleep 0
#define UNTIL_usleep 0
#define UNTIL_nanosleep 0
#define UNTIL_clock_nanosleep (flags & TIMER_ABSTIME)

#define X(type, name, params, args)								\
	type vprof_w_##name params								\
	{											\
		if (causal_on && UNTIL_##name)							\
			causal_until();								\
		WAITING wait = wait_begin(WAIT_SLEEP, 0);					\
		return real.name args;								\
	}
SLEEP_WRAPPERS(X)
