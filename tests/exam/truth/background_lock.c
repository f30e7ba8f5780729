/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * background_lock.c - a lock that a background job holds while it writes.
 *
 * One request after another, 1 ms apart, appends to a log under a mutex.  Every 50 ms flush_log() of a thread that no request
 * knows of takes that mutex and sleeps 15 ms.  A request that comes meanwhile waits for what is left of it: about one in 27.
 * render() takes 0 to 600 us.
 *
 * truth: wait lock append because flush_log
 * may-warn: mixture
 * forbidden: function compress
 * forbidden: function collect
 */
#include <pthread.h>
#include <vprof.h>
#include "truth.h"

enum { REQUESTS = 900 };

static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int stopping;
static volatile unsigned long line_cnt;

static void flush_log(void)
{
	pthread_mutex_lock(&log_mutex);
	truth_nap(15000);
	pthread_mutex_unlock(&log_mutex);
}

static void collect(size_t round)
{
	truth_work(truth_uniform("collect", 7, round, 0, 4000));
}

static void *background(void *arg)
{
	for (size_t round = 0; !stopping; round++) {
		truth_nap(35000);
		flush_log();
		collect(round);
	}
	return arg;
}

static void append(size_t id)
{
	TRUTH(id, 0, pthread_mutex_lock(&log_mutex));
	line_cnt++;
	pthread_mutex_unlock(&log_mutex);
}

static void render(size_t id)
{
	TRUTH(id, 1, truth_work(truth_uniform("render", 1, id, 0, 600)));
}

static void compress(size_t id)
{
	TRUTH(id, 2, truth_work(200));
}

static void handle(size_t id)
{
	render(id);
	compress(id);
	append(id);
}

int main(void)
{
	pthread_t thread;

	truth_open(REQUESTS, "wait lock append;function render;function compress");
	pthread_create(&thread, NULL, background, NULL);
	TRUTH_SERVE(id, REQUESTS, 1000, handle(id));
	stopping = 1;
	pthread_join(thread, NULL);
	truth_close();
	return 0;
}
