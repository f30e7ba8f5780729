/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * barrier.c - two threads that meet at a barrier: the longer one of 4 and of 2 ms of CPU time is the round's length, and the
 * other one does not matter.  Ahead of all others on the machine where that is permitted: "exclusive" or "shared" is said.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

static pthread_barrier_t gate;

static void work(long us)
{
	struct timespec t;
	long until;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	until = t.tv_sec * 1000000 + t.tv_nsec / 1000 + us;
	do {
		for (volatile int i = 0; i < 5000; i++)
			;		/* ticks come in user mode only */
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while (t.tv_sec * 1000000 + t.tv_nsec / 1000 < until);
}

void long_work(void)
{
	work(4000);
}

void short_work(void)
{
	work(2000);
}

void meet(void)
{
	long_work();
	pthread_barrier_wait(&gate);
}

static void *beside(void *arg)
{
	for (;;) {
		short_work();
		pthread_barrier_wait(&gate);
	}
	return arg;
}

int main(void)
{
	struct sched_param first = { .sched_priority = 1 };
	pthread_t t;

	puts(sched_setscheduler(0, SCHED_RR, &first) ? "shared" : "exclusive");
	fflush(stdout);
	pthread_barrier_init(&gate, NULL, 2);
	pthread_create(&t, NULL, beside, NULL);
	for (;;)
		meet();
}
