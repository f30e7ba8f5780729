/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.c - wrappers of mutexes, read-write locks, spin locks and semaphores.
 *
 * Each tries first: glibc's lock takes its fast path by the same exchange as its trylock, so an
 * uncontended lock costs what it did.  Only when that fails the wait is timed.  Whatever the try
 * says other than "busy" the real call would say too; on "busy" the real call decides, so
 * deadlock errors, robust mutexes and timeouts are the library's own.
 *
 * Before it lets go, a releaser stamps if somebody waits.
 */
#include <errno.h>
#include "runtime/wait.h"
#include "runtime/wrappers.h"

#define WAITING(class, object) \
	struct wait wait __attribute__((cleanup(wait_end))) = wait_begin(class, object)

/*
 * Objects shared by processes are named by address alone, others by process and address.  Where
 * the C library does not say which it is, it is private.
 */
static uint64_t object_of(const void *address, bool shared)
{
	return shared ? (uint64_t)address : releasers_private((uint64_t)address);
}

#ifdef __GLIBC__
static uint64_t mutex_object(const pthread_mutex_t *m)
{
	return object_of(m, m->__data.__kind & 128);
}

static uint64_t mutex_holder(const pthread_mutex_t *m)
{
	return (uint64_t)__atomic_load_n(&m->__data.__owner, __ATOMIC_RELAXED);
}

static uint64_t rwlock_object(const pthread_rwlock_t *l)
{
	return object_of(l, l->__data.__shared);
}

static uint64_t sem_object(const sem_t *s)
{
	return object_of(s, ((const unsigned int *)s)[sizeof(long) / sizeof(int)]);
}
#else
static uint64_t mutex_object(const pthread_mutex_t *m)
{
	return object_of(m, false);
}

static uint64_t mutex_holder(const pthread_mutex_t *m)
{
	(void)m;
	return 0;
}

static uint64_t rwlock_object(const pthread_rwlock_t *l)
{
	return object_of(l, false);
}

static uint64_t sem_object(const sem_t *s)
{
	return object_of(s, false);
}
#endif

/* The C library looks at the time before it looks at these locks. */
static bool is_time(const struct timespec *t)
{
	return t->tv_nsec >= 0 && t->tv_nsec < 1000000000;
}

static struct wait wait_for_mutex(const pthread_mutex_t *m)
{
	struct wait w = wait_begin(WAIT_LOCK, mutex_object(m));

	w.holder_tid = mutex_holder(m);
	return w;
}

#define WAITING_FOR_MUTEX(m) \
	struct wait wait __attribute__((cleanup(wait_end))) = wait_for_mutex(m)

int vprof_w_pthread_mutex_lock(pthread_mutex_t *m)
{
	int r = vprof_self.gate ? pthread_mutex_trylock(m) : EBUSY;

	if (r != EBUSY)
		return r;
	WAITING_FOR_MUTEX(m);
	r = pthread_mutex_lock(m);
	wait.result = r == EOWNERDEAD ? 0 : r;
	return r;
}

int vprof_w_pthread_mutex_trylock(pthread_mutex_t *m)
{
	return pthread_mutex_trylock(m);
}

int vprof_w_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
	int r = vprof_self.gate ? pthread_mutex_trylock(m) : EBUSY;

	if (r != EBUSY)
		return r;
	WAITING_FOR_MUTEX(m);
	r = pthread_mutex_timedlock(m, until);
	wait.result = r == EOWNERDEAD ? 0 : r;
	return r;
}

int vprof_w_pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
				    const struct timespec *until)
{
	WAITING_FOR_MUTEX(m);
	wait.result = pthread_mutex_clocklock(m, clock, until);
	return wait.result;
}

int vprof_w_pthread_mutex_unlock(pthread_mutex_t *m)
{
	if (vprof_self.gate && process.arena.base)
		releasers_stamp_lock(mutex_object(m));
	return pthread_mutex_unlock(m);
}

int vprof_w_pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	int r = vprof_self.gate ? pthread_rwlock_tryrdlock(l) : EBUSY;

	if (r != EBUSY)
		return r;
	WAITING(WAIT_LOCK, rwlock_object(l));
	return wait.result = pthread_rwlock_rdlock(l);
}

int vprof_w_pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
	return pthread_rwlock_tryrdlock(l);
}

int vprof_w_pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *until)
{
	int r = vprof_self.gate && is_time(until) ? pthread_rwlock_tryrdlock(l) : EBUSY;

	if (r != EBUSY)
		return r;
	WAITING(WAIT_LOCK, rwlock_object(l));
	return wait.result = pthread_rwlock_timedrdlock(l, until);
}

int vprof_w_pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	int r = vprof_self.gate ? pthread_rwlock_trywrlock(l) : EBUSY;

	if (r != EBUSY)
		return r;
	WAITING(WAIT_LOCK, rwlock_object(l));
	return wait.result = pthread_rwlock_wrlock(l);
}

int vprof_w_pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
	return pthread_rwlock_trywrlock(l);
}

int vprof_w_pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *until)
{
	int r = vprof_self.gate && is_time(until) ? pthread_rwlock_trywrlock(l) : EBUSY;

	if (r != EBUSY)
		return r;
	WAITING(WAIT_LOCK, rwlock_object(l));
	return wait.result = pthread_rwlock_timedwrlock(l, until);
}

int vprof_w_pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	if (vprof_self.gate && process.arena.base)
		releasers_stamp_lock(rwlock_object(l));
	return pthread_rwlock_unlock(l);
}

int vprof_w_pthread_spin_lock(pthread_spinlock_t *l)
{
	int r = vprof_self.gate ? pthread_spin_trylock(l) : EBUSY;

	if (r != EBUSY)
		return r;
	WAITING(WAIT_LOCK, object_of((const void *)l, false));
	return wait.result = pthread_spin_lock(l);
}

int vprof_w_pthread_spin_trylock(pthread_spinlock_t *l)
{
	return pthread_spin_trylock(l);
}

int vprof_w_pthread_spin_unlock(pthread_spinlock_t *l)
{
	if (vprof_self.gate && process.arena.base)
		releasers_stamp_lock(object_of((const void *)l, false));
	return pthread_spin_unlock(l);
}

/* The try is no cancellation point, the real call is one even if it need not block. */
static bool sem_try(sem_t *s)
{
	int saved_errno = errno;

	if (!vprof_self.gate)
		return false;
	pthread_testcancel();
	if (!sem_trywait(s))
		return true;
	errno = saved_errno;
	return false;
}

int vprof_w_sem_wait(sem_t *s)
{
	if (sem_try(s))
		return 0;
	WAITING(WAIT_LOCK, sem_object(s));
	return wait.result = sem_wait(s);
}

int vprof_w_sem_trywait(sem_t *s)
{
	return sem_trywait(s);
}

int vprof_w_sem_timedwait(sem_t *s, const struct timespec *until)
{
	if (is_time(until) && sem_try(s))
		return 0;
	WAITING(WAIT_LOCK, sem_object(s));
	return wait.result = sem_timedwait(s, until);
}

int vprof_w_sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *until)
{
	WAITING(WAIT_LOCK, sem_object(s));
	return wait.result = sem_clockwait(s, clock, until);
}

int vprof_w_sem_post(sem_t *s)
{
	int saved_errno = errno;

	if (vprof_self.gate && process.arena.base)
		releasers_stamp(sem_object(s));
	errno = saved_errno;
	return sem_post(s);
}
