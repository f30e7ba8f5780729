/* SPDX-License-Identifier: Apache-2.0 */
/* sleep.c - wrappers of calls that wait for time to pass: class sleep, without a waker. */
#include "runtime/waits/wait.h"
#include "runtime/wrappers/real.h"

#define X(type, name, params, args)								\
	type vprof_w_##name params								\
	{											\
		WAITING wait = wait_begin(WAIT_SLEEP, 0);					\
		return real.name args;								\
	}
SLEEP_WRAPPERS(X)
