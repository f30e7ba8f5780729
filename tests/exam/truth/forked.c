/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * forked.c - a server of four forked processes that share a lock in memory.
 *
 * Each process serves 150 requests.  One request in twelve makes checkpoint(), 5 ms under the processes' mutex; every request
 * takes it in log_write().  The processes never see each other's threads: the lock's holder is in shared memory only.
 * parse() takes 0 to 500 us.
 *
 * truth: wait lock log_write because checkpoint
 * truth: function checkpoint
 * may-warn: mixture
 * forbidden: function answer
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vprof.h>
#include "truth.h"

enum { PROCESSES = 4, REQUESTS = 150 };

static pthread_mutex_t *log_mutex;

static void checkpoint(size_t id)
{
	if (truth_draw(1, id) >= 1. / 12)
		return;
	TRUTH(id, 1,
	      pthread_mutex_lock(log_mutex);
	      truth_nap(5000);
	      pthread_mutex_unlock(log_mutex));
}

static void log_write(size_t id)
{
	TRUTH(id, 0, pthread_mutex_lock(log_mutex));
	truth_work(10);
	pthread_mutex_unlock(log_mutex);
}

static void parse(size_t id)
{
	TRUTH(id, 2, truth_work(truth_uniform("parse", 2, id, 0, 500)));
}

static void answer(size_t id)
{
	TRUTH(id, 3, truth_work(50));
}

static void handle(size_t id)
{
	parse(id);
	checkpoint(id);
	log_write(id);
	answer(id);
}

static void serve(size_t first)
{
	for (size_t id = first; id < first + REQUESTS; id++) {
		truth_nap(truth_uniform("pause", 3, id, 500, 6000));
		truth_begin(id);
		VPROF_BEGIN("request", id);
		handle(id);
		VPROF_END("request", id);
		truth_end(id);
	}
}

int main(void)
{
	pthread_mutexattr_t attributes;

	truth_open(PROCESSES * REQUESTS, "wait lock log_write;function checkpoint;function parse;function answer");
	log_mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(log_mutex, &attributes);
	for (size_t i = 0; i < PROCESSES; i++)
		if (fork() == 0) {
			serve(i * REQUESTS);
			exit(0);
		}
	while (wait(NULL) > 0)
		;
	truth_close();
	return 0;
}
