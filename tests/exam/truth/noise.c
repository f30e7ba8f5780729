/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * noise.c - much goes on beside the requests, and none of it is their reason.
 *
 * index_all() of another thread takes 0 to 6 ms under a lock that no request takes; ship_log() of a third is woken by
 * each request, which does not wait for it, and takes 0 to 1 ms, more than anything in the request.  look_up() takes 0
 * to 300 us, 7,500 us^2; render() 0 to 200, 3,333.
 *
 * truth: function look_up 0.69
 * truth: function render 0.31
 * forbidden: function index_all
 * forbidden: function ship_log
 * forbidden: function append
 * fix: look_up function look_up
 */
#include <pthread.h>
#include <vprof.h>
#include "truth.h"

enum { REQUESTS = 600 };

static pthread_mutex_t index_mutex = PTHREAD_MUTEX_INITIALIZER, log_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t line = PTHREAD_COND_INITIALIZER;
static volatile int stopping;
static size_t line_cnt;

static void index_all(size_t round)
{
	pthread_mutex_lock(&index_mutex);
	truth_nap(truth_uniform("index_all", 11, round, 0, 6000));
	pthread_mutex_unlock(&index_mutex);
}

static void *indexer(void *arg)
{
	for (size_t round = 0; !stopping; round++) {
		index_all(round);
		truth_nap(100);
	}
	return arg;
}

static void ship_log(size_t round)
{
	truth_nap(truth_uniform("ship_log", 12, round, 0, 1000));
}

static void *shipper(void *arg)
{
	pthread_mutex_lock(&log_mutex);
	for (size_t done = 0; !stopping; done++) {
		while (done == line_cnt && !stopping)
			pthread_cond_wait(&line, &log_mutex);
		pthread_mutex_unlock(&log_mutex);
		ship_log(done);
		pthread_mutex_lock(&log_mutex);
	}
	pthread_mutex_unlock(&log_mutex);
	return arg;
}

static void append(size_t id)
{
	TRUTH(id, 2,
	      pthread_mutex_lock(&log_mutex);
	      line_cnt++;
	      pthread_cond_signal(&line);
	      pthread_mutex_unlock(&log_mutex));
}

static void look_up(size_t id)
{
	TRUTH(id, 0, truth_work(truth_uniform("look_up", 1, id, 0, 300)));
}

static void render(size_t id)
{
	TRUTH(id, 1, truth_work(truth_uniform("render", 2, id, 0, 200)));
}

static void handle(size_t id)
{
	look_up(id);
	append(id);
	render(id);
}

int main(void)
{
	pthread_t threads[2];

	truth_open(REQUESTS, "function look_up;function render;function append");
	pthread_create(&threads[0], NULL, indexer, NULL);
	pthread_create(&threads[1], NULL, shipper, NULL);
	TRUTH_SERVE(id, REQUESTS, 800, handle(id));
	pthread_mutex_lock(&log_mutex);
	stopping = 1;
	pthread_cond_signal(&line);
	pthread_mutex_unlock(&log_mutex);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	truth_close();
	return 0;
}
