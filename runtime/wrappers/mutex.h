/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutex.h - a free mutex is taken without a call.
 *
 * The wrapper tries a lock before it waits, so that it knows of the wait; but glibc's trylock takes
 * longer than its lock if the mutex is free, and 3 ns more show in a critical section of 20 ns.  So
 * this does what glibc's lock does with a free plain mutex:
 *
 *	{ lock 0, owner 0, users 0, kind 0 }  ->  { lock 1, owner 4711, users 1, kind 0 }
 *
 * The C library does everything else, and the unlock.  The call is left out only if
 * the program's pthread_mutex_lock() is the C library's own (not a sanitizer's, for example) and a test shows that it does
 * just that (mutex.c).  The C library's name of a thread is read from the first mutex that it took for the thread.
 */
#ifndef RUNTIME_WRAPPERS_MUTEX_H
#define RUNTIME_WRAPPERS_MUTEX_H

#include <pthread.h>
#include <stdbool.h>
#include "runtime/thread.h"

/* Once: whether this process may use mutex_take(). */
void mutex_prepare(void);

/* Called after the C library took this mutex for us: mutex_take() works from now on. */
void mutex_learn(const pthread_mutex_t *m);

/* The C library's name of this thread, without a system call; 0: unknown. */
uint32_t mutex_owner(void);

/* The child of a fork has another name. */
static inline void mutex_forget(void)
{
	vprof_self.tid = 0;
}

#ifdef __GLIBC__
enum { MUTEX_SHARED = 128 };		/* kinds whose lock is taken as a private mutex's is */

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
