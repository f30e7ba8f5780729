/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * event_loop.c - one thread serves all clients: an expensive request delays the others.
 *
 * Clients (a thread) send one request each 2 ms through a pipe; the loop polls, reads, answers.  get() takes 200 us;
 * one request in twelve is a sort(), 7 ms.  Requests that come meanwhile wait in the pipe: their loop works for
 * another.
 *
 * truth: wait queue - because sort truth: function sort forbidden: function get may-warn: mixture
 */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include <vprof.h>
#include "truth.h"

enum { REQUESTS = 700 };

static int ends[2];
static int64_t sent_ns[REQUESTS];

static void sort(size_t id)
{
	TRUTH(id, 1, truth_nap(7000));
}

static void get(size_t id)
{
	TRUTH(id, 2, truth_work(200));
}

static void command(size_t id)
{
	/* Only this one of the first streams has about as many sorts in each hundred: 9, 9, 9, 11, 8, 10, 8.  Stream 1 drifts. */
	if (truth_draw(8, id) < 1. / 12)
		sort(id);
	else
		get(id);
}

static void serve(size_t id)
{
	truth_took(id, 0, truth_now() - sent_ns[id]);
	VPROF_RESUME("request", id);
	command(id);
	VPROF_END("request", id);
	truth_end(id);
}

static void *loop(void *arg)
{
	for (size_t i = 0; i < REQUESTS; i++) {
		struct pollfd p = { .fd = ends[0], .events = POLLIN };
		size_t id;

		if (poll(&p, 1, -1) != 1 || read(ends[0], &id, sizeof(id)) != sizeof(id))
			abort();
		serve(id);
	}
	return arg;
}

static void send_request(size_t id)
{
	truth_begin(id);
	sent_ns[id] = truth_now();
	VPROF_BEGIN("request", id);
	if (write(ends[1], &id, sizeof(id)) != sizeof(id))
		abort();
	VPROF_PAUSE();
}

int main(void)
{
	pthread_t thread;

	truth_open(REQUESTS, "wait queue -;function sort;function get");
	if (pipe(ends))
		abort();
	pthread_create(&thread, NULL, loop, NULL);
	for (size_t id = 0; id < REQUESTS; id++) {
		send_request(id);
		truth_nap(2000);
	}
	pthread_join(thread, NULL);
	truth_close();
	return 0;
}
