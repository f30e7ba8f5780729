/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * client.h - one connection to the server: what it sends, what it knows, what it checks.
 *
 *	client_open()		connects, puts the server into the state that the model begins with
 *	client_fill_shared()	the first connection stores what all of them share
 *	client_run()		a thread: all its requests, until one answer is wrong
 *	client_check_sum()	the shared counter holds what all connections have added
 *	client_close()
 *
 * Errors are counted in error_cnt, the first one is in first_error; nothing is printed here.
 */
#ifndef MEMCACHED_CLIENT_H
#define MEMCACHED_CLIENT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEY_CNT		500	/* per connection, and shared */
#define COUNTER_CNT	16	/* per connection */
#define VALUE_MAX	1100	/* bytes, the header included */
#define DEPTH_MAX	64
#define SHARED		UINT32_MAX	/* as the owner of a key */

struct options {
	unsigned port, connections, depth, limit_seconds;
	uint64_t requests;		/* over all connections */
	uint32_t seed;
};

enum kind { GET, SET, DELETE, INCR, SHARED_GET, SHARED_SET, SHARED_INCR, KIND_CNT };

struct request {			/* sent, not answered yet */
	enum kind kind;
	uint32_t key;
	uint64_t wanted;		/* version, or what the counter must say; 0: absent */
};

struct client {
	const struct options *options;
	pthread_t thread;
	uint32_t id;
	int fd;
	unsigned short random[3];
	uint64_t request_cnt;		/* to be sent by this client */
	uint32_t versions[KEY_CNT];	/* what the server must hold; 0: absent */
	uint32_t last_versions[KEY_CNT];	/* last one written, also when deleted since */
	uint32_t shared_version;
	uint64_t counters[COUNTER_CNT];
	uint64_t shared_seen, shared_added;

	struct request pending[DEPTH_MAX];
	char out[DEPTH_MAX * (VALUE_MAX + 100)];
	size_t out_len;
	char in[2 * (VALUE_MAX + 100)];
	size_t in_start, in_end;

	uint32_t *latencies_ns;		/* one per request */
	uint64_t answer_cnt, error_cnt;
	uint64_t by_kind[KIND_CNT];
	char first_error[400];
};

extern const char *const kind_names[KIND_CNT];

int64_t now_ns(void);			/* CLOCK_MONOTONIC */

bool client_open(struct client *c, const struct options *o, uint32_t id);
bool client_fill_shared(struct client *c);
void *client_run(void *client);
bool client_check_sum(struct client *c, uint64_t wanted);
void client_close(struct client *c);

#endif
