/* SPDX-License-Identifier: Apache-2.0 */
/*
 * once.h - a call of pthread_once() or call_once(): the thread that runs the routine works, the others wait for it
 * (class lock).
 *
 *	struct once_call call __attribute__((cleanup(once_end))) = once_begin(once, routine);
 *	return real.pthread_once(once, once_routine(&call, routine));
 */
#ifndef RUNTIME_WRAPPERS_ONCE_H
#define RUNTIME_WRAPPERS_ONCE_H

#include "runtime/waits/wait.h"

struct once_call {
	struct wait wait;
	void (*routine)(void);
	struct once_call *outer;	/* a routine may itself call pthread_once() */
};

struct once_call once_begin_from(uint64_t caller, const void *once, void (*routine)(void));
#define once_begin(once, routine) once_begin_from(CALLER, once, routine)
void once_end(struct once_call *c);

/* The routine to pass to the library instead. */
void (*once_routine(struct once_call *c, void (*routine)(void)))(void);

#endif
