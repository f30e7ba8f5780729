/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * queue.c - one worker and a queue: requests wait for the work of others.
 *
 * Requests come every 2 ms.  The worker takes 500 us for each; one in ten makes a report(), 8 ms.  The requests
 * behind it wait in the queue until it has caught up.  From the moment a request is put into the queue (begin) to its
 * end there are two times: until the worker takes it up, and what is done for it.  A backlog lasts for a good part of
 * so short a run: that may look like a drift.
 *
 * truth: wait queue - because report truth: function report forbidden: function answer may-warn: mixture may-warn:
 * drift
 */
#include <pthread.h>
#include <vprof.h>
#include "truth.h"

enum { REQUESTS = 700 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static size_t put_cnt, taken_cnt;
static int64_t put_ns[REQUESTS];

static void put(size_t id)
{
	put_ns[id] = truth_now();
	pthread_mutex_lock(&mutex);
	VPROF_ENQUEUE(&put_cnt, id + 1);
	put_cnt++;
	pthread_cond_signal(&not_empty);
	pthread_mutex_unlock(&mutex);
}

static size_t take(void)
{
	size_t id;

	pthread_mutex_lock(&mutex);
	while (taken_cnt == put_cnt)
		pthread_cond_wait(&not_empty, &mutex);
	id = taken_cnt++;
	VPROF_DEQUEUE(&put_cnt, id + 1);
	pthread_mutex_unlock(&mutex);
	return id;
}

static void report(size_t id)
{
	if (truth_draw(1, id) < 0.1)
		TRUTH(id, 1, truth_nap(8000));
}

static void answer(size_t id)
{
	TRUTH(id, 2, truth_work(500));
}

static void handle(size_t id)
{
	report(id);
	answer(id);
}

static void *work(void *arg)
{
	for (size_t i = 0; i < REQUESTS; i++) {
		size_t id = take();

		truth_took(id, 0, truth_now() - put_ns[id]);
		VPROF_RESUME("request", id);
		handle(id);
		VPROF_END("request", id);
		truth_end(id);
	}
	return arg;
}

int main(void)
{
	pthread_t thread;

	truth_open(REQUESTS, "wait queue -;function report;function answer");
	pthread_create(&thread, NULL, work, NULL);
	for (size_t id = 0; id < REQUESTS; id++) {
		truth_begin(id);
		VPROF_BEGIN("request", id);
		put(id);
		VPROF_PAUSE();
		truth_nap(2000);
	}
	pthread_join(thread, NULL);
	truth_close();
	return 0;
}
