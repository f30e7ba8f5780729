/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lock.c - two threads: 1 ms asleep in hold() with a mutex, 0.6 ms of CPU time without; a third one sleeps with another.  Without hold() an item takes 0.6 ms
 * in place of 2.1.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;

void hold(void)
{
	nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
}

static void outside(long us)
{
	struct timespec t;
	long until;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	until = t.tv_sec * 1000000 + t.tv_nsec / 1000 + us;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (t.tv_sec * 1000000 + t.tv_nsec / 1000 < until);
}

void item(void)
{
	pthread_mutex_lock(&m);
	hold();
	pthread_mutex_unlock(&m);
	outside(600);
}

static void *run(void *arg)
{
	for (;;)
		item();
	return arg;
}

/* Holds another lock, for which no thread waits. */
static void *alone(void *arg)
{
	for (;;) {
		pthread_mutex_lock(&other);
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
		pthread_mutex_unlock(&other);
	}
	return arg;
}

int main(void)
{
	struct sched_param first = { .sched_priority = 1 };
	pthread_t t;

	puts(sched_setscheduler(0, SCHED_RR, &first) ? "shared" : "exclusive");
	fflush(stdout);
	pthread_create(&t, NULL, run, NULL);
	pthread_create(&t, NULL, alone, NULL);
	run(NULL);
}
