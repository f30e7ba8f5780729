/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.c - four workers serve requests; the program of `vprof demo causal`.
 *
 * The largest function by far is checksum(), in a thread of its own: nearly all CPU time of the program.  A request has to wait
 * for the log as well, and a background thread sleeps with the log's lock, in sync_log(): that takes longer.  So a faster
 * checksum() would bring nothing, and less sleep with the lock nearly all there is to gain.
 *
 *	server [REQUESTS]		ends after REQUESTS; default: it goes on
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

enum { WORKERS = 4, LINES = 1000000 };

struct request {
	long id;
	unsigned sum;
	int is_summed;
	struct request *next;
};

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER, sums = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_work = PTHREAD_COND_INITIALIZER, has_sum = PTHREAD_COND_INITIALIZER;
static struct request *to_sum;
static unsigned lines[LINES];
static long line_cnt, served, wanted;

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ 0, ms * 1000000 }, NULL);
}

/* ---- the log ---- */

NOINLINE void log_append(unsigned sum)
{
	pthread_mutex_lock(&log_lock);
	lines[line_cnt++ % LINES] = sum;
	pthread_mutex_unlock(&log_lock);
}

/* As if it waited for a disk. */
NOINLINE void sync_log(void)
{
	sleep_ms(12);
}

static void *keep_log(void *arg)
{
	for (;;) {
		pthread_mutex_lock(&log_lock);
		sync_log();
		pthread_mutex_unlock(&log_lock);
		sleep_ms(1);
	}
	return arg;
}

/* ---- checksums ---- */

NOINLINE unsigned checksum(long id)
{
	unsigned sum = (unsigned)id;

	for (int i = 0; i < 400000; i++)
		sum = sum * 1664525 + (unsigned)i;
	return sum;
}

static struct request *next_to_sum(void)
{
	struct request *r;

	pthread_mutex_lock(&sums);
	while (!to_sum)
		pthread_cond_wait(&has_work, &sums);
	r = to_sum;
	to_sum = r->next;
	pthread_mutex_unlock(&sums);
	return r;
}

static void *keep_sums(void *arg)
{
	for (;;) {
		struct request *r = next_to_sum();
		unsigned sum = checksum(r->id);

		pthread_mutex_lock(&sums);
		r->sum = sum;
		r->is_summed = 1;
		pthread_cond_broadcast(&has_sum);
		pthread_mutex_unlock(&sums);
	}
	return arg;
}

NOINLINE void ask_sum(struct request *r)
{
	pthread_mutex_lock(&sums);
	r->next = to_sum;
	to_sum = r;
	pthread_cond_signal(&has_work);
	pthread_mutex_unlock(&sums);
}

NOINLINE unsigned await_sum(struct request *r)
{
	pthread_mutex_lock(&sums);
	while (!r->is_summed)
		pthread_cond_wait(&has_sum, &sums);
	pthread_mutex_unlock(&sums);
	return r->sum;
}

/* ---- requests ---- */

NOINLINE unsigned serve(long id)
{
	struct request r = { id, 0, 0, NULL };

	ask_sum(&r);
	log_append((unsigned)id);
	return await_sum(&r);
}

static void *work(void *arg)
{
	long *sum = arg;

	for (;;) {
		long id = __atomic_add_fetch(&served, 1, __ATOMIC_RELAXED);

		if (wanted && id > wanted)
			return NULL;
		*sum += serve(id);
		sleep_ms(2);
	}
}

int main(int argc, char **argv)
{
	long total[WORKERS] = { 0 };
	pthread_t workers[WORKERS], other;

	wanted = argc > 1 ? atol(argv[1]) : 0;
	pthread_create(&other, NULL, keep_log, NULL);
	pthread_create(&other, NULL, keep_sums, NULL);
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&workers[i], NULL, work, &total[i]);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	printf("%ld requests served\n", wanted);
	return 0;
}
