/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.c - names of what flows through files.
 *
 *	client 127.0.0.1:40000 -> server 127.0.0.1:80: the server's read() asks for what flows from its
 *	peer to itself, hash(40000, 80); the client's write() feeds from itself to its peer, hash(40000, 80)
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include "runtime/flow.h"
#include "runtime/readable.h"
#include "runtime/releasers.h"
#include "runtime/thread.h"

enum {
	PAIRS = 1024,			/* socketpairs remembered; a newer one takes an older one's place */
	OBJECT_DATA_WAITERS = 1, OBJECT_ROOM_WAITERS, OBJECT_SOCKETS	/* no address is so low */
};

static uint64_t pairs[PAIRS][2];	/* inode, inode of the other end */

static uint64_t mix(uint64_t a, uint64_t b)
{
	return arena_hash(a ^ arena_hash(b + 0x632be59bd9b4e019ULL)) | 1ULL << 63;
}

uint64_t flow_waiters(enum flow_kind kind)
{
	return kind == FLOW_DATA ? OBJECT_DATA_WAITERS : OBJECT_ROOM_WAITERS;
}

static uint64_t address_name(const struct sockaddr_storage *a, socklen_t len)
{
	const struct sockaddr_in *in = (const void *)a;
	const struct sockaddr_in6 *in6 = (const void *)a;
	const struct sockaddr_un *un = (const void *)a;
	uint64_t name = 0;

	if (a->ss_family == AF_INET)
		return mix(AF_INET, in->sin_port);
	if (a->ss_family == AF_INET6)
		return mix(AF_INET, in6->sin6_port);	/* may be the same, mapped */
	if (a->ss_family != AF_UNIX || len <= offsetof(struct sockaddr_un, sun_path))
		return 0;
	for (size_t i = 0; i < len - offsetof(struct sockaddr_un, sun_path) && i < sizeof(un->sun_path) &&
	     (!i || un->sun_path[i]); i++)
		name = mix(name, (unsigned char)un->sun_path[i]);
	return name;
}

static uint64_t other_end(uint64_t inode)
{
	const uint64_t *p = pairs[arena_hash(inode) % PAIRS];

	return __atomic_load_n(&p[0], __ATOMIC_ACQUIRE) == inode ?
	       __atomic_load_n(&p[1], __ATOMIC_RELAXED) : 0;
}

/* from_us: what we write; else what we read. */
static uint64_t socket_flow(int fd, uint64_t inode, bool from_us)
{
	struct sockaddr_storage own = { .ss_family = 0 }, peer = { .ss_family = 0 };
	socklen_t own_len = sizeof(own), peer_len = sizeof(peer);
	uint64_t other = other_end(inode), a, b;

	if (other)
		return mix(from_us ? inode : other, from_us ? other : inode);
	if (getsockname(fd, (struct sockaddr *)&own, &own_len))
		return 0;
	a = address_name(&own, own_len);
	if (getpeername(fd, (struct sockaddr *)&peer, &peer_len))
		return a ? mix(a, OBJECT_SOCKETS) : 0;		/* listens */
	b = address_name(&peer, peer_len);
	if (!a || !b || own.ss_family == AF_UNIX)
		return 0;
	return from_us ? mix(a, b) : mix(b, a);
}

static uint64_t flow_of(int fd, enum flow_file file, bool from_us)
{
	struct stat st;

	if (fstat(fd, &st))
		return 0;
	if (file == FLOW_QUEUE || S_ISFIFO(st.st_mode))
		return mix(st.st_dev, st.st_ino);
	if (S_ISSOCK(st.st_mode))
		return socket_flow(fd, st.st_ino, from_us);
	if (!(st.st_mode & S_IFMT))		/* eventfd and the like: one inode for all */
		return releasers_private(mix(st.st_dev, (uint64_t)fd));
	return 0;
}

static uint64_t name_of(int fd, enum flow_kind kind, enum flow_file file, bool from_us)
{
	int saved_errno = errno;
	uint64_t flow = flow_of(fd, file, from_us);

	errno = saved_errno;
	return flow ? mix(flow, kind) : 0;
}

uint64_t flow_awaited(int fd, enum flow_kind kind, enum flow_file file)
{
	return name_of(fd, kind, file, kind == FLOW_ROOM);
}

static bool is_awaited(uint64_t object)
{
	return __atomic_load_n(releasers_waiters(object), __ATOMIC_RELAXED) != 0;
}

void flow_stamp(int fd, enum flow_kind kind, enum flow_file file)
{
	uint64_t object;

	if (!vprof_self.gate || !process.arena.base || !is_awaited(flow_waiters(kind)) ||
	    (file == FLOW_SOCKET && !is_awaited(OBJECT_SOCKETS)))
		return;
	object = name_of(fd, kind, file, kind == FLOW_DATA);
	if (object)
		releasers_leave_stamp(object, false);
}

static void note_sockets(void)
{
	if (!is_awaited(OBJECT_SOCKETS))
		releasers_expect(OBJECT_SOCKETS);
}

static void set_pair(uint64_t inode, uint64_t other)
{
	uint64_t *p = pairs[arena_hash(inode) % PAIRS];

	__atomic_store_n(&p[0], 0, __ATOMIC_RELEASE);
	__atomic_store_n(&p[1], other, __ATOMIC_RELEASE);
	__atomic_store_n(&p[0], inode, __ATOMIC_RELEASE);
}

void flow_note_pair(const int ends[2])
{
	struct stat a, b;

	if (!vprof_self.gate || !process.arena.base || fstat(ends[0], &a) || fstat(ends[1], &b))
		return;
	set_pair(a.st_ino, b.st_ino);
	set_pair(b.st_ino, a.st_ino);
	note_sockets();
}

/* Whoever waits in accept() is woken by this. */
void flow_note_connect(const void *to, unsigned int to_len)
{
	struct sockaddr_storage address = { .ss_family = 0 };
	uint64_t name;

	if (!vprof_self.gate || !process.arena.base || to_len > sizeof(address) ||
	    !readable(to, to_len))
		return;
	memcpy(&address, to, to_len);
	name = address_name(&address, to_len);
	if (!name)
		return;
	note_sockets();
	if (is_awaited(OBJECT_DATA_WAITERS))
		releasers_leave_stamp(mix(mix(name, OBJECT_SOCKETS), FLOW_DATA), false);
}
