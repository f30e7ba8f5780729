/* SPDX-License-Identifier: Apache-2.0 */
/*
 * c11.c - wrappers of <threads.h>.
 *
 * glibc's and musl's mtx_t and cnd_t are their pthread objects under another name (glibc asserts it), so they
 * have the same names in the table of releasers: a mutex locked by mtx_lock() and one locked by
 * pthread_mutex_lock() may be the same.
 *
 * A static program may lack some of these functions: a missing try function is skipped, and the call counts
 * as a wait if it took long enough.
 */
#include "runtime/waits/object.h"
#include "runtime/waits/until.h"
#include "runtime/waits/wait.h"
#include "runtime/wrappers/once.h"
#include "runtime/wrappers/real.h"

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "mtx_t is a pthread_mutex_t");
_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "cnd_t is a pthread_cond_t");

int vprof_w_mtx_trylock(mtx_t *m)
{
	int r = real.mtx_trylock(m);

	if (r == thrd_success && !object_mutex_is_nested((const pthread_mutex_t *)m)) {
		releasers_took(object_mutex((const pthread_mutex_t *)m));
		order_took(object_mutex((const pthread_mutex_t *)m), ORDER_TAKE);
		if (causal_on)
			causal_took(object_mutex((const pthread_mutex_t *)m));
	}
	return r;
}

static int try(mtx_t *m)
{
	if (causal_on)
		causal_settle();
	return vprof_self.gate && real.mtx_trylock ? vprof_w_mtx_trylock(m) : thrd_busy;
}

IN_WRAPPER struct wait wait_for_mtx(mtx_t *m)
{
	uint64_t object = object_mutex((const pthread_mutex_t *)m);
	struct wait w = real.mtx_trylock ? wait_begin(WAIT_LOCK, object)
					 : wait_begin_call(WAIT_LOCK, object);

	w.holder_tid = object_mutex_holder((const pthread_mutex_t *)m);
	w.is_lock = true;
	w.order = ORDER_TAKE;
	return w;
}

static int timed(struct wait *w, int r)
{
	w->timed_out = r == thrd_timedout;
	return w->result = r;
}

int vprof_w_mtx_lock(mtx_t *m)
{
	int r = try(m);

	if (r != thrd_busy)
		return r;
	WAITING wait = wait_for_mtx(m);
	return wait.result = real.mtx_lock(m);
}

int vprof_w_mtx_timedlock(mtx_t *m, const struct timespec *until)
{
	int r = try(m);

	if (r != thrd_busy)
		return r;
	UNTIL u = { .of = NULL };
	WAITING wait = wait_for_mtx(m);
	return timed(&wait, real.mtx_timedlock(m, until_real(&u, until, &wait)));
}

int vprof_w_mtx_unlock(mtx_t *m)
{
	if (!object_mutex_is_nested((const pthread_mutex_t *)m))
		releasers_stamp_lock(object_mutex((const pthread_mutex_t *)m));
	return real.mtx_unlock(m);
}

IN_WRAPPER struct wait wait_for_cnd(cnd_t *c, mtx_t *m)
{
	return vprof_self.gate ? wait_begin_cond(object_cond((const pthread_cond_t *)c),
						 object_mutex((const pthread_mutex_t *)m))
			       : (struct wait){ .on = false };
}

int vprof_w_cnd_wait(cnd_t *c, mtx_t *m)
{
	WAITING wait = wait_for_cnd(c, m);
	return wait.result = real.cnd_wait(c, m);
}

int vprof_w_cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *until)
{
	UNTIL u = { .of = NULL };
	WAITING wait = wait_for_cnd(c, m);
	return timed(&wait, real.cnd_timedwait(c, m, until_real(&u, until, &wait)));
}

int vprof_w_cnd_signal(cnd_t *c)
{
	releasers_stamp(object_cond((const pthread_cond_t *)c));
	return real.cnd_signal(c);
}

int vprof_w_cnd_broadcast(cnd_t *c)
{
	releasers_stamp(object_cond((const pthread_cond_t *)c));
	return real.cnd_broadcast(c);
}

void vprof_w_call_once(once_flag *once, void (*routine)(void))
{
	struct once_call call __attribute__((cleanup(once_end))) = once_begin(once, routine);

	real.call_once(once, once_routine(&call, routine));
}
