/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutex.c - tests whether the C library's mutex is as mutex.h assumes.
 *
 * The test uses a mutex of our own, in both directions: its lock must leave the words that we would write,
 * and it must treat our words as locked and release them in its unlock.  With
 * GLIBC_TUNABLES=glibc.elision.enable=1, for example, its lock changes the kind, and mutex_take() stays off.
 */
#include <errno.h>
#include <string.h>
#include "runtime/causal/causal.h"
#include "runtime/wrappers/mutex.h"
#include "runtime/wrappers/plt_hooks.h"
#include "runtime/wrappers/real.h"

#ifdef __GLIBC__
REAL_NEEDS(pthread_mutex_lock);
REAL_NEEDS(pthread_mutex_unlock);

static bool known;

static bool is_locked_by(const pthread_mutex_t *m, int tid)
{
	return m->__data.__lock == 1 && m->__data.__owner == tid && m->__data.__nusers == 1 &&
	       m->__data.__kind == 0;
}

static bool is_unlocked(pthread_mutex_t *m)
{
	static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

	return !real.pthread_mutex_unlock(m) && !memcmp(m, &fresh, sizeof(fresh));
}

static bool is_as_expected(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	int tid = (int)thread_tid(), before = vprof_self.tid;
	bool result = !real.pthread_mutex_lock(&m) && is_locked_by(&m, tid) && is_unlocked(&m) &&
		      !real.pthread_mutex_trylock(&m) && is_locked_by(&m, tid) && is_unlocked(&m);

	vprof_self.tid = tid;
	result = result && mutex_take(&m) && is_locked_by(&m, tid) &&
		 real.pthread_mutex_trylock(&m) == EBUSY && is_unlocked(&m);
	vprof_self.tid = before;
	return result;
}

uint32_t mutex_owner(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	int tid;

	if (real.pthread_mutex_lock(&m))
		return 0;
	tid = m.__data.__owner;
	real.pthread_mutex_unlock(&m);
	return tid > 0 ? (uint32_t)tid : 0;
}

void mutex_prepare(void)
{
	const void *functions[] = { (const void *)real.pthread_mutex_lock,
				    (const void *)real.pthread_mutex_trylock,
				    (const void *)real.pthread_mutex_unlock };

	known = !causal_on && libraries_has_c(functions, sizeof(functions) / sizeof(functions[0])) && is_as_expected();
}

void mutex_learn(const pthread_mutex_t *m)
{
	if (known && !(m->__data.__kind & ~MUTEX_SHARED))
		vprof_self.tid = m->__data.__owner;
}
#else
uint32_t mutex_owner(void)
{
	return 0;
}

void mutex_prepare(void)
{
}

void mutex_learn(const pthread_mutex_t *m)
{
	(void)m;
}
#endif
