/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.c - wrappers of mutexes, read-write locks, spin locks and semaphores.
 *
 * Each tries first: glibc's lock takes its fast path by the same exchange as its trylock, so an uncontended
 * lock costs about what it did (a mutex: mutex.h).  Only when that fails the wait is timed.  Any result of
 * the try other than "busy" would also be that of the real call; on "busy" the real call decides, so deadlock
 * errors, robust mutexes and timeouts are the library's own.
 *
 * A thread that records nothing calls the real function directly.  A releaser leaves a stamp before the
 * release if a thread waits; a thread that gets a lock at once while another waits for it logs when
 * (releasers_took()).
 */
#include <errno.h>
#include "runtime/waits/object.h"
#include "runtime/waits/until.h"
#include "runtime/waits/wait.h"
#include "runtime/wrappers/mutex.h"
#include "runtime/wrappers/real.h"

REAL_NEEDS(pthread_mutex_trylock);
REAL_NEEDS(pthread_rwlock_tryrdlock);
REAL_NEEDS(pthread_rwlock_trywrlock);
REAL_NEEDS(pthread_spin_trylock);
REAL_NEEDS(sem_trywait);

/* The C library checks the time-out before it checks these locks; what none at all means, it decides. */
static bool is_time(const struct timespec *t)
{
	return t && t->tv_nsec >= 0 && t->tv_nsec < 1000000000;
}

/* ... and at the clock. */
static bool is_clock(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

/* A thread that owes would come too early, and the lock would go round in another order. */
static void ask(void)
{
	if (causal_on)
		causal_settle();
}

static void took(uint64_t object, enum order_what what)
{
	releasers_took(object);
	order_took(object, what);
	if (causal_on)
		causal_took(object);
}

/* r: result of a call that does not wait. */
static int mutex_had(const pthread_mutex_t *m, int r)
{
	if ((!r || r == EOWNERDEAD) && !object_mutex_is_nested(m))
		took(object_mutex(m), ORDER_TAKE);
	return r;
}

static int had(uint64_t object, int r, enum order_what what)
{
	if (!r)
		took(object, what);
	return r;
}

/*
 * EBUSY: call the real function.  A robust mutex is not tried: glibc's trylock keeps one that is not
 * recoverable, and the call that comes next would find it taken.
 */
static int try_mutex(pthread_mutex_t *m)
{
	ask();
	return vprof_self.gate && !object_mutex_is_robust(m) ? mutex_had(m, real.pthread_mutex_trylock(m)) : EBUSY;
}

static struct wait wait_for_mutex_from(uint64_t caller, const pthread_mutex_t *m)
{
	struct wait w = object_mutex_is_robust(m) ? wait_begin_call_from(caller, WAIT_LOCK, object_mutex(m))
						  : wait_begin_from(caller, WAIT_LOCK, object_mutex(m));

	w.holder_tid = object_mutex_holder(m);
	w.is_lock = true;
	w.order = ORDER_TAKE;
	return w;
}

static struct wait wait_for_rwlock_from(uint64_t caller, const pthread_rwlock_t *l, enum order_what what)
{
	struct wait w = wait_begin_from(caller, WAIT_LOCK, object_rwlock(l));

	w.holder_tid = object_rwlock_writer(l);
	w.is_lock = true;
	w.order = what;
	return w;
}

#define wait_for_mutex(m) wait_for_mutex_from(CALLER, m)
#define wait_for_rwlock(l, what) wait_for_rwlock_from(CALLER, l, what)

/* Not inlined into lock_recorded() and unlock_awaited(), whose common path then needs no stack. */
static __attribute__((noinline)) int lock_busy(pthread_mutex_t *m, uint64_t caller)
{
	WAITING wait = wait_for_mutex_from(caller, m);
	int r = real.pthread_mutex_lock(m);

	wait.result = r == EOWNERDEAD ? 0 : r;
	return r;
}

static __attribute__((noinline)) int lock_recorded(pthread_mutex_t *m, uint64_t caller)
{
	int r;

	if (process_is_alone())
		vprof_self.gate = 0;
	r = try_mutex(m);
	if (!r)
		mutex_learn(m);
	return r == EBUSY ? lock_busy(m, caller) : r;
}

static __attribute__((noinline)) int took_awaited(const pthread_mutex_t *m)
{
	releasers_took_awaited(object_mutex(m));
	order_took(object_mutex(m), ORDER_TAKE);
	return 0;
}

int vprof_w_pthread_mutex_lock(pthread_mutex_t *m)
{
	if (mutex_take(m))
		return __builtin_expect(releasers_are_awaited_now((uint64_t)m), 0) ? took_awaited(m) : 0;
	return vprof_self.gate ? lock_recorded(m, CALLER) : real.pthread_mutex_lock(m);
}

int vprof_w_pthread_mutex_trylock(pthread_mutex_t *m)
{
	return mutex_had(m, real.pthread_mutex_trylock(m));
}

int vprof_w_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
	int r = try_mutex(m);

	if (r != EBUSY)
		return r;
	UNTIL u = { .of = NULL };
	WAITING wait = wait_for_mutex(m);
	r = wait_error(&wait, real.pthread_mutex_timedlock(m, until_real(&u, until, &wait)));
	if (r == EOWNERDEAD)
		wait.result = 0;
	return r;
}

int vprof_w_pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
				    const struct timespec *until)
{
	int r = is_clock(clock) ? try_mutex(m) : EBUSY;

	if (r != EBUSY)
		return r;
	UNTIL u = { .of = NULL };
	WAITING wait = wait_for_mutex(m);
	r = wait_error(&wait, real.pthread_mutex_clocklock(m, clock, until_real(&u, until, &wait)));
	if (r == EOWNERDEAD)
		wait.result = 0;
	return r;
}

static __attribute__((noinline)) int unlock_awaited(pthread_mutex_t *m)
{
	if (!object_mutex_is_nested(m))
		releasers_stamp_awaited(object_mutex(m), EVENT_UNLOCK);
	return real.pthread_mutex_unlock(m);
}

int vprof_w_pthread_mutex_unlock(pthread_mutex_t *m)
{
	/* The place follows from the address, whatever else is in the name. */
	if (__builtin_expect(releasers_are_awaited((uint64_t)m), 0))
		return unlock_awaited(m);
	return real.pthread_mutex_unlock(m);
}

int vprof_w_pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	int r;

	if (!vprof_self.gate)
		return real.pthread_rwlock_rdlock(l);
	ask();
	r = had(object_rwlock(l), real.pthread_rwlock_tryrdlock(l), ORDER_SHARE);
	if (r != EBUSY)
		return r;
	WAITING wait = wait_for_rwlock(l, ORDER_SHARE);
	return wait.result = real.pthread_rwlock_rdlock(l);
}

int vprof_w_pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
	return had(object_rwlock(l), real.pthread_rwlock_tryrdlock(l), ORDER_SHARE);
}

int vprof_w_pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *until)
{
	int r = vprof_self.gate && is_time(until) ? vprof_w_pthread_rwlock_tryrdlock(l) : EBUSY;

	if (r != EBUSY)
		return r;
	UNTIL u = { .of = NULL };
	WAITING wait = wait_for_rwlock(l, ORDER_SHARE);
	return wait_error(&wait, real.pthread_rwlock_timedrdlock(l, until_real(&u, until, &wait)));
}

int vprof_w_pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t clock,
				       const struct timespec *until)
{
	bool tries = vprof_self.gate && is_clock(clock) && is_time(until);
	int r = tries ? vprof_w_pthread_rwlock_tryrdlock(l) : EBUSY;

	if (r != EBUSY)
		return r;
	UNTIL u = { .of = NULL };
	WAITING wait = wait_for_rwlock(l, ORDER_SHARE);
	return wait_error(&wait, real.pthread_rwlock_clockrdlock(l, clock, until_real(&u, until, &wait)));
}

int vprof_w_pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	int r;

	if (!vprof_self.gate)
		return real.pthread_rwlock_wrlock(l);
	ask();
	r = had(object_rwlock(l), real.pthread_rwlock_trywrlock(l), ORDER_TAKE);
	if (r != EBUSY)
		return r;
	WAITING wait = wait_for_rwlock(l, ORDER_TAKE);
	return wait.result = real.pthread_rwlock_wrlock(l);
}

int vprof_w_pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
	return had(object_rwlock(l), real.pthread_rwlock_trywrlock(l), ORDER_TAKE);
}

int vprof_w_pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *until)
{
	int r = vprof_self.gate && is_time(until) ? vprof_w_pthread_rwlock_trywrlock(l) : EBUSY;

	if (r != EBUSY)
		return r;
	UNTIL u = { .of = NULL };
	WAITING wait = wait_for_rwlock(l, ORDER_TAKE);
	return wait_error(&wait, real.pthread_rwlock_timedwrlock(l, until_real(&u, until, &wait)));
}

int vprof_w_pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock,
				       const struct timespec *until)
{
	bool tries = vprof_self.gate && is_clock(clock) && is_time(until);
	int r = tries ? vprof_w_pthread_rwlock_trywrlock(l) : EBUSY;

	if (r != EBUSY)
		return r;
	UNTIL u = { .of = NULL };
	WAITING wait = wait_for_rwlock(l, ORDER_TAKE);
	return wait_error(&wait, real.pthread_rwlock_clockwrlock(l, clock, until_real(&u, until, &wait)));
}

int vprof_w_pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	releasers_stamp_lock(object_rwlock(l));
	return real.pthread_rwlock_unlock(l);
}

int vprof_w_pthread_spin_lock(pthread_spinlock_t *l)
{
	int r;

	if (!vprof_self.gate)
		return real.pthread_spin_lock(l);
	ask();
	r = had(object_of_some(l), real.pthread_spin_trylock(l), ORDER_TAKE);
	if (r != EBUSY)
		return r;
	WAITING wait = wait_begin(WAIT_LOCK, object_of_some(l));
	wait.is_lock = true;
	wait.order = ORDER_TAKE;
	return wait.result = real.pthread_spin_lock(l);
}

int vprof_w_pthread_spin_trylock(pthread_spinlock_t *l)
{
	return had(object_of_some(l), real.pthread_spin_trylock(l), ORDER_TAKE);
}

int vprof_w_pthread_spin_unlock(pthread_spinlock_t *l)
{
	releasers_stamp_lock(object_of_some(l));
	return real.pthread_spin_unlock(l);
}

/* The try is no cancellation point, the real call is one even if it need not block. */
static bool sem_try(sem_t *s)
{
	int saved_errno = errno;

	if (!vprof_self.gate)
		return false;
	pthread_testcancel();
	if (!vprof_w_sem_trywait(s))
		return true;
	errno = saved_errno;
	return false;
}

int vprof_w_sem_wait(sem_t *s)
{
	if (!vprof_self.gate)
		return real.sem_wait(s);
	if (sem_try(s))
		return 0;
	WAITING wait = wait_begin(WAIT_LOCK, object_sem(s));
	wait.order = ORDER_TAKE;
	return wait.result = real.sem_wait(s);
}

int vprof_w_sem_trywait(sem_t *s)
{
	int r = real.sem_trywait(s);

	if (!r) {
		releasers_took(object_sem(s));
		order_took(object_sem(s), ORDER_TAKE);
	}
	return r;
}

int vprof_w_sem_timedwait(sem_t *s, const struct timespec *until)
{
	if (is_time(until) && sem_try(s))
		return 0;
	UNTIL u = { .of = NULL };
	WAITING wait = wait_begin(WAIT_LOCK, object_sem(s));
	wait.order = ORDER_TAKE;
	return wait_errno(&wait, real.sem_timedwait(s, until_real(&u, until, &wait)));
}

int vprof_w_sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *until)
{
	if (is_clock(clock) && is_time(until) && sem_try(s))
		return 0;
	UNTIL u = { .of = NULL };
	WAITING wait = wait_begin(WAIT_LOCK, object_sem(s));
	wait.order = ORDER_TAKE;
	return wait_errno(&wait, real.sem_clockwait(s, clock, until_real(&u, until, &wait)));
}

int vprof_w_sem_post(sem_t *s)
{
	int saved_errno = errno;

	releasers_stamp_event(object_sem(s), EVENT_POST);
	errno = saved_errno;
	return real.sem_post(s);
}
