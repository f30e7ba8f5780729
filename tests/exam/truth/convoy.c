/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * convoy.c - requests that hold up each other: a lock that is short for most, and long for one in ten.
 *
 * Four threads serve 150 requests each, with pauses.  update() takes the table's mutex for 50 us of work; where the
 * index is to be made anew, for one request in ten, rebuild() keeps it for 4 ms.  Requests that come meanwhile wait,
 * and later ones wait for those as well: a convoy.  A request's waits and its computing are in its own book.
 *
 * truth: wait lock update because rebuild truth: function rebuild forbidden: function answer may-warn: mixture
 */
#include <pthread.h>
#include <vprof.h>
#include "truth.h"

enum { THREADS = 4, REQUESTS = 150 };

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;

static void rebuild(size_t id)
{
	if (truth_draw(1, id) < 0.1)
		TRUTH(id, 1, truth_nap(4000));
}

static void update(size_t id)
{
	TRUTH(id, 0, pthread_mutex_lock(&table));
	truth_work(50);
	rebuild(id);
	pthread_mutex_unlock(&table);
}

static void answer(size_t id)
{
	TRUTH(id, 2, truth_work(60));
}

static void handle(size_t id)
{
	update(id);
	answer(id);
}

static void *serve(void *arg)
{
	size_t first = (size_t)arg * REQUESTS;

	for (size_t id = first; id < first + REQUESTS; id++) {
		truth_nap(truth_uniform("pause", 2, id, 1000, 6000));
		truth_begin(id);
		VPROF_BEGIN("request", id);
		handle(id);
		VPROF_END("request", id);
		truth_end(id);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	truth_open(THREADS * REQUESTS, "wait lock update;function rebuild;function answer");
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, serve, (void *)i);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	truth_close();
	return 0;
}
