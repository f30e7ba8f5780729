/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * target_semantics.c - the wrappers behave as what they wrap: results, errno, cancellation.
 * Runs the same with and without an arena.
 */
#include <errno.h>
#include <string.h>
#include "tests/runtime/probes.h"
#include "tests/runtime/scenarios.h"

static struct timespec soon(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += 2000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	return t;
}

static void init_mutex(pthread_mutex_t *m, int type, int robust)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	if (robust)
		pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	CHECK(!pthread_mutex_init(m, &attr));
	pthread_mutexattr_destroy(&attr);
}

static void *lock_and_die(void *m)
{
	vprof_w_pthread_mutex_lock(m);
	return NULL;
}

static void check_robust(void)
{
	pthread_mutex_t m;
	pthread_t t;

	init_mutex(&m, PTHREAD_MUTEX_NORMAL, 1);
	vprof_w_pthread_create(&t, NULL, lock_and_die, &m);
	vprof_w_pthread_join(t, NULL);
	CHECK(vprof_w_pthread_mutex_lock(&m) == EOWNERDEAD);
	CHECK(!vprof_w_pthread_mutex_unlock(&m));
	CHECK(vprof_w_pthread_mutex_lock(&m) == ENOTRECOVERABLE);
}

static void check_mutexes(void)
{
	struct timespec until = soon(CLOCK_REALTIME);
	pthread_mutex_t m;

	init_mutex(&m, PTHREAD_MUTEX_ERRORCHECK, 0);
	CHECK(!vprof_w_pthread_mutex_lock(&m));
	CHECK(vprof_w_pthread_mutex_lock(&m) == EDEADLK);
	CHECK(vprof_w_pthread_mutex_trylock(&m) == EBUSY);
	CHECK(!vprof_w_pthread_mutex_unlock(&m));
	CHECK(vprof_w_pthread_mutex_unlock(&m) == EPERM);

	init_mutex(&m, PTHREAD_MUTEX_RECURSIVE, 0);
	CHECK(!vprof_w_pthread_mutex_lock(&m) && !vprof_w_pthread_mutex_lock(&m));
	CHECK(!vprof_w_pthread_mutex_unlock(&m) && !vprof_w_pthread_mutex_unlock(&m));
	CHECK(vprof_w_pthread_mutex_unlock(&m) == EPERM);

	init_mutex(&m, PTHREAD_MUTEX_NORMAL, 0);
	CHECK(!vprof_w_pthread_mutex_lock(&m));
	CHECK(vprof_w_pthread_mutex_timedlock(&m, &until) == ETIMEDOUT);
	until = soon(CLOCK_MONOTONIC);
	CHECK(vprof_w_pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
	CHECK(!vprof_w_pthread_mutex_unlock(&m));
	check_robust();
}

static void check_others(void)
{
	pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
	struct timespec until = soon(CLOCK_REALTIME), bad = { 0, -1 };
	sem_t s;

	CHECK(!vprof_w_pthread_rwlock_wrlock(&l));
	CHECK(vprof_w_pthread_rwlock_wrlock(&l) == EDEADLK);
	CHECK(vprof_w_pthread_rwlock_tryrdlock(&l) == EBUSY);
	CHECK(vprof_w_pthread_rwlock_timedrdlock(&l, &bad) == EINVAL);
	CHECK(!vprof_w_pthread_rwlock_unlock(&l));

	CHECK(!sem_init(&s, 0, 1));
	errno = 77;
	CHECK(!vprof_w_sem_wait(&s) && errno == 77);
	CHECK(vprof_w_sem_trywait(&s) == -1 && errno == EAGAIN);
	CHECK(vprof_w_sem_timedwait(&s, &until) == -1 && errno == ETIMEDOUT);
	CHECK(vprof_w_sem_timedwait(&s, &bad) == -1 && errno == EINVAL);
	errno = 78;
	CHECK(!vprof_w_sem_post(&s) && errno == 78);
	CHECK(!vprof_w_usleep(1) && errno == 78);
	CHECK(vprof_w_nanosleep(&bad, NULL) == -1 && errno == EINVAL);
	CHECK(vprof_w_clock_nanosleep(CLOCK_MONOTONIC, 0, &bad, NULL) == EINVAL);
	CHECK(vprof_w_pthread_join(pthread_self(), NULL) == EDEADLK);
}

static void check_cond(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	struct timespec until = soon(CLOCK_REALTIME);

	vprof_w_pthread_mutex_lock(&m);
	CHECK(vprof_w_pthread_cond_timedwait(&c, &m, &until) == ETIMEDOUT);
	until = soon(CLOCK_MONOTONIC);
	CHECK(vprof_w_pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
	CHECK(!vprof_w_pthread_mutex_unlock(&m));
	CHECK(!vprof_w_pthread_cond_signal(&c) && !vprof_w_pthread_cond_broadcast(&c));
}

void run_semantics(void)
{
	EVENT(BEGIN, REQUEST, 1, 0);
	check_mutexes();
	check_others();
	check_cond();
	EVENT(END, REQUEST, 1, 0);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t empty;
static int cleaned;

static void clean(void *unlock)
{
	if (unlock)
		vprof_w_pthread_mutex_unlock(&mutex);
	cleaned++;
}

static void *wait_for_cond(void *arg)
{
	PROBE(worker);
	vprof_w_pthread_mutex_lock(&mutex);
	pthread_cleanup_push(clean, &mutex);
	for (;;)
		vprof_w_pthread_cond_wait(&never, &mutex);
	pthread_cleanup_pop(1);
	return arg;
}

static void *wait_for_sem(void *arg)
{
	PROBE(worker);
	pthread_cleanup_push(clean, NULL);
	vprof_w_sem_wait(&empty);
	pthread_cleanup_pop(1);
	return arg;
}

static void *wait_for_time(void *arg)
{
	PROBE(worker);
	pthread_cleanup_push(clean, NULL);
	vprof_w_sleep(1000);
	pthread_cleanup_pop(1);
	return arg;
}

void run_cancel(void)
{
	void *(*const routines[])(void *) = { wait_for_cond, wait_for_sem, wait_for_time };

	sem_init(&empty, 0, 0);
	for (int i = 0; i < 3; i++) {
		void *result = NULL;
		pthread_t t;

		CHECK(!vprof_w_pthread_create(&t, NULL, routines[i], NULL));
		usleep(10000);
		CHECK(!pthread_cancel(t));
		CHECK(!vprof_w_pthread_join(t, &result) && result == PTHREAD_CANCELED);
	}
	CHECK(cleaned == 3);
	CHECK(!vprof_w_pthread_mutex_trylock(&mutex));
}
