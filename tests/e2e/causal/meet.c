/* SPDX-License-Identifier: GPL-3.0-or-later */
/* meet.c - 16 ms asleep beside 8 ms, and a barrier: of more than half of the 16 ms nothing is gained, for the 8 ms are the limit. */
#include <pthread.h>
#include <time.h>

static pthread_barrier_t gate;

__attribute__((noinline)) void long_part(void)
{
	nanosleep(&(struct timespec){ 0, 16000000 }, NULL);
}

__attribute__((noinline)) void short_part(void)
{
	nanosleep(&(struct timespec){ 0, 8000000 }, NULL);
}

__attribute__((noinline)) void meet(void)
{
	long_part();
	pthread_barrier_wait(&gate);
}

static void *beside(void *arg)
{
	for (;;) {
		short_part();
		pthread_barrier_wait(&gate);
	}
	return arg;
}

int main(void)
{
	pthread_t t;

	pthread_barrier_init(&gate, NULL, 2);
	pthread_create(&t, NULL, beside, NULL);
	for (;;)
		meet();
}
