/* SPDX-License-Identifier: GPL-3.0-or-later */
/* locks.c - mutexes of all kinds, read-write locks, spin locks, semaphores. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "tests/waits/waits.h"

static pthread_mutex_t mutex;

static void make_mutex(int type, int robust)
{
	pthread_mutexattr_t a;

	MUST(!pthread_mutexattr_init(&a));
	MUST(!pthread_mutexattr_settype(&a, type));
	if (robust)
		MUST(!pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST));
	MUST(!pthread_mutex_init(&mutex, &a));
}

static void make_normal(void) { make_mutex(PTHREAD_MUTEX_NORMAL, 0); }
static void make_recursive(void) { make_mutex(PTHREAD_MUTEX_RECURSIVE, 0); }
static void make_checking(void) { make_mutex(PTHREAD_MUTEX_ERRORCHECK, 0); }
static void make_adaptive(void) { make_mutex(PTHREAD_MUTEX_ADAPTIVE_NP, 0); }
static void make_robust(void) { make_mutex(PTHREAD_MUTEX_NORMAL, 1); }

static void make_inheriting(void)
{
	pthread_mutexattr_t a;

	MUST(!pthread_mutexattr_init(&a));
	MUST(!pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT));
	MUST(!pthread_mutex_init(&mutex, &a));
}

static void lock(void) { MUST(!pthread_mutex_lock(&mutex)); }
static void unlock(void) { MUST(!pthread_mutex_unlock(&mutex)); }

static void timedlock(void)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 5000);

	MUST(!pthread_mutex_timedlock(&mutex, &t));
}

static void clocklock(void)
{
	struct timespec t = in_ms(CLOCK_MONOTONIC, 5000);

	MUST(!pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &t));
}

static void timeout(void)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 2);

	MUST(pthread_mutex_timedlock(&mutex, &t) == ETIMEDOUT);
}

/* Not before the other has given up. */
static void unlock_late(void)
{
	while (shared->step % 3 != 2)
		usleep(30);
	unlock();
}

/* In memory that both processes have. */
static pthread_mutex_t *common(void) { return (pthread_mutex_t *)shared->memory; }

static void make_common(void)
{
	pthread_mutexattr_t a;

	MUST(!pthread_mutexattr_init(&a));
	MUST(!pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED));
	MUST(!pthread_mutex_init(common(), &a));
}

static void lock_common(void) { MUST(!pthread_mutex_lock(common())); }
static void unlock_common(void) { MUST(!pthread_mutex_unlock(common())); }

/* The holder ends without a release: the next holder gets EOWNERDEAD. */
static void *lock_and_end(void *arg)
{
	shared->waker_tid = own_tid();
	MUST(!pthread_mutex_lock(&mutex));
	shared->memory[0] = 1;
	hold();
	return arg;
}

static void start_dying(void)
{
	pthread_t t;

	make_robust();
	shared->memory[0] = 0;
	MUST(!pthread_create(&t, NULL, lock_and_end, NULL));
	MUST(!pthread_detach(t));
	while (!*(volatile char *)shared->memory)
		usleep(30);
}

static void inherit(void)
{
	MUST(pthread_mutex_lock(&mutex) == EOWNERDEAD);
	MUST(!pthread_mutex_consistent(&mutex));
	MUST(!pthread_mutex_unlock(&mutex));
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void read_lock(void) { MUST(!pthread_rwlock_rdlock(&rwlock)); }
static void write_lock(void) { MUST(!pthread_rwlock_wrlock(&rwlock)); }
static void rw_unlock(void) { MUST(!pthread_rwlock_unlock(&rwlock)); }

static void timed_read(void)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 5000);

	MUST(!pthread_rwlock_timedrdlock(&rwlock, &t));
}

static void clock_read(void)
{
	struct timespec t = in_ms(CLOCK_MONOTONIC, 5000);

	MUST(!pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &t));
}

static void timed_write(void)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 5000);

	MUST(!pthread_rwlock_timedwrlock(&rwlock, &t));
}

static void clock_write(void)
{
	struct timespec t = in_ms(CLOCK_MONOTONIC, 5000);

	MUST(!pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &t));
}

static pthread_spinlock_t spin;

static void make_spin(void) { MUST(!pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE)); }
static void spin_lock(void) { MUST(!pthread_spin_lock(&spin)); }
static void spin_unlock(void) { MUST(!pthread_spin_unlock(&spin)); }

static sem_t own_sem, *sem = &own_sem;

static void make_sem(void)
{
	sem = &own_sem;
	MUST(!sem_init(sem, 0, 0));
}

static void make_common_sem(void)
{
	sem = (sem_t *)shared->memory;
	MUST(!sem_init(sem, 1, 0));
}

static void open_sem(void)
{
	char name[64];

	snprintf(name, sizeof(name), "/vprof-waits-%d", (int)getpid());
	sem = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
	MUST(sem != SEM_FAILED);
	MUST(!sem_unlink(name));
}

static void wait_sem(void) { MUST(!sem_wait(sem)); }
static void post_sem(void) { MUST(!sem_post(sem)); }

static void timedwait_sem(void)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 5000);

	MUST(!sem_timedwait(sem, &t));
}

static void clockwait_sem(void)
{
	struct timespec t = in_ms(CLOCK_MONOTONIC, 5000);

	MUST(!sem_clockwait(sem, CLOCK_MONOTONIC, &t));
}

static void timeout_sem(void)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 2);

	MUST(sem_timedwait(sem, &t) && errno == ETIMEDOUT);
}

const struct wait_case lock_cases[] = {
	{ "mutex", "lock", make_normal, lock, 0, lock, unlock, unlock, 0 },
	{ "mutex-recursive", "lock", make_recursive, lock, 0, lock, unlock, unlock, 0 },
	{ "mutex-errorcheck", "lock", make_checking, lock, 0, lock, unlock, unlock, 0 },
	{ "mutex-adaptive", "lock", make_adaptive, lock, 0, lock, unlock, unlock, 0 },
	{ "mutex-robust", "lock", make_robust, lock, 0, lock, unlock, unlock, 0 },
	{ "mutex-owner-died", "lock", 0, 0, start_dying, inherit, 0, 0, 0 },
	{ "mutex-inheriting", "lock", make_inheriting, lock, 0, lock, unlock, unlock, 0 },
	{ "mutex-timed", "lock", make_normal, lock, 0, timedlock, unlock, unlock, 0 },
	{ "mutex-clock", "lock", make_normal, lock, 0, clocklock, unlock, unlock, 0 },
	{ "mutex-timeout", "lock", make_normal, lock, 0, timeout, unlock_late, 0, CASE_TIME_OUT },
	{ "mutex-shared", "lock", make_common, lock_common, 0, lock_common, unlock_common,
	  unlock_common, CASE_PROCESS },
	{ "rwlock-read", "lock", 0, write_lock, 0, read_lock, rw_unlock, rw_unlock, 0 },
	{ "rwlock-write", "lock", 0, read_lock, 0, write_lock, rw_unlock, rw_unlock, 0 },
	{ "rwlock-write-write", "lock", 0, write_lock, 0, write_lock, rw_unlock, rw_unlock, 0 },
	{ "rwlock-timed-read", "lock", 0, write_lock, 0, timed_read, rw_unlock, rw_unlock, 0 },
	{ "rwlock-timed-write", "lock", 0, read_lock, 0, timed_write, rw_unlock, rw_unlock, 0 },
	{ "rwlock-clock-read", "lock", 0, write_lock, 0, clock_read, rw_unlock, rw_unlock, 0 },
	{ "rwlock-clock-write", "lock", 0, read_lock, 0, clock_write, rw_unlock, rw_unlock, 0 },
	{ "spin", "lock", make_spin, spin_lock, 0, spin_lock, spin_unlock, spin_unlock, 0 },
	{ "sem", "lock", make_sem, 0, 0, wait_sem, post_sem, 0, 0 },
	{ "sem-timed", "lock", make_sem, 0, 0, timedwait_sem, post_sem, 0, 0 },
	{ "sem-clock", "lock", make_sem, 0, 0, clockwait_sem, post_sem, 0, 0 },
	{ "sem-timeout", "lock", make_sem, 0, 0, timeout_sem, 0, 0, CASE_TIME_OUT },
	{ "sem-shared", "lock", make_common_sem, 0, 0, wait_sem, post_sem, 0, CASE_PROCESS },
	{ "sem-named", "lock", open_sem, 0, 0, wait_sem, post_sem, 0, CASE_PROCESS },
	{ .name = 0 }
};
