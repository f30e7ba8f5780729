/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk.c - wrappers of calls that wait for a device or another machine: class io, without a waker in the run.
 * One line each; a call longer than CALL_TICKS_MIN is a wait, a shorter one was served by the cache.
 */
#include "runtime/waits/flow.h"
#include "runtime/waits/wait.h"
#include "runtime/wrappers/real.h"

#define X(type, name, params, args)								\
	type vprof_w_##name params								\
	{											\
		WAITING wait = wait_begin_call(WAIT_IO, 0);					\
		return real.name args;								\
	}
DISK_WRAPPERS(X)
DISK_ALIASES(X)
#undef X

/* A thread may be notified of it: inotify. */
#define X(type, name, params, args)								\
	type vprof_w_##name params								\
	{											\
		WAITING wait = wait_begin_call(WAIT_IO, 0);					\
												\
		flow_stamp_change(fd);								\
		return real.name args;								\
	}
DISK_WRITE_WRAPPERS(X)
DISK_WRITE_ALIASES(X)
