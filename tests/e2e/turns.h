/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * turns.h - the requests of two servers that tests record: each begins on one thread and ends on another, with fifty calls
 * of small() on either.  One in SLOW_ONE_IN, which the program defines, sleeps SLOW_US at its end.
 *
 * main() does pass_turn(2 * i), begin(i), take_turn(2 * i + 1) for each, while work() runs on the other thread; over = 1 at
 * main()'s turn ends that.
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <vprof.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static long turn;
static int over;
static volatile unsigned sink;

__attribute__((noinline)) void small(unsigned i) { sink += i; }
__attribute__((noinline)) void pause_sometimes(long i) { if (i % SLOW_ONE_IN == 0) usleep(SLOW_US); }

static void pass_turn(long wanted)
{
	pthread_mutex_lock(&lock);
	while (turn != wanted)
		pthread_cond_wait(&turned, &lock);
	pthread_mutex_unlock(&lock);
}

static void take_turn(long next)
{
	pthread_mutex_lock(&lock);
	turn = next;
	pthread_cond_broadcast(&turned);
	pthread_mutex_unlock(&lock);
}

void finish(long i)
{
	VPROF_RESUME("request", i % 4);
	for (unsigned k = 0; k < 50; k++)
		small(k);
	pause_sometimes(i);
	VPROF_END("request", i % 4);
}

static void *work(void *arg)
{
	for (long i = 0;; i++) {
		pass_turn(2 * i + 1);
		if (over)
			return arg;
		finish(i);
		take_turn(2 * i + 2);
	}
}

void begin(long i)
{
	VPROF_BEGIN("request", i % 4);
	for (unsigned k = 0; k < 50; k++)
		small(k);
	VPROF_PAUSE();
}
