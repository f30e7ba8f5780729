/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cond.c - wrappers of condition variables and barriers.
 *
 * A wait for a condition ends when it was signalled and the mutex is free again: the waker is the signaller, or the
 * thread that released the mutex after the signal.
 *
 *	W waits from 10; S signals at 20 while it holds the mutex, lets it go at 35; W runs at 38:
 *	waker S at 35, wake-up [35, 38]
 *
 * At a barrier each arriving thread leaves a stamp; the last arrival of a round wakes the others. Arrivals of the
 * next round must not count, so the round is part of the object's name.
 */
#include <errno.h>
#include "runtime/waits/object.h"
#include "runtime/waits/until.h"
#include "runtime/waits/wait.h"
#include "runtime/wrappers/real.h"

IN_WRAPPER struct wait wait_for_cond(const pthread_cond_t *c, const pthread_mutex_t *m)
{
	return vprof_self.gate ? wait_begin_cond(object_cond(c), object_mutex(m))
			       : (struct wait){ .on = false };
}

int vprof_w_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	WAITING wait = wait_for_cond(c, m);
	return wait_error(&wait, real.pthread_cond_wait(c, m));
}

int vprof_w_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
				   const struct timespec *until)
{
	UNTIL u = { .of = NULL };
	WAITING wait = wait_for_cond(c, m);
	return wait_error(&wait, real.pthread_cond_timedwait(c, m, until_real(&u, until, &wait)));
}

int vprof_w_pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
				   const struct timespec *until)
{
	UNTIL u = { .of = NULL };
	WAITING wait = wait_for_cond(c, m);
	return wait_error(&wait, real.pthread_cond_clockwait(c, m, clock, until_real(&u, until, &wait)));
}

int vprof_w_pthread_cond_signal(pthread_cond_t *c)
{
	releasers_stamp(object_cond(c));
	return real.pthread_cond_signal(c);
}

int vprof_w_pthread_cond_broadcast(pthread_cond_t *c)
{
	releasers_stamp(object_cond(c));
	return real.pthread_cond_broadcast(c);
}

int vprof_w_pthread_barrier_wait(pthread_barrier_t *b)
{
	WAITING wait = { .on = false };
	uint64_t object = 0;
	int r;

	if (vprof_self.gate && process.waiters) {
		object = object_barrier_round(b);
		releasers_stamp(object);
		wait = wait_begin_call(WAIT_COND, object);
		wait.order = ORDER_MEET;
	}
	r = real.pthread_barrier_wait(b);
	wait.result = r == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : r;
	return r;
}
