/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logserver.c - a small server whose latency is unpredictable, for a reason that no CPU profile
 * shows.
 *
 * main puts requests into a queue, workers handle them.  Most take well under a millisecond;
 * now and then some take fifty.  Can you tell why before vprof does?
 *
 * The planted cause: a background thread writes the log out (flush_log) and sleeps while it holds
 * the mutex that every request needs in log_append.
 * The decoys: hash_payload burns most of the CPU, but always the same; collect_statistics is very
 * irregular, but no request waits for it; cache_get is slow for one key in ten, but only a little.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WORKERS 48
#define REQUESTS 1500
#define PAUSE_US 1800			/* between two requests, on average */
#define FLUSH_EVERY_US 240000
#define FLUSH_US 60000

struct request {
	uint64_t id;
	char payload[256];
	uint64_t reply;
	struct request *next;
};

struct queue {
	struct request *first, **last;
	pthread_mutex_t mutex;
	pthread_cond_t not_empty;
};

static struct queue incoming = { NULL, &incoming.first, PTHREAD_MUTEX_INITIALIZER,
				 PTHREAD_COND_INITIALIZER };
static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;
static char log_buffer[65536];
static size_t log_used;
static volatile int stopping;
static volatile uint64_t replies, sink;

/* ---- the queue ---- */

static void queue_push(struct queue *q, struct request *r)
{
	pthread_mutex_lock(&q->mutex);
	r->next = NULL;
	*q->last = r;
	q->last = &r->next;
	pthread_cond_signal(&q->not_empty);
	pthread_mutex_unlock(&q->mutex);
}

static struct request *queue_pop(struct queue *q)
{
	pthread_mutex_lock(&q->mutex);
	while (!q->first)
		pthread_cond_wait(&q->not_empty, &q->mutex);
	struct request *r = q->first;

	q->first = r->next;
	if (!q->first)
		q->last = &q->first;
	pthread_mutex_unlock(&q->mutex);
	return r;
}

/* ---- the log ---- */

static void log_write(const char *line, size_t len)
{
	if (log_used + len > sizeof(log_buffer))
		log_used = 0;
	memcpy(log_buffer + log_used, line, len);
	log_used += len;
}

static void log_append(const struct request *r)
{
	char line[64];
	int len = snprintf(line, sizeof(line), "request %llu\n", (unsigned long long)r->id);

	pthread_mutex_lock(&log_mutex);
	log_write(line, (size_t)len);
	pthread_mutex_unlock(&log_mutex);
}

/* The cause: the log is written to a slow disk while everybody has to wait. */
static void flush_log(void)
{
	pthread_mutex_lock(&log_mutex);
	usleep(FLUSH_US);
	log_used = 0;
	pthread_mutex_unlock(&log_mutex);
}

static void *flusher(void *arg)
{
	(void)arg;
	while (!stopping) {
		usleep(FLUSH_EVERY_US);
		flush_log();
	}
	return NULL;
}

/* ---- the work of a request ---- */

static void parse_request(struct request *r)
{
	for (size_t i = 0; i < sizeof(r->payload); i++)
		r->payload[i] = (char)(r->id * 31 + i);
}

/* Most of the CPU time, and always the same amount of it. */
static uint64_t hash_payload(const struct request *r)
{
	uint64_t h = 14695981039346656037ULL;

	for (int round = 0; round < 400; round++)
		for (size_t i = 0; i < sizeof(r->payload); i++)
			h = (h ^ (unsigned char)r->payload[i]) * 1099511628211ULL;
	return h;
}

static uint64_t cache_get(uint64_t key)
{
	uint64_t v = key;
	int rounds = key % 10 == 0 ? 20000 : 1000;

	for (int i = 0; i < rounds; i++)
		v = v * 6364136223846793005ULL + 1442695040888963407ULL;
	return v;
}

static void send_reply(struct request *r)
{
	__atomic_fetch_add(&replies, r->reply != 0, __ATOMIC_RELAXED);
}

static void handle_request(struct request *r)
{
	parse_request(r);
	r->reply = hash_payload(r) ^ cache_get(r->id);
	log_append(r);
	send_reply(r);
}

static void *worker(void *arg)
{
	struct request *r;

	(void)arg;
	while ((r = queue_pop(&incoming))->id != 0) {
		handle_request(r);
		free(r);
	}
	free(r);
	return NULL;
}

/* ---- beside the requests ---- */

/* As irregular as can be, and no request waits for it. */
static void collect_statistics(unsigned *seed)
{
	unsigned rounds = rand_r(seed) % 4 == 0 ? 3000000 : 1000;

	for (unsigned i = 0; i < rounds; i++)
		sink += i;
}

static void *statistics(void *arg)
{
	unsigned seed = 7;

	(void)arg;
	while (!stopping) {
		collect_statistics(&seed);
		usleep(40000);
	}
	return NULL;
}

static void enqueue_request(struct request *r)
{
	queue_push(&incoming, r);
}

static struct request *new_request(uint64_t id)
{
	struct request *r = calloc(1, sizeof(*r));

	if (!r) {
		perror("logserver");
		abort();
	}
	r->id = id;
	return r;
}

int main(void)
{
	pthread_t workers[WORKERS], background[2];
	unsigned seed = 1;

	for (int i = 0; i < WORKERS; i++)
		pthread_create(&workers[i], NULL, worker, NULL);
	pthread_create(&background[0], NULL, flusher, NULL);
	pthread_create(&background[1], NULL, statistics, NULL);
	for (uint64_t id = 1; id <= REQUESTS; id++) {
		usleep(PAUSE_US / 2 + (unsigned)rand_r(&seed) % PAUSE_US);
		enqueue_request(new_request(id));
	}
	for (int i = 0; i < WORKERS; i++)
		queue_push(&incoming, new_request(0));
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	stopping = 1;
	pthread_join(background[0], NULL);
	pthread_join(background[1], NULL);
	printf("logserver: %llu requests answered\n", (unsigned long long)replies);
	return replies == REQUESTS ? 0 : 1;
}
