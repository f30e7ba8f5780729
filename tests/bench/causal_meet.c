/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * causal_meet.c - the program of make bench-causal: 4 ms of computing beside 2 ms, and a barrier.  Each part is one line, which is
 * what Coz makes faster; and a function, which is what vprof does.
 *
 *	causal_meet [CRITICAL% BESIDE% [ITEMS]]	each part takes that many per cent less; prints ms an item, for ITEMS (default: it goes on)
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#ifdef COZ
#include <coz.h>
#define VPROF_BEGIN(name, key) (void)(key)
#define VPROF_END(name, key) COZ_PROGRESS_NAMED(name)
#else
#include <vprof.h>
#endif

static pthread_barrier_t gate;
static long critical_cnt, beside_cnt;

static double now_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void compute(long cnt)
{
	for (volatile long i = 0; i < cnt; ) i = i + 1;
}

/* Loops that take a millisecond of CPU time. */
static double loops_a_ms(void)
{
	double from = now_ms(CLOCK_THREAD_CPUTIME_ID);

	compute(50000000);
	return 50000000 / (now_ms(CLOCK_THREAD_CPUTIME_ID) - from);
}

void __attribute__((noinline)) critical(void)
{
	for (volatile long i = 0; i < critical_cnt; ) i = i + 1;	/* the critical line */
}

void __attribute__((noinline)) beside(void)
{
	for (volatile long i = 0; i < beside_cnt; ) i = i + 1;	/* the line beside */
}

static void *run_beside(void *arg)
{
	for (;;) {
		beside();
		pthread_barrier_wait(&gate);
	}
	return arg;
}

int main(int argc, char **argv)
{
	double less = argc > 2 ? atof(argv[1]) : 0, less_beside = argc > 2 ? atof(argv[2]) : 0, loops = loops_a_ms(), from;
	long items = argc > 3 ? atol(argv[3]) : 0;
	pthread_t t;

	critical_cnt = (long)(4 * loops * (1 - less / 100));
	beside_cnt = (long)(2 * loops * (1 - less_beside / 100));
	pthread_barrier_init(&gate, NULL, 2);
	pthread_create(&t, NULL, run_beside, NULL);
	from = now_ms(CLOCK_MONOTONIC);
	for (long i = 1; !items || i <= items; i++) {
		VPROF_BEGIN("item", i);
		critical();
		pthread_barrier_wait(&gate);
		VPROF_END("item", i);
	}
	printf("%.4f\n", (now_ms(CLOCK_MONOTONIC) - from) / (double)items);
	return 0;
}
