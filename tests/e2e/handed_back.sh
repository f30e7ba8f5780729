#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A loop hands jobs to a thread of a pool, which says that they are done by an eventfd; no annotation says that a job belongs to a request.
# The time in which the request lies aside counts for the work of the pool's thread until it woke the loop.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >pool.c <<'C'
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <vprof.h>

enum { REQUESTS = 90 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int job, done;

__attribute__((noinline)) void resize(int n)
{
	usleep(n % 6 ? 500 : 200000);	/* far more than a busy machine adds */
}

__attribute__((noinline)) void store(void)
{
	usleep(1000);
}

static void *worker(void *none)
{
	for (int n = 1; n <= REQUESTS; n++) {
		pthread_mutex_lock(&m);
		while (!job)
			pthread_cond_wait(&c, &m);
		job = 0;
		pthread_mutex_unlock(&m);
		resize(n);
		store();
		eventfd_write(done, 1);
	}
	return none;
}

__attribute__((noinline)) void submit(long n)
{
	VPROF_BEGIN("request", n);
	pthread_mutex_lock(&m);
	job = 1;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	VPROF_PAUSE();
}

__attribute__((noinline)) void finish(long n)
{
	eventfd_t value;

	VPROF_RESUME("request", n);
	eventfd_read(done, &value);
	VPROF_END("request", n);
}

int main(void)
{
	struct epoll_event e = { .events = EPOLLIN };
	int loop = epoll_create1(0);
	pthread_t t;

	done = eventfd(0, 0);
	epoll_ctl(loop, EPOLL_CTL_ADD, done, &e);
	pthread_create(&t, NULL, worker, NULL);
	for (long n = 1; n <= REQUESTS; n++) {
		submit(n);
		if (epoll_wait(loop, &e, 1, 5000) == 1)
			finish(n);
	}
	pthread_join(t, NULL);
	return 0;
}
C
expect 0 "$VPROF" build --functions all -- cc -O1 -g -pthread -o pool pool.c
expect 0 "$VPROF" record -- ./pool
expect 0 "$VPROF" show causes --format json
python3 - "$work/.out" >verdict 2>&1 <<'P'
import json, sys
from causes import causes_of, tells
o = json.load(open(sys.argv[1]))
causes = causes_of(o)
first, by = causes[0], {c["function"]: c for c in causes}
print("resize first", first["function"] == "resize" and first["wait"] == "sleep" and first["how"] == "queue" and first["share"] > .7, first)
print("store too", by["store"]["mean_ns"] > 900e3, by.get("store"))
print("told", tells(o, "put aside in submit, taken up in finish", "because of resize"), o["sentence"])
P
[ "$(grep -c ' True ' verdict)" = 3 ] && pass || fail "handed back: $(cat verdict)"
finish
