/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold.h - home-made locks and events, between ACQUIRE and ACQUIRED: a small stack in each thread.
 *
 * Of a function that may spin nobody can tell whether it waits.  So its releasers are told from the beginning, which
 * takes four additions to memory that all processes share and two clock readings, though the lock be free.  A function
 * of which it is said that it never spins (VPROF_NEVER_SPINS) waits only where a wait begins inside it, or another hold: then
 * they are told.  One that meets no such call takes a place on the stack and leaves it.
 *
 *	ACQUIRE lock, never spins	[lock, -]
 *	  ACQUIRE semaphore		[lock, told at 100] [semaphore, told at 101]
 *	    sem_wait() blocks, is woken by thread 3 at 170
 *	  ACQUIRED semaphore, at 180	[lock, told at 100, woken at 170 by thread 3]
 *	ACQUIRED lock, at 182		a wait from 100 to 182
 *
 * Who lets the lock go between the acquirer's look at it and 100 leaves no stamp for the lock.  But he posts the
 * semaphore: who ended the last wait inside is taken then.
 */
#ifndef RUNTIME_WAITS_HOLD_H
#define RUNTIME_WAITS_HOLD_H

#include <stdbool.h>
#include <stdint.h>
#include "trace/format.h"

void hold_begin(uint64_t object, bool never_spins);

/* Holds opened later and never closed (longjmp, a path that gave up) end with it. */
void hold_end(uint64_t object, enum wait_class class);

/* The thread is about to wait: whoever can end a hold around that is told. */
void holds_wait(void);

/* A wait is over: who ended it, and when; 0: not known. */
void holds_woken(uint64_t waker, uint64_t woken);

#endif
