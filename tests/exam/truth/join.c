/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * join.c - a request in three parallel parts; it is as slow as the slowest of them.
 *
 * For each request three threads are made and joined in that order: thumbnail() takes 300 us, resize() 200 us and, one
 * time in eight, 3 ms more (variance 984,375 us^2), tag() 250.  Then sign() computes 0 to 1 ms: 83,333.  The
 * threads' parts are naps, so that two processors are enough.
 *
 * truth: wait join gather 0.92 because resize
 * truth: function sign 0.08
 * also: wait wakeup gather
 * forbidden: function thumbnail
 * forbidden: function tag
 * fix: resize wait join gather
 */
#include <pthread.h>
#include <vprof.h>
#include "truth.h"

enum { REQUESTS = 400 };

static void *thumbnail(void *arg)
{
	truth_nap(300);
	return arg;
}

static void *resize(void *arg)
{
	truth_nap(200 + truth_rare("resize", 1, (size_t)arg, 0.125, 3000));
	return arg;
}

static void *tag(void *arg)
{
	truth_nap(250);
	return arg;
}

static void gather(size_t id, pthread_t *threads)
{
	for (int i = 0; i < 3; i++)
		TRUTH(id, 0, pthread_join(threads[i], NULL));
}

static void sign(size_t id)
{
	TRUTH(id, 1, truth_work(truth_uniform("sign", 2, id, 0, 1000)));
}

static void handle(size_t id)
{
	pthread_t threads[3];

	pthread_create(&threads[0], NULL, thumbnail, (void *)id);
	pthread_create(&threads[1], NULL, resize, (void *)id);
	pthread_create(&threads[2], NULL, tag, (void *)id);
	gather(id, threads);
	sign(id);
}

int main(void)
{
	truth_open(REQUESTS, "wait join gather;function sign");
	TRUTH_SERVE(id, REQUESTS, 500, handle(id));
	truth_close();
	return 0;
}
