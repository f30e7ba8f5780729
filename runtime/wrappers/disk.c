/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk.c - wrappers of calls that take as long as a device or another machine takes: class io, and
 * nobody of the run wakes.  One line each; CALL_TICKS_MIN tells a wait from a look into the cache.
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

/* Somebody may be told of it: inotify. */
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
