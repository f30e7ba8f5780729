/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pipeline.c - three threads in a row, a queue between each two.
 *
 * decode() takes 100 to 400 us (variance 7,500 us^2), transform() 100 to 900 (53,333), encode() 100 to 500 (13,333).
 * A frame comes every 1.5 ms, so the queues are nearly empty.
 *
 * truth: function transform 0.72
 * truth: function encode 0.18
 * truth: function decode 0.10
 * also: body take
 * fix: transform function transform
 */
#include <pthread.h>
#include <vprof.h>
#include "truth.h"

enum { FRAMES = 600 };

struct stage {
	pthread_mutex_t mutex;
	pthread_cond_t not_empty;
	size_t put_cnt, taken_cnt;
	int64_t put_ns[FRAMES];
};

static struct stage transforming = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, { 0 } };
static struct stage encoding = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, { 0 } };

static void put(struct stage *s, size_t id)
{
	s->put_ns[id] = truth_now();
	pthread_mutex_lock(&s->mutex);
	VPROF_ENQUEUE(s, id + 1);
	s->put_cnt++;
	pthread_cond_signal(&s->not_empty);
	pthread_mutex_unlock(&s->mutex);
	VPROF_PAUSE();
}

static size_t take(struct stage *s)
{
	size_t id;

	pthread_mutex_lock(&s->mutex);
	while (s->taken_cnt == s->put_cnt)
		pthread_cond_wait(&s->not_empty, &s->mutex);
	id = s->taken_cnt++;
	VPROF_DEQUEUE(s, id + 1);
	pthread_mutex_unlock(&s->mutex);
	truth_took(id, 3, truth_now() - s->put_ns[id]);
	VPROF_RESUME("frame", id);
	return id;
}

static void decode(size_t id)
{
	TRUTH(id, 2, truth_work(truth_uniform("decode", 1, id, 100, 400)));
}

static void transform(size_t id)
{
	TRUTH(id, 0, truth_work(truth_uniform("transform", 2, id, 100, 900)));
}

static void encode(size_t id)
{
	TRUTH(id, 1, truth_work(truth_uniform("encode", 3, id, 100, 500)));
}

static void *transformer(void *arg)
{
	for (size_t i = 0; i < FRAMES; i++) {
		size_t id = take(&transforming);

		transform(id);
		put(&encoding, id);
	}
	return arg;
}

static void *encoder(void *arg)
{
	for (size_t i = 0; i < FRAMES; i++) {
		size_t id = take(&encoding);

		encode(id);
		VPROF_END("frame", id);
		truth_end(id);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	truth_open(FRAMES, "function transform;function encode;function decode;wait queue -");
	pthread_create(&threads[0], NULL, transformer, NULL);
	pthread_create(&threads[1], NULL, encoder, NULL);
	for (size_t id = 0; id < FRAMES; id++) {
		int64_t began_ns = truth_now(), took_us;

		truth_begin(id);
		VPROF_BEGIN("frame", id);
		decode(id);
		put(&transforming, id);
		took_us = (truth_now() - began_ns) / 1000;
		truth_nap(took_us < 1500 ? 1500 - took_us : 1);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	truth_close();
	return 0;
}
