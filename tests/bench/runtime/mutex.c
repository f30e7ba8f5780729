/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mutex.c - the time that the wrappers add to a mutex without contention.
 *
 *	mutex SLICES		prints TIGHT_NS WITH_WORK_NS: added to a lock and unlock
 *
 * Slices of the C library's own functions, called through pointers, and of those that vprof put in their place, in
 * turns; with nothing in the critical section, and with work of about 25 ns over 64 mutexes.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 5000, MUTEXES = 64 };

static pthread_mutex_t mutexes[MUTEXES] = { PTHREAD_MUTEX_INITIALIZER };
static int (*volatile plain_lock)(pthread_mutex_t *), (*volatile plain_unlock)(pthread_mutex_t *);
static volatile unsigned long state = 1;

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void work(void)
{
	unsigned long x = state;

	for (int i = 0; i < 12; i++)
		x = x * 6364136223846793005UL + 1442695040888963407UL;
	state = x;
}

typedef int operation(pthread_mutex_t *m);

/* The same code for both. */
static __attribute__((noinline)) double slice(operation *lock, operation *unlock, int tight)
{
	double start = now_ns();

	for (int i = 0; i < CALLS; i++) {
		pthread_mutex_t *m = &mutexes[tight ? 0 : i % MUTEXES];

		lock(m);
		if (!tight)
			work();
		unlock(m);
	}
	return (now_ns() - start) / CALLS;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double added(int tight, int slices)
{
	double *values = calloc((size_t)slices, sizeof(double)), result;

	for (int i = 0; i < slices; i++) {
		double before = slice(plain_lock, plain_unlock, tight);
		double meanwhile = slice(pthread_mutex_lock, pthread_mutex_unlock, tight);

		values[i] = meanwhile - (before + slice(plain_lock, plain_unlock, tight)) / 2;
	}
	qsort(values, (size_t)slices, sizeof(*values), compare);
	result = values[slices / 2];
	free(values);
	return result;
}

static void *run(void *arg)
{
	int slices = *(int *)arg;

	added(1, 20);
	printf("%.3f ", added(1, slices));
	printf("%.3f\n", added(0, slices));
	return NULL;
}

/* In a second thread: with one alone the C library leaves locked instructions out of some functions. */
int main(int argc, char **argv)
{
	int slices = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 100;
	pthread_t t;

	for (int i = 0; i < MUTEXES; i++)
		pthread_mutex_init(&mutexes[i], NULL);
	*(void **)&plain_lock = dlsym(RTLD_DEFAULT, "pthread_mutex_lock");
	*(void **)&plain_unlock = dlsym(RTLD_DEFAULT, "pthread_mutex_unlock");
	return pthread_create(&t, NULL, run, &slices) || pthread_join(t, NULL);
}
