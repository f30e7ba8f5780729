/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * client.c - one connection to a memcached server that checks every answer it gets.
 *
 * Each connection is a thread with keys of its own, of which it knows at any time what the server
 * must hold, so each answer has exactly one right text:
 *
 *	set c3k7 ... "3:7:2:efgh..."	STORED		c3k7 is at version 2 now
 *	get c3k7			VALUE c3k7 2 <length> / 3:7:2:efgh... / END
 *	delete c3k7			DELETED		c3k7 is absent now (version 0)
 *	delete c3k7			NOT_FOUND
 *	incr c3n1 5			17		it was 12
 *
 * One request in five goes to keys that all connections share, so that the server's item locks
 * are contended.  A shared value says who wrote it and which version it is, and the rest of it
 * follows from that: a torn or mixed-up value cannot pass.  A shared counter must grow from answer
 * to answer, and at the end it must equal the sum of all that was added.
 *
 * With --depth D, D requests are sent in one write before the first answer is read.  The same
 * seed gives the same requests.  The exit status is 0 only if every answer was right.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

const char *const kind_names[KIND_CNT] = {
	[GET] = "get", [SET] = "set", [DELETE] = "delete", [INCR] = "incr",
	[SHARED_GET] = "get, shared", [SHARED_SET] = "set, shared", [SHARED_INCR] = "incr, shared",
};
static const unsigned percents[KIND_CNT] = {
	[GET] = 50, [SET] = 17, [DELETE] = 5, [INCR] = 8,
	[SHARED_GET] = 14, [SHARED_SET] = 4, [SHARED_INCR] = 2,
};

int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Notes that an answer was wrong; the first one is kept in full.  Returns false. */
__attribute__((format(printf, 2, 3)))
static bool wrong(struct client *c, const char *format, ...)
{
	va_list args;

	if (c->error_cnt++)
		return false;
	va_start(args, format);
	vsnprintf(c->first_error, sizeof(c->first_error), format, args);
	va_end(args);
	return false;
}

/* ---- the connection ---- */

static bool open_connection(struct client *c)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)c->options->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct timeval patience = { .tv_sec = 10 };
	int on = 1;

	c->fd = socket(AF_INET, SOCK_STREAM, 0);
	if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return wrong(c, "cannot connect to 127.0.0.1:%u: %s", c->options->port,
			     strerror(errno));
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	return true;
}

__attribute__((format(printf, 2, 3)))
static void add_line(struct client *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	c->out_len += (size_t)vsnprintf(c->out + c->out_len, sizeof(c->out) - c->out_len, format,
					args);
	va_end(args);
}

static bool send_out(struct client *c)
{
	for (size_t sent = 0; sent < c->out_len; ) {
		ssize_t n = send(c->fd, c->out + sent, c->out_len - sent, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return wrong(c, "cannot send: %s", strerror(errno));
		sent += n > 0 ? (size_t)n : 0;
	}
	c->out_len = 0;
	return true;
}

static bool receive_more(struct client *c)
{
	if (c->in_start) {
		memmove(c->in, c->in + c->in_start, c->in_end - c->in_start);
		c->in_end -= c->in_start;
		c->in_start = 0;
	}
	if (c->in_end == sizeof(c->in))
		return wrong(c, "an answer is longer than any can be: '%.60s'", c->in);
	for (;;) {
		ssize_t n = recv(c->fd, c->in + c->in_end, sizeof(c->in) - c->in_end, 0);

		if (n > 0) {
			c->in_end += (size_t)n;
			return true;
		}
		if (n == 0)
			return wrong(c, "the server closed the connection");
		if (errno != EINTR)
			return wrong(c, "no answer: %s", strerror(errno));
	}
}

/* The next len bytes, valid until the next read; NULL if they do not come. */
static char *read_bytes(struct client *c, size_t len)
{
	char *bytes;

	while (c->in_end - c->in_start < len)
		if (!receive_more(c))
			return NULL;
	bytes = c->in + c->in_start;
	c->in_start += len;
	return bytes;
}

/* The next line without its \r\n, valid until the next read; NULL if it does not come. */
static char *read_line(struct client *c)
{
	char *end;
	size_t len;

	while (!(end = memchr(c->in + c->in_start, '\n', c->in_end - c->in_start)))
		if (!receive_more(c))
			return NULL;
	len = (size_t)(end - (c->in + c->in_start)) + 1;

	char *line = read_bytes(c, len);

	line[len >= 2 && line[len - 2] == '\r' ? len - 2 : len - 1] = '\0';
	return line;
}

/* ---- keys and values ---- */

static const char *key_name(const struct options *o, uint32_t owner, const char *what, uint32_t key,
			    char ret[static 48])
{
	if (owner == SHARED)
		snprintf(ret, 48, "v%u.shared.%s%u", o->seed, what, key);
	else
		snprintf(ret, 48, "v%u.c%u.%s%u", o->seed, owner, what, key);
	return ret;
}

/* The text of a value follows from who wrote it, where, and its version.  Returns its length. */
static size_t make_value(uint32_t writer, uint32_t key, uint32_t version,
			 char ret[static VALUE_MAX])
{
	uint32_t mixed = (writer + 1) * 2654435761u ^ (key + 1) * 2246822519u ^
			 version * 3266489917u;
	size_t len = (size_t)snprintf(ret, VALUE_MAX, "%u:%u:%u:", writer, key, version);
	size_t end = len + mixed % (VALUE_MAX - 100);

	for (; len < end; len++, mixed = mixed * 1664525u + 1013904223u)
		ret[len] = (char)('a' + (mixed >> 24) % 26);
	return len;
}

static void add_set(struct client *c, uint32_t owner, uint32_t key, uint32_t version)
{
	char name[48], value[VALUE_MAX];
	size_t len = make_value(c->id, key, version, value);

	add_line(c, "set %s %u 0 %zu\r\n", key_name(c->options, owner, "k", key, name), version,
		 len);
	memcpy(c->out + c->out_len, value, len);
	c->out_len += len;
	add_line(c, "\r\n");
}

/* ---- one request and its answer ---- */

static enum kind choose_kind(struct client *c)
{
	unsigned percent = (unsigned)nrand48(c->random) % 100;
	enum kind kind = 0;

	while (percent >= percents[kind])
		percent -= percents[kind++];
	return kind;
}

/* Adds one request to what will be sent, and to the model of what the server then holds. */
static void add_request(struct client *c, struct request *r)
{
	char name[48];

	r->kind = choose_kind(c);
	r->key = (uint32_t)nrand48(c->random) % KEY_CNT;
	r->wanted = 0;
	switch (r->kind) {
	case GET:
	case SHARED_GET:
		if (r->kind == GET)
			r->wanted = c->versions[r->key];
		add_line(c, "get %s\r\n",
			 key_name(c->options, r->kind == GET ? c->id : SHARED, "k", r->key, name));
		break;
	case SET:
		r->wanted = c->versions[r->key] = ++c->last_versions[r->key];
		add_set(c, c->id, r->key, c->versions[r->key]);
		break;
	case SHARED_SET:
		add_set(c, SHARED, r->key, ++c->shared_version);
		break;
	case DELETE:
		r->wanted = c->versions[r->key];
		c->versions[r->key] = 0;
		add_line(c, "delete %s\r\n", key_name(c->options, c->id, "k", r->key, name));
		break;
	case INCR:
		r->key %= COUNTER_CNT;
		r->wanted = c->counters[r->key] += r->key + 1;
		add_line(c, "incr %s %u\r\n", key_name(c->options, c->id, "n", r->key, name),
			 r->key + 1);
		break;
	case SHARED_INCR:
		c->shared_added += 1 + r->key;
		add_line(c, "incr %s %u\r\n", key_name(c->options, SHARED, "n", 0, name),
			 1 + r->key);
		break;
	case KIND_CNT:
		break;
	}
}

static bool check_line(struct client *c, const char *wanted)
{
	const char *line = read_line(c);

	if (!line)
		return false;
	return strcmp(line, wanted) == 0 || wrong(c, "'%s' instead of '%s'", line, wanted);
}

/* "VALUE name FLAGS LENGTH", the value, "END".  got must hold VALUE_MAX bytes; gets a 0 behind. */
static bool read_value(struct client *c, const char *name, char *got, size_t *ret_len,
		       unsigned *ret_flags)
{
	const char *line = read_line(c);
	char head[64];
	int head_len = snprintf(head, sizeof(head), "VALUE %s ", name), rest_len = 0;

	if (!line)
		return false;
	if (strncmp(line, head, (size_t)head_len) != 0 ||
	    sscanf(line + head_len, "%u %zu%n", ret_flags, ret_len, &rest_len) != 2 ||
	    line[head_len + rest_len] || *ret_len >= VALUE_MAX)
		return wrong(c, "get %s: '%s'", name, line);

	const char *value = read_bytes(c, *ret_len + 2);

	if (!value)
		return false;
	if (memcmp(value + *ret_len, "\r\n", 2) != 0)
		return wrong(c, "get %s: no line end after the value", name);
	memcpy(got, value, *ret_len);
	got[*ret_len] = '\0';
	return check_line(c, "END");
}

static bool check_get(struct client *c, const struct request *r)
{
	char name[48], got[VALUE_MAX], wanted[VALUE_MAX];
	uint32_t writer = c->id, version = (uint32_t)r->wanted;
	unsigned flags;
	size_t len;

	if (r->kind == GET && version == 0)
		return check_line(c, "END");
	key_name(c->options, r->kind == GET ? c->id : SHARED, "k", r->key, name);
	if (!read_value(c, name, got, &len, &flags))
		return false;
	if (r->kind == SHARED_GET && sscanf(got, "%u:%*u:%u:", &writer, &version) != 2)
		return wrong(c, "get %s: value '%.40s'", name, got);
	if (version != flags || make_value(writer, r->key, version, wanted) != len ||
	    memcmp(wanted, got, len) != 0)
		return wrong(c, "get %s: flags %u, '%.40s', not version %u of connection %u", name,
			     flags, got, version, writer);
	return true;
}

static bool check_shared_incr(struct client *c)
{
	const char *line = read_line(c);
	char *end;

	if (!line)
		return false;

	uint64_t value = strtoull(line, &end, 10);

	if (end == line || *end || value <= c->shared_seen)
		return wrong(c, "incr shared: '%s' after %llu", line,
			     (unsigned long long)c->shared_seen);
	c->shared_seen = value;
	return true;
}

static bool check_answer(struct client *c, const struct request *r)
{
	char text[24];

	switch (r->kind) {
	case GET:
	case SHARED_GET:
		return check_get(c, r);
	case SET:
	case SHARED_SET:
		return check_line(c, "STORED");
	case DELETE:
		return check_line(c, r->wanted ? "DELETED" : "NOT_FOUND");
	case INCR:
		snprintf(text, sizeof(text), "%llu", (unsigned long long)r->wanted);
		return check_line(c, text);
	case SHARED_INCR:
		return check_shared_incr(c);
	case KIND_CNT:
		break;
	}
	return false;
}

/* Sends cnt requests in one write, then reads their answers.  After a wrong answer the two sides
 * may be out of step, so that the connection is given up: returns false. */
static bool run_batch(struct client *c, unsigned cnt)
{
	for (unsigned i = 0; i < cnt; i++)
		add_request(c, &c->pending[i]);

	int64_t sent_ns = now_ns();

	if (!send_out(c))
		return false;
	for (unsigned i = 0; i < cnt; i++) {
		if (!check_answer(c, &c->pending[i]))
			return false;
		c->latencies_ns[c->answer_cnt++] = (uint32_t)(now_ns() - sent_ns);
		c->by_kind[c->pending[i].kind]++;
	}
	return true;
}

/* ---- a connection from begin to end ---- */

/* Puts the server into the state that the model begins with. */
static bool prepare(struct client *c)
{
	char name[48];

	for (uint32_t key = 0; key < KEY_CNT; key++) {
		add_line(c, "delete %s\r\n", key_name(c->options, c->id, "k", key, name));
		if (!send_out(c) || !read_line(c))
			return false;
	}
	for (uint32_t key = 0; key < COUNTER_CNT; key++) {
		add_line(c, "set %s 0 0 1\r\n0\r\n", key_name(c->options, c->id, "n", key, name));
		if (!send_out(c) || !check_line(c, "STORED"))
			return false;
	}
	return true;
}

/* Shared values must be there before the first connection asks for them. */
bool client_fill_shared(struct client *c)
{
	char name[48];

	for (uint32_t key = 0; key < KEY_CNT; key++) {
		add_set(c, SHARED, key, ++c->shared_version);
		if (!send_out(c) || !check_line(c, "STORED"))
			return false;
	}
	add_line(c, "set %s 0 0 1\r\n0\r\n", key_name(c->options, SHARED, "n", 0, name));
	return send_out(c) && check_line(c, "STORED");
}

bool client_check_sum(struct client *c, uint64_t wanted)
{
	char name[48], text[100];

	add_line(c, "incr %s 0\r\n", key_name(c->options, SHARED, "n", 0, name));
	snprintf(text, sizeof(text), "%llu", (unsigned long long)wanted);
	return send_out(c) && check_line(c, text);
}

void *client_run(void *arg)
{
	struct client *c = arg;
	int64_t deadline_ns = now_ns() + (int64_t)c->options->limit_seconds * 1000000000;

	while (c->answer_cnt < c->request_cnt) {
		uint64_t left = c->request_cnt - c->answer_cnt;
		unsigned depth = c->options->depth;

		if (now_ns() > deadline_ns) {
			wrong(c, "not done within %u seconds", c->options->limit_seconds);
			break;
		}
		if (!run_batch(c, left < depth ? (unsigned)left : depth))
			break;
	}
	return NULL;
}

bool client_open(struct client *c, const struct options *o, uint32_t id)
{
	c->options = o;
	c->id = id;
	c->random[0] = (unsigned short)(o->seed & 0xffff);
	c->random[1] = (unsigned short)(o->seed >> 16);
	c->random[2] = (unsigned short)(id + 1);
	c->request_cnt = o->requests / o->connections + (id < o->requests % o->connections);
	c->latencies_ns = calloc(c->request_cnt + 1, sizeof(*c->latencies_ns));
	if (!c->latencies_ns)
		return wrong(c, "out of memory");
	return open_connection(c) && prepare(c);
}

void client_close(struct client *c)
{
	if (c->fd > 0)
		close(c->fd);
	free(c->latencies_ns);
}
