/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutex.h - a free mutex is taken without a call.
 *
 * A lock has to be tried before it is waited for, so that the wait is known; but glibc's trylock does
 * more than its lock does when the mutex is free, and 3 ns more show in a critical section of 20 ns.  So
 * what glibc's lock does with a plain mutex that is free is done here:
 *
 *	{ lock 0, owner 0, users 0, kind 0 }  ->  { lock 1, owner 4711, users 1, kind 0 }
 *
 * Everything else, and letting it go, is the C library's.  Nobody may miss the call: it is left out only where
 * the program's pthread_mutex_lock() is the C library's own (not a sanitizer's, say), which was seen to do just
 * that (mutex.c).  What the C library calls a thread is read from the first mutex that it took for it.
 */
#ifndef RUNTIME_WRAPPERS_MUTEX_H
#define RUNTIME_WRAPPERS_MUTEX_H

#include <pthread.h>
#include <stdbool.h>
#include "runtime/thread.h"

/* Once: may mutex_take() be used in this process? */
void mutex_prepare(void);

/* The C library has just taken this mutex for us: from now on mutex_take() can. */
void mutex_learn(const pthread_mutex_t *m);

/* What the C library calls this thread, told without a system call; 0: it does not say. */
uint32_t mutex_owner(void);

/* A child of a fork has another name. */
static inline void mutex_forget(void)
{
	vprof_self.tid = 0;
}

#ifdef __GLIBC__
enum { MUTEX_SHARED = 128 };		/* of the kinds whose lock is taken as a private one's */

/* False: it is not free, of another kind, or the C library has to do it. */
static inline bool mutex_take(pthread_mutex_t *m)
{
	int expected = 0, tid = vprof_self.tid;

	if (!tid || m->__data.__kind & ~MUTEX_SHARED ||
	    !__atomic_compare_exchange_n(&m->__data.__lock, &expected, 1, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return false;
	m->__data.__owner = tid;
	m->__data.__nusers++;
	return true;
}
#else
static inline bool mutex_take(pthread_mutex_t *m)
{
	(void)m;
	return false;
}
#endif

#endif
