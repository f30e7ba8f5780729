/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold.h - home-made locks and events, between ACQUIRE and ACQUIRED: a small stack in each thread.
 *
 * The runtime cannot see whether a function that may spin waits.  So it announces the wait to releasers from the beginning,
 * which takes four additions to shared memory and two clock readings even if the lock is free.  A function
 * declared never to spin (VPROF_NEVER_SPINS) waits only where a wait, or another hold, begins inside it: the wait is
 * announced then.  If no such call comes, the hold is only pushed on the stack and popped.
 *
 *	ACQUIRE lock, never spins	[lock, -]
 *	  ACQUIRE semaphore		[lock, announced at 100] [semaphore, announced at 101]
 *	    sem_wait() blocks, is woken by thread 3 at 170
 *	  ACQUIRED semaphore, at 180	[lock, announced at 100, woken at 170 by thread 3]
 *	ACQUIRED lock, at 182		a wait from 100 to 182
 *
 * A thread that releases the lock after the acquirer checked it and before 100 leaves no stamp for the lock.  But it posts
 * the semaphore: the waker of the last wait inside counts then.
 */
#ifndef RUNTIME_WAITS_HOLD_H
#define RUNTIME_WAITS_HOLD_H

#include <stdbool.h>
#include <stdint.h>
#include "trace/format.h"

void hold_begin(uint64_t object, bool never_spins);

/* Holds opened later and never closed (longjmp, a path that gave up) end with it. */
void hold_end(uint64_t object, enum wait_class class);

/* The thread is about to wait: announces the holds around that wait. */
void holds_wait(void);

/* A wait is over: its waker, and when; 0: unknown. */
void holds_woken(uint64_t waker, uint64_t woken);

#endif
