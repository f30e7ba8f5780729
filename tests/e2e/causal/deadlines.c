/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * deadlines.c - a program that looks at its clocks and waits until given times, in experiments with virtual clocks.
 *
 *	deadlines FILE		says in FILE, again and again:
 *
 *	back 0 early 0 late 0 rounds 812 by_clock 4012 really 5630 slept 4010
 *
 * That is: times that a thread's clock went back, that a wait ended before its deadline by the thread's own clock, or 10 s after it;
 * waits; ms since the start, by the first thread's clock and by the kernel's; ms for which a thread has slept, each 2 ms
 * until a time.  The first thread computes in heavy().
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include <vprof.h>

enum { MS = 1000000, LATE_S = 10 };

static volatile unsigned long sink;
static long back_cnt, early_cnt, late_cnt, round_cnt, slept_ms;
static __thread int64_t last_ns[2];

__attribute__((noinline)) void heavy(void)
{
	for (int i = 0; i < 1000000; i++)
		sink++;
}

static int64_t ns_of(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

/* A thread's clock never goes back. */
static int64_t clock_ns(clockid_t clock)
{
	struct timespec t;
	int64_t ns, *last = &last_ns[clock == CLOCK_REALTIME];

	if (clock_gettime(clock, &t))
		abort();
	ns = ns_of(&t);
	if (ns < *last)
		__atomic_fetch_add(&back_cnt, 1, __ATOMIC_RELAXED);
	return *last = ns;
}

/* Not through the C library. */
static int64_t kernel_ns(void)
{
	struct timespec t;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return ns_of(&t);
}

static struct timespec in(clockid_t clock, int64_t ns)
{
	ns += clock_ns(clock);
	return (struct timespec){ ns / 1000000000, ns % 1000000000 };
}

static void came(clockid_t clock, const struct timespec *deadline)
{
	int64_t late = clock_ns(clock) - ns_of(deadline);

	__atomic_fetch_add(&round_cnt, 1, __ATOMIC_RELAXED);
	if (late < 0)
		__atomic_fetch_add(&early_cnt, 1, __ATOMIC_RELAXED);
	if (late > LATE_S * 1000LL * MS)
		__atomic_fetch_add(&late_cnt, 1, __ATOMIC_RELAXED);
}

static void *sleeps(void *arg)
{
	struct timespec deadline = in(CLOCK_MONOTONIC, 2 * MS);

	for (;;) {
		int64_t next = ns_of(&deadline) + 2 * MS;

		if (!clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL))
			came(CLOCK_MONOTONIC, &deadline);
		slept_ms += 2;
		deadline = (struct timespec){ next / 1000000000, next % 1000000000 };
	}
	return arg;
}

static void *waits(void *arg)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	uint32_t word = 0;
	sem_t sem;

	sem_init(&sem, 0, 0);
	pthread_mutex_lock(&lock);
	for (;;) {
		struct timespec deadline = in(CLOCK_REALTIME, 3 * MS);
		struct timeval day;
		time_t before, now, after;

		if (pthread_cond_timedwait(&never, &lock, &deadline) == ETIMEDOUT)
			came(CLOCK_REALTIME, &deadline);
		deadline = in(CLOCK_REALTIME, MS);
		if (sem_timedwait(&sem, &deadline) && errno == ETIMEDOUT)
			came(CLOCK_REALTIME, &deadline);
		deadline = in(CLOCK_MONOTONIC, MS);
		if (syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0, &deadline, NULL, FUTEX_BITSET_MATCH_ANY) < 0 &&
		    errno == ETIMEDOUT)
			came(CLOCK_MONOTONIC, &deadline);
		before = clock_ns(CLOCK_REALTIME) / 1000000000;
		gettimeofday(&day, NULL);
		now = time(NULL);
		after = clock_ns(CLOCK_REALTIME) / 1000000000;
		if (day.tv_sec < before || now + 1 < before || after < now)	/* time() is some ms late */
			__atomic_fetch_add(&back_cnt, 1, __ATOMIC_RELAXED);
	}
	return arg;
}

/* A timer of a time that has come must not be put off for ever. */
static void *timers(void *arg)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	uint64_t cnt;

	for (;;) {
		struct itimerspec set = { .it_value = in(CLOCK_MONOTONIC, 5 * MS) };

		timerfd_settime(fd, TFD_TIMER_ABSTIME, &set, NULL);
		if (read(fd, &cnt, sizeof(cnt)) == sizeof(cnt) &&
		    clock_ns(CLOCK_MONOTONIC) - ns_of(&set.it_value) > LATE_S * 1000LL * MS)
			__atomic_fetch_add(&late_cnt, 1, __ATOMIC_RELAXED);
	}
	return arg;
}

static void start(void *(*run)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL))
		abort();
}

int main(int argc, char **argv)
{
	int64_t start_ns = clock_ns(CLOCK_MONOTONIC), kernel_start_ns = kernel_ns();
	int fd = open(argc > 1 ? argv[1] : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	start(sleeps);
	start(waits);
	start(timers);
	for (long i = 1;; i++) {
		char line[200];
		int len;

		VPROF_BEGIN("request", i);
		heavy();
		VPROF_END("request", i);
		if (i % 8)
			continue;
		len = snprintf(line, sizeof(line), "back %ld early %ld late %ld rounds %ld by_clock %lld really %lld slept %ld        \n",
			       back_cnt, early_cnt, late_cnt, round_cnt, (long long)(clock_ns(CLOCK_MONOTONIC) - start_ns) / MS,
			       (long long)(kernel_ns() - kernel_start_ns) / MS, slept_ms);
		if (pwrite(fd, line, (size_t)len, 0) != len)
			return 1;
	}
}
