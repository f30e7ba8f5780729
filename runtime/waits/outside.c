/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside.c - addresses as labels.
 *
 * A table remembers the labels of addresses, each in one word that is written at once: 17 bits for the label, the rest of the
 * address' hash.  An address for which the table has no room stays unknown, so that a program that connects to everybody leaves room for
 * other labels.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "runtime/rules/permit.h"
#include "runtime/thread.h"
#include "runtime/waits/outside.h"

enum {
	PEERS = 1024, STEPS = 8,
	DATAGRAM_FILES = 4096,
	FOR_CLIENTS = 1, FOR_SEVERAL = 2,
	LABEL_BITS = 17,
	PORTS = 1 << 16, PORT_OF_CONNECT = 32768,	/* as Linux has it: from here on connect() takes ports */
	NAME_BYTES = sizeof(struct sockaddr_un) + 64
};
#define LABEL_MASK ((1ULL << LABEL_BITS) - 1)
_Static_assert(ARENA_LABELS <= 1 << LABEL_BITS, "a label's number has room");

struct name {
	char text[NAME_BYTES];
	size_t len;
	uint32_t label;			/* if it has one already; 0: it is not known */
};

struct address {			/* one end of a connection */
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
		struct sockaddr_storage storage;
	} at;
	socklen_t len;
};

static uint64_t peers[PEERS];
static uint64_t datagrams[DATAGRAM_FILES];	/* by descriptor: 0, one of the two below, or as in peers */
static unsigned char listens[PORTS / 8], connects[PORTS / 8];

/* ---- text, without the C library's ---- */

static void add(struct name *n, const char *text, size_t len)
{
	if (len >= NAME_BYTES - n->len)
		len = NAME_BYTES - 1 - n->len;
	memcpy(n->text + n->len, text, len);
	n->len += len;
	n->text[n->len] = '\0';
}

static void add_number(struct name *n, unsigned int value, unsigned int base)
{
	if (value >= base)
		add_number(n, value / base, base);
	add(n, &"0123456789abcdef"[value % base], 1);
}

static void add_v4(struct name *n, const unsigned char *bytes)
{
	for (int i = 0; i < 4; i++) {
		if (i)
			add(n, ".", 1);
		add_number(n, bytes[i], 10);
	}
}

static unsigned int group(const struct in6_addr *a, int i)
{
	return (unsigned int)a->s6_addr[2 * i] << 8 | a->s6_addr[2 * i + 1];
}

/* The first of the longest runs of two groups or more that are 0 is "::" (RFC 5952). */
static void add_v6(struct name *n, const struct in6_addr *a)
{
	int best = 8, best_cnt = 1;

	for (int i = 0, cnt = 0; i < 8; i++) {
		cnt = group(a, i) ? 0 : cnt + 1;
		if (cnt > best_cnt) {
			best_cnt = cnt;
			best = i - cnt + 1;
		}
	}
	add(n, "[", 1);
	for (int i = 0; i < 8; i++) {
		if (i == best) {
			add(n, "::", 2);
			i += best_cnt - 1;
			continue;
		}
		if (i && i != best + best_cnt)
			add(n, ":", 1);
		add_number(n, group(a, i), 16);
	}
	add(n, "]", 1);
}

static unsigned int port_of(const struct address *a)
{
	return ntohs(a->at.any.sa_family == AF_INET ? a->at.in.sin_port : a->at.in6.sin6_port);
}

/* Adds the path of a unix socket; false: it has none. */
static bool add_path(struct name *n, const struct address *a)
{
	size_t head = offsetof(struct sockaddr_un, sun_path), len;

	if (a->at.any.sa_family != AF_UNIX || a->len <= head || a->len > sizeof(a->at.un))
		return false;
	len = a->len - head;
	if (a->at.un.sun_path[0]) {
		add(n, a->at.un.sun_path, strnlen(a->at.un.sun_path, len));
	} else {
		add(n, "@", 1);
		add(n, a->at.un.sun_path + 1, strnlen(a->at.un.sun_path + 1, len - 1));
	}
	return true;
}

static void add_address(struct name *n, const struct address *a)
{
	if (a->at.any.sa_family == AF_INET)
		add_v4(n, (const unsigned char *)&a->at.in.sin_addr);
	else if (IN6_IS_ADDR_V4MAPPED(&a->at.in6.sin6_addr))
		add_v4(n, a->at.in6.sin6_addr.s6_addr + 12);
	else
		add_v6(n, &a->at.in6.sin6_addr);
	add(n, ":", 1);
	add_number(n, port_of(a), 10);
}

/* ---- which end is whose ---- */

static bool ask(int fd, struct address *ret, bool other_end)
{
	memset(ret, 0, sizeof(*ret));
	ret->len = sizeof(ret->at);
	return !(other_end ? getpeername(fd, &ret->at.any, &ret->len) : getsockname(fd, &ret->at.any, &ret->len));
}

static bool is_internet(const struct address *a)
{
	return a->at.any.sa_family == AF_INET || a->at.any.sa_family == AF_INET6;
}

static bool has_port(const unsigned char *set, unsigned int port)
{
	return __atomic_load_n(&set[port / 8], __ATOMIC_RELAXED) >> port % 8 & 1;
}

static void move_port(int fd, unsigned char *to, unsigned char *from)
{
	int saved_errno = errno;
	struct address own;

	if (permitted(PERMIT_SOCKNAME) && ask(fd, &own, false) && is_internet(&own)) {
		unsigned int port = port_of(&own);

		__atomic_fetch_or(&to[port / 8], (unsigned char)(1 << port % 8), __ATOMIC_RELAXED);
		__atomic_fetch_and(&from[port / 8], (unsigned char)~(1 << port % 8), __ATOMIC_RELAXED);
	}
	errno = saved_errno;
}

void outside_note_listen(int fd)
{
	move_port(fd, listens, connects);
}

void outside_note_connect(int fd)
{
	move_port(fd, connects, listens);
}

static bool is_accepted(const struct address *own, const struct address *other)
{
	unsigned int port = port_of(own);

	if (has_port(connects, port))
		return false;
	return has_port(listens, port) || (port < PORT_OF_CONNECT && port_of(other) >= PORT_OF_CONNECT);
}

enum side { SIDE_UNKNOWN, SIDE_CLIENTS, SIDE_CONNECTED };

static enum side name_clients(const struct address *own, struct name *n)
{
	add(n, "clients of port ", 16);
	add_number(n, port_of(own), 10);
	return SIDE_CLIENTS;
}

/* It has no other end: it listens, or is for datagrams. */
static enum side name_open(int fd, const struct address *own, struct name *n)
{
	uint64_t noted = fd >= 0 && fd < DATAGRAM_FILES ? __atomic_load_n(&datagrams[fd], __ATOMIC_RELAXED) : 0;

	if (noted == FOR_CLIENTS || (!noted && has_port(listens, port_of(own))))
		return name_clients(own, n);
	if (!noted || noted == FOR_SEVERAL)
		return SIDE_UNKNOWN;
	n->label = (uint32_t)(noted & LABEL_MASK);
	return SIDE_CONNECTED;
}

static enum side name_internet(int fd, const struct address *own, struct name *n)
{
	struct address other;

	if (!ask(fd, &other, true))
		return name_open(fd, own, n);
	if (is_accepted(own, &other))
		return name_clients(own, n);
	add_address(n, &other);
	return SIDE_CONNECTED;
}

static enum side name_unix(int fd, const struct address *own, struct name *n)
{
	struct address other;
	struct name path = { .len = 0 };

	if (add_path(&path, own)) {
		add(n, "clients of ", 11);
		add(n, path.text, path.len);
		return SIDE_CLIENTS;
	}
	return ask(fd, &other, true) && add_path(n, &other) ? SIDE_CONNECTED : SIDE_UNKNOWN;
}

static enum side name_of(int fd, struct name *n)
{
	struct address own;

	if (!ask(fd, &own, false))
		return SIDE_UNKNOWN;
	if (is_internet(&own))
		return name_internet(fd, &own, n);
	return own.at.any.sa_family == AF_UNIX ? name_unix(fd, &own, n) : SIDE_UNKNOWN;
}

/* ---- labels ---- */

static uint64_t hash_of(const void *data, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325ULL ^ (uint64_t)process.epoch << 32;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ ((const unsigned char *)data)[i]) * 0x100000001b3ULL;
	return arena_hash(hash) | 1ULL << 63;
}

/* 0: there is no room. */
static uint32_t label_of(const struct name *n)
{
	uint64_t hash = hash_of(n->text, n->len), mask = LABEL_MASK;

	if (n->label)
		return n->label;
	for (unsigned int step = 0; step < STEPS; step++) {
		uint64_t *place = &peers[((hash >> LABEL_BITS) + step) % PEERS], taken = __atomic_load_n(place, __ATOMIC_RELAXED);
		uint32_t label;

		if (taken && (taken | mask) != (hash | mask))
			continue;
		if (taken)
			return (uint32_t)(taken & mask);
		label = arena_label(process.arena, n->text);
		if (!label || __atomic_compare_exchange_n(place, &taken, (hash & ~mask) | label, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return label;
		step--;			/* another thread took it: perhaps for the same */
	}
	return 0;
}

/* ---- datagrams ---- */

static size_t bytes_of(const struct sockaddr *a)
{
	return a->sa_family == AF_INET ? sizeof(struct sockaddr_in) : a->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : 0;
}

void outside_note_sent(int fd, const struct sockaddr *to, unsigned int len)
{
	int saved_errno = errno;
	size_t bytes = to && fd >= 0 && fd < DATAGRAM_FILES && vprof_self.gate && len >= sizeof(to->sa_family) ? bytes_of(to) : 0;
	struct name n = { .len = 0 };
	struct address a = { .len = 0 };
	uint64_t noted, hash, label;

	if (!bytes || len < bytes)
		return;
	noted = __atomic_load_n(&datagrams[fd], __ATOMIC_RELAXED);
	memcpy(&a.at, to, bytes);
	hash = hash_of(&a.at, bytes) & ~LABEL_MASK;
	if (noted == FOR_CLIENTS || noted == FOR_SEVERAL || (noted & ~LABEL_MASK) == hash)
		return;
	add(&n, TRACE_OUTSIDE_LABEL, sizeof(TRACE_OUTSIDE_LABEL) - 1);
	add_address(&n, &a);
	label = noted ? 0 : label_of(&n);
	__atomic_store_n(&datagrams[fd], label ? hash | label : FOR_SEVERAL, __ATOMIC_RELAXED);
	errno = saved_errno;
}

void outside_note_received(int fd, const struct sockaddr *from)
{
	if (from && fd >= 0 && fd < DATAGRAM_FILES && !__atomic_load_n(&datagrams[fd], __ATOMIC_RELAXED) && bytes_of(from))
		__atomic_store_n(&datagrams[fd], FOR_CLIENTS, __ATOMIC_RELAXED);
}

void outside_forget(int fd)
{
	if (fd >= 0 && fd < DATAGRAM_FILES && __atomic_load_n(&datagrams[fd], __ATOMIC_RELAXED))
		__atomic_store_n(&datagrams[fd], 0, __ATOMIC_RELAXED);
}

uint64_t outside_waker(const int *files, unsigned int cnt)
{
	enum side best = SIDE_UNKNOWN;
	uint32_t found = 0;
	int saved_errno = errno;

	if (cnt > OUTSIDE_FILES || !permitted(PERMIT_SOCKNAME) || !permitted(PERMIT_PEERNAME))
		return 0;
	for (unsigned int i = 0; i < cnt; i++) {
		struct name n = { .len = 0 };
		enum side side;
		uint32_t label;

		add(&n, TRACE_OUTSIDE_LABEL, sizeof(TRACE_OUTSIDE_LABEL) - 1);
		side = name_of(files[i], &n);
		if (side == SIDE_UNKNOWN) {
			found = 0;
			break;
		}
		if (side < best)
			continue;
		label = label_of(&n);
		found = side > best || found == label ? label : 0;
		best = side;
	}
	errno = saved_errno;
	return found ? waker_outside(found) : 0;
}
