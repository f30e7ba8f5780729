/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cond.c - wrappers of condition variables and barriers.
 *
 * A wait for a condition ends when somebody has signalled and the mutex is free again: the waker
 * is the signaller, or whoever let the mutex go after the signal.
 *
 *	W waits from 10; S signals at 20 while it holds the mutex, lets it go at 35; W runs at 38:
 *	waker S at 35, wake-up [35, 38]
 *
 * At a barrier everybody who arrives leaves a stamp; the last arrival of a round wakes the others.
 * Arrivals of the next round must not count, so the round is part of the object's name.
 */
#include <errno.h>
#include "runtime/wait.h"
#include "runtime/wrappers.h"

static uint64_t object_of(const void *address, bool shared)
{
	return shared ? (uint64_t)address : releasers_private((uint64_t)address);
}

#ifdef __GLIBC__
static uint64_t cond_object(const pthread_cond_t *c)
{
	return object_of(c, __atomic_load_n(&c->__data.__wrefs, __ATOMIC_RELAXED) & 1);
}

static uint64_t cond_mutex(const pthread_mutex_t *m)
{
	return object_of(m, m->__data.__kind & 128);
}

/* glibc keeps { arrived, round, threads a round, shared }; the round has changed before anybody
 * returns. */
static uint64_t barrier_round(const pthread_barrier_t *b)
{
	const unsigned int *words = (const unsigned int *)b;
	uint64_t round = __atomic_load_n(&words[1], __ATOMIC_RELAXED);

	return object_of(b, words[3]) ^ round << 20;
}
#else
static uint64_t cond_object(const pthread_cond_t *c)
{
	return object_of(c, false);
}

static uint64_t cond_mutex(const pthread_mutex_t *m)
{
	return object_of(m, false);
}

static uint64_t barrier_round(const pthread_barrier_t *b)
{
	return object_of(b, false);
}
#endif

#define WAITING_FOR_COND(c, m)							\
	struct wait wait __attribute__((cleanup(wait_end))) =			\
		vprof_self.gate ? wait_begin_cond(cond_object(c), cond_mutex(m))	\
				: (struct wait){ .on = false }

int vprof_w_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	WAITING_FOR_COND(c, m);
	return wait.result = pthread_cond_wait(c, m);
}

int vprof_w_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
				   const struct timespec *until)
{
	WAITING_FOR_COND(c, m);
	return wait.result = pthread_cond_timedwait(c, m, until);
}

int vprof_w_pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
				   const struct timespec *until)
{
	WAITING_FOR_COND(c, m);
	return wait.result = pthread_cond_clockwait(c, m, clock, until);
}

int vprof_w_pthread_cond_signal(pthread_cond_t *c)
{
	if (vprof_self.gate && process.arena.base)
		releasers_stamp(cond_object(c));
	return pthread_cond_signal(c);
}

int vprof_w_pthread_cond_broadcast(pthread_cond_t *c)
{
	if (vprof_self.gate && process.arena.base)
		releasers_stamp(cond_object(c));
	return pthread_cond_broadcast(c);
}

int vprof_w_pthread_barrier_wait(pthread_barrier_t *b)
{
	struct wait wait __attribute__((cleanup(wait_end))) = { .on = false };
	uint64_t object = 0;
	int r;

	if (vprof_self.gate && process.arena.base) {
		object = barrier_round(b);
		releasers_stamp(object);
		wait = wait_begin(WAIT_COND, object);
	}
	r = pthread_barrier_wait(b);
	wait.result = r == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : r;
	return r;
}
