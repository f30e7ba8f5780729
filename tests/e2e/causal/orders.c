/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * orders.c - two threads that share a lock.
 *
 *	orders greedy		the first one takes it again as soon as it has let it go: the other one is served rarely
 *	orders turns		they take turns, by two semaphores
 *	orders until		the first one takes no lock, and sleeps until times
 */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>
#include <vprof.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sem_t mine, yours;
static int takes_turns;

static void sleep_us(long us)
{
	nanosleep(&(struct timespec){ 0, us * 1000 }, NULL);
}

__attribute__((noinline)) void hold(void)
{
	sleep_us(300);
}

__attribute__((noinline)) void grab(void)
{
	pthread_mutex_lock(&m);
	hold();
	pthread_mutex_unlock(&m);
}

static void *other(void *arg)
{
	for (;;) {
		if (takes_turns)
			sem_wait(&yours);
		pthread_mutex_lock(&m);
		sleep_us(100);
		pthread_mutex_unlock(&m);
		if (takes_turns)
			sem_post(&mine);
		else
			sleep_us(50);
	}
	return arg;
}

static void sleep_until(struct timespec *t)
{
	t->tv_nsec += 500000;
	if (t->tv_nsec >= 1000000000) {
		t->tv_nsec -= 1000000000;
		t->tv_sec++;
	}
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, t, NULL);
}

int main(int argc, char **argv)
{
	int is_until = argc > 1 && strcmp(argv[1], "until") == 0;
	struct timespec next;
	pthread_t t;

	takes_turns = argc > 1 && strcmp(argv[1], "turns") == 0;
	sem_init(&mine, 0, 1);
	sem_init(&yours, 0, 0);
	clock_gettime(CLOCK_MONOTONIC, &next);
	if (!is_until)
		pthread_create(&t, NULL, other, NULL);
	for (long i = 1;; i++) {
		VPROF_BEGIN("item", i);
		if (takes_turns)
			sem_wait(&mine);
		if (is_until) {
			hold();
			sleep_until(&next);
		} else {
			grab();
		}
		if (takes_turns)
			sem_post(&yours);
		VPROF_END("item", i);
	}
}
