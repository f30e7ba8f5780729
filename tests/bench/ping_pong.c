/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ping_pong.c - two threads on one CPU that wake each other by a futex: nothing but switches.
 *
 *	ping_pong ROUND_TRIPS	->	CPU nanoseconds a round trip, of the kernel as well
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int turn;
static unsigned long round_trips;

static void play(int me)
{
	for (unsigned long i = 0; i < round_trips; i++) {
		while (atomic_load(&turn) != me)
			syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !me, NULL, NULL, 0);
		atomic_store(&turn, !me);
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
}

static void *other(void *arg)
{
	(void)arg;
	play(1);
	return NULL;
}

int main(int argc, char **argv)
{
	struct rusage used;
	cpu_set_t set;
	pthread_t thread;

	round_trips = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (!round_trips || sched_setaffinity(0, sizeof(set), &set) ||
	    pthread_create(&thread, NULL, other, NULL))
		return 99;
	play(0);
	pthread_join(thread, NULL);
	getrusage(RUSAGE_SELF, &used);
	printf("%.1f\n", ((double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e9 +
			  (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e3) /
			 (double)round_trips);
	return 0;
}
