/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conds.c - condition variables, barriers, once, joins, and the same from <threads.h>. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include "tests/waits/waits.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t joined;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int ready;

static void wait_cond(void)
{
	MUST(!pthread_mutex_lock(&mutex));
	while (!ready)
		MUST(!pthread_cond_wait(&cond, &mutex));
	ready = 0;
	MUST(!pthread_mutex_unlock(&mutex));
}

static void timedwait_cond(void)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 5000);

	MUST(!pthread_mutex_lock(&mutex));
	while (!ready)
		MUST(!pthread_cond_timedwait(&cond, &mutex, &t));
	ready = 0;
	MUST(!pthread_mutex_unlock(&mutex));
}

static void clockwait_cond(void)
{
	struct timespec t = in_ms(CLOCK_MONOTONIC, 5000);

	MUST(!pthread_mutex_lock(&mutex));
	while (!ready)
		MUST(!pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &t));
	ready = 0;
	MUST(!pthread_mutex_unlock(&mutex));
}

static void timeout_cond(void)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 2);

	MUST(!pthread_mutex_lock(&mutex));
	MUST(pthread_cond_timedwait(&cond, &mutex, &t) == ETIMEDOUT);
	MUST(!pthread_mutex_unlock(&mutex));
}

static void signal_cond(void)
{
	MUST(!pthread_mutex_lock(&mutex));
	ready = 1;
	MUST(!pthread_cond_signal(&cond));
	MUST(!pthread_mutex_unlock(&mutex));
}

static void broadcast_cond(void)
{
	MUST(!pthread_mutex_lock(&mutex));
	ready = 1;
	MUST(!pthread_mutex_unlock(&mutex));
	MUST(!pthread_cond_broadcast(&cond));
}

/* Woken once for nothing on the way. */
static void signal_twice(void)
{
	MUST(!pthread_cond_broadcast(&cond));
	usleep(300);
	signal_cond();
}

static pthread_barrier_t barrier;

static void make_barrier(void) { MUST(!pthread_barrier_init(&barrier, NULL, 2)); }

static void reach(void)
{
	int r = pthread_barrier_wait(&barrier);

	MUST(!r || r == PTHREAD_BARRIER_SERIAL_THREAD);
}

static const pthread_once_t once_unused = PTHREAD_ONCE_INIT;
static pthread_once_t once;
static once_flag c11_once;
static volatile int inside;

static void run_once(void)
{
	inside = 1;
	hold();
}

static void *call_once_first(void *c11)
{
	shared->waker_tid = own_tid();
	if (c11)
		call_once(&c11_once, run_once);
	else
		MUST(!pthread_once(&once, run_once));
	return NULL;
}

static void start_once(void *c11)
{
	pthread_t t;

	inside = 0;
	once = once_unused;
	c11_once = (once_flag)ONCE_FLAG_INIT;
	MUST(!pthread_create(&t, NULL, call_once_first, c11));
	MUST(!pthread_detach(t));
	while (!inside)
		usleep(30);
}

static void start_pthread_once(void) { start_once(NULL); }
static void start_c11_once(void) { start_once(&once); }
static void call_pthread_once(void) { MUST(!pthread_once(&once, abort)); }
static void call_c11_once(void) { call_once(&c11_once, abort); }



static void *end_later(void *arg)
{
	shared->waker_tid = own_tid();
	hold();
	return arg;
}

static void start_joined(void) { MUST(!pthread_create(&joined, NULL, end_later, NULL)); }
static void join(void) { MUST(!pthread_join(joined, NULL)); }

static void timedjoin(void)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 5000);

	MUST(!pthread_timedjoin_np(joined, NULL, &t));
}

static void clockjoin(void)
{
	struct timespec t = in_ms(CLOCK_MONOTONIC, 5000);

	MUST(!pthread_clockjoin_np(joined, NULL, CLOCK_MONOTONIC, &t));
}

/* In vain: nobody signals, nobody ends. */
static void clockwait_in_vain(void)
{
	struct timespec t = in_ms(CLOCK_MONOTONIC, HOLD_USEC / 1000);

	MUST(!pthread_mutex_lock(&mutex));
	while (pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &t) != ETIMEDOUT)
		;
	MUST(!pthread_mutex_unlock(&mutex));
}

/* Set when no thread waits for it any more, however late the thread that waits in vain gets a CPU. */
static int sleeper_may_end;

static void *sleep_long(void *p)
{
	while (!__atomic_load_n(&sleeper_may_end, __ATOMIC_ACQUIRE))
		usleep(HOLD_USEC);
	return p;
}

static void start_sleeper(void)
{
	__atomic_store_n(&sleeper_may_end, 0, __ATOMIC_RELEASE);
	MUST(!pthread_create(&joined, NULL, sleep_long, NULL));
}

static void join_sleeper(void)
{
	__atomic_store_n(&sleeper_may_end, 1, __ATOMIC_RELEASE);
	MUST(!pthread_join(joined, NULL));
}

static void timedjoin_in_vain(void)
{
	struct timespec t = in_ms(CLOCK_REALTIME, HOLD_USEC / 1000);

	MUST(pthread_timedjoin_np(joined, NULL, &t) == ETIMEDOUT);
}

const struct wait_case cond_cases[] = {
	{ "cond-signal", "cond", 0, 0, 0, wait_cond, signal_cond, 0, 0 },
	{ "cond-broadcast", "cond", 0, 0, 0, wait_cond, broadcast_cond, 0, 0 },
	{ "cond-spurious", "cond", 0, 0, 0, wait_cond, signal_twice, 0, 0 },
	{ "cond-timed", "cond", 0, 0, 0, timedwait_cond, signal_cond, 0, 0 },
	{ "cond-clock", "cond", 0, 0, 0, clockwait_cond, signal_cond, 0, 0 },
	{ "cond-timeout", "cond", 0, 0, 0, timeout_cond, 0, 0, CASE_TIME_OUT },
	{ "cond-clock-timeout", "cond", 0, 0, 0, clockwait_in_vain, 0, 0, CASE_TIME_OUT },
	{ "join-timeout", "join", 0, 0, start_sleeper, timedjoin_in_vain, 0, join_sleeper, CASE_TIME_OUT },
	{ "barrier", "cond", make_barrier, 0, 0, reach, reach, 0, 0 },
	{ "once", "lock", 0, 0, start_pthread_once, call_pthread_once, 0, 0, 0 },
	{ "join", "join", 0, 0, start_joined, join, 0, 0, 0 },
	{ "join-timed", "join", 0, 0, start_joined, timedjoin, 0, 0, 0 },
	{ "join-clock", "join", 0, 0, start_joined, clockjoin, 0, 0, 0 },
	{ .name = 0 }
};

static mtx_t mtx;
static cnd_t cnd;
static thrd_t thrd;

static void make_mtx(void) { MUST(mtx_init(&mtx, mtx_plain) == thrd_success); }
static void make_timed_mtx(void) { MUST(mtx_init(&mtx, mtx_timed) == thrd_success); }
static void lock_mtx(void) { MUST(mtx_lock(&mtx) == thrd_success); }
static void unlock_mtx(void) { MUST(mtx_unlock(&mtx) == thrd_success); }

static void timedlock_mtx(void)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 5000);

	MUST(mtx_timedlock(&mtx, &t) == thrd_success);
}

static void make_cnd(void)
{
	make_mtx();
	MUST(cnd_init(&cnd) == thrd_success);
}

static void wait_cnd(void)
{
	lock_mtx();
	while (!ready)
		MUST(cnd_wait(&cnd, &mtx) == thrd_success);
	ready = 0;
	unlock_mtx();
}

static void timedwait_cnd(void)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 5000);

	lock_mtx();
	while (!ready)
		MUST(cnd_timedwait(&cnd, &mtx, &t) == thrd_success);
	ready = 0;
	unlock_mtx();
}

static void signal_cnd(void)
{
	lock_mtx();
	ready = 1;
	MUST(cnd_signal(&cnd) == thrd_success);
	unlock_mtx();
}

static void broadcast_cnd(void)
{
	lock_mtx();
	ready = 1;
	unlock_mtx();
	MUST(cnd_broadcast(&cnd) == thrd_success);
}

static int end_c11_later(void *arg)
{
	(void)arg;
	shared->waker_tid = own_tid();
	hold();
	return 7;
}

static void start_thrd(void) { MUST(thrd_create(&thrd, end_c11_later, NULL) == thrd_success); }

static void join_thrd(void)
{
	int r;

	MUST(thrd_join(thrd, &r) == thrd_success && r == 7);
}

static void sleep_thrd(void)
{
	struct timespec t = { 0, HOLD_USEC * 1000 };

	MUST(!thrd_sleep(&t, NULL));
}

static void timedwait_cnd_in_vain(void)
{
	struct timespec t = in_ms(CLOCK_REALTIME, HOLD_USEC / 1000);

	lock_mtx();
	while (cnd_timedwait(&cnd, &mtx, &t) != thrd_timedout)
		;
	unlock_mtx();
}

const struct wait_case c11_cases[] = {
	{ "mtx", "lock", make_mtx, lock_mtx, 0, lock_mtx, unlock_mtx, unlock_mtx, 0 },
	{ "mtx-timed", "lock", make_timed_mtx, lock_mtx, 0, timedlock_mtx, unlock_mtx, unlock_mtx, 0 },
	{ "cnd-signal", "cond", make_cnd, 0, 0, wait_cnd, signal_cnd, 0, 0 },
	{ "cnd-broadcast", "cond", make_cnd, 0, 0, wait_cnd, broadcast_cnd, 0, 0 },
	{ "cnd-timed", "cond", make_cnd, 0, 0, timedwait_cnd, signal_cnd, 0, 0 },
	{ "cnd-timeout", "cond", make_cnd, 0, 0, timedwait_cnd_in_vain, 0, 0, CASE_TIME_OUT },
	{ "call_once", "lock", 0, 0, start_c11_once, call_c11_once, 0, 0, 0 },
	{ "thrd_join", "join", 0, 0, start_thrd, join_thrd, 0, 0, 0 },
	{ "thrd_sleep", "sleep", 0, 0, 0, sleep_thrd, 0, 0, CASE_ALONE },
	{ .name = 0 }
};
