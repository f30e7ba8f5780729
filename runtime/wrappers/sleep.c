/* SPDX-License-Identifier: Apache-2.0 */
/* sleep.c - wrappers of what waits for time to pass: class sleep, nobody wakes. */
#include "runtime/waits/wait.h"
#include "runtime/wrappers/real.h"

#define X(type, name, params, args)								\
	type vprof_w_##name params								\
	{											\
		WAITING wait = wait_begin(WAIT_SLEEP, 0);					\
		return real.name args;								\
	}
SLEEP_WRAPPERS(X)
