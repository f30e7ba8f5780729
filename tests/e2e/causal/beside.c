/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * beside.c - a thread beside a program that knows nothing of it: intervals, and in them calls of target().  The program begins when
 * an experiment is under way, if BESIDE is set.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <vprof.h>

enum { TICK_FD = 900, TENTHS = 300 };	/* the events of ticks have high numbers */

static void sleep_us(long us)
{
	nanosleep(&(struct timespec){ us / 1000000, us % 1000000 * 1000 }, NULL);
}

__attribute__((noinline)) void target(void)
{
	for (volatile long i = 0; i < 100000; i++)
		;
	sleep_us(200);
}

static void *run(void *arg)
{
	for (long i = 1;; i++) {
		VPROF_BEGIN("item", i);
		target();
		VPROF_END("item", i);
		sleep_us(500);
	}
	return arg;
}

__attribute__((constructor)) static void begin(void)
{
	sigset_t all, before;
	pthread_t t;

	if (!getenv("BESIDE"))
		return;
	unsetenv("BESIDE");		/* the programs that it executes are not alone either */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_create(&t, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	for (int i = 0; i < TENTHS && fcntl(TICK_FD, F_GETFD) < 0; i++)
		sleep_us(100000);
	fprintf(stderr, fcntl(TICK_FD, F_GETFD) < 0 ? "no experiment\n" : "an experiment is under way\n");
}
