/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read_ahead.c - reads the next window of a stream in a thread while the caller works on the one before.
 *
 * Two windows go back and forth: while one is with the caller the other is filled.
 *
 *	reader	fills 0, hands it over	fills 1, waits until 0 is back	fills 0 ...
 *	caller				looks at 0, gives it back	looks at 1 ...
 */
#include <pthread.h>
#include "base/banned.h"
#include "trace/windows/stream.h"

struct trace_ahead {
	struct trace_stream *stream;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct trace_window windows[2];
	unsigned int read_cnt, taken_cnt;	/* windows read so far; taken: and given back */
	bool is_out;			/* the caller has one */
	bool stop;
	int end;			/* the last result of trace_stream_next(); 1: more windows follow */
	struct diag diag;
};

static void *read_windows(void *arg)
{
	struct trace_ahead *a = arg;
	int r = 1;

	while (r > 0) {
		struct trace_window *w;

		pthread_mutex_lock(&a->lock);
		while (!a->stop && a->read_cnt - a->taken_cnt == 2)
			pthread_cond_wait(&a->changed, &a->lock);
		w = a->stop ? NULL : &a->windows[a->read_cnt % 2];
		pthread_mutex_unlock(&a->lock);
		if (!w)
			return NULL;
		r = trace_stream_next(a->stream, w, &a->diag);
		pthread_mutex_lock(&a->lock);
		a->read_cnt += r > 0;
		a->end = r;
		pthread_cond_signal(&a->changed);
		pthread_mutex_unlock(&a->lock);
	}
	return NULL;
}

struct trace_ahead *trace_ahead_new(struct trace_stream *s)
{
	struct trace_ahead *a = xcalloc(1, sizeof(*a));

	a->stream = s;
	a->end = 1;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	if (pthread_create(&a->thread, NULL, read_windows, a)) {
		trace_ahead_free(a);
		return NULL;
	}
	return a;
}

int trace_ahead_next(struct trace_ahead *a, const struct trace_window **ret, struct diag *reterr)
{
	int r = 1;

	pthread_mutex_lock(&a->lock);
	if (a->is_out) {
		a->taken_cnt++;
		a->is_out = false;
		pthread_cond_signal(&a->changed);
	}
	while (a->read_cnt == a->taken_cnt && a->end > 0)
		pthread_cond_wait(&a->changed, &a->lock);
	if (a->read_cnt == a->taken_cnt) {
		r = a->end;
		*reterr = a->diag;
	} else {
		*ret = &a->windows[a->taken_cnt % 2];
		a->is_out = true;
	}
	pthread_mutex_unlock(&a->lock);
	return r;
}

void trace_ahead_free(struct trace_ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	if (a->thread)
		pthread_join(a->thread, NULL);
	trace_window_release(&a->windows[0]);
	trace_window_release(&a->windows[1]);
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->changed);
	free(a);
}
