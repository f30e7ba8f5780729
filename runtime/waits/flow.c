/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.c - names of what flows through files.
 *
 *	client 127.0.0.1:40000 -> server 127.0.0.1:80: the server's read() asks for what flows from its
 *	peer to itself, hash(40000, 80); the client's write() feeds from itself to its peer, hash(40000, 80)
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include "runtime/rules/permit.h"
#include "runtime/rules/readable.h"
#include "runtime/thread.h"
#include "runtime/causal/causal.h"
#include "runtime/waits/file_lock.h"
#include "runtime/waits/flow.h"
#include "runtime/waits/releasers.h"
#include "runtime/waits/special.h"
#include "runtime/waits/unix_peer.h"
#include "runtime/wrappers/real.h"

REAL_NEEDS(fcntl);

enum {
	PAIRS = 4096,			/* unix sockets that are remembered; a newer one replaces an older one */
	EVENTS = 1024,			/* and eventfds */
	CLOSED_AT_END = 256,		/* files checked when a process ends */
	/* No address is so low, and hardly any lock lies at that offset of a page (runtime/waits/releasers.h). */
	OBJECT_WATCHES = 0xffc, OBJECT_DATA_WAITERS, OBJECT_ROOM_WAITERS, OBJECT_SOCKETS
};

static uint64_t pairs[PAIRS][2];	/* inode, inode of the other end */
static uint64_t events[EVENTS][2];	/* file plus one, number */

static uint64_t mix(uint64_t a, uint64_t b)
{
	return arena_hash(a ^ arena_hash(b + 0x632be59bd9b4e019ULL)) | 1ULL << 63;
}

uint64_t flow_waiters(enum flow_kind kind)
{
	return kind == FLOW_ROOM ? OBJECT_ROOM_WAITERS : OBJECT_DATA_WAITERS;
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
		return mix(AF_INET, in6->sin6_port);	/* may be the same address, mapped */
	if (a->ss_family != AF_UNIX || len <= offsetof(struct sockaddr_un, sun_path))
		return 0;
	for (size_t i = 0; i < len - offsetof(struct sockaddr_un, sun_path) && i < sizeof(un->sun_path) &&
	     (!i || un->sun_path[i]); i++)
		name = mix(name, (unsigned char)un->sun_path[i]);
	return name;
}

/* Looks up a pair in a table without locks: its second number, or 0. */
static uint64_t look_up(uint64_t (*table)[2], size_t size, uint64_t key)
{
	const uint64_t *p = table[arena_hash(key) % size];
	uint64_t value;

	if (__atomic_load_n(&p[0], __ATOMIC_ACQUIRE) != key)
		return 0;
	value = __atomic_load_n(&p[1], __ATOMIC_ACQUIRE);
	return __atomic_load_n(&p[0], __ATOMIC_RELAXED) == key ? value : 0;
}

static void set(uint64_t (*table)[2], size_t size, uint64_t key, uint64_t value)
{
	uint64_t *p = table[arena_hash(key) % size];

	__atomic_store_n(&p[0], 0, __ATOMIC_RELEASE);
	__atomic_store_n(&p[1], value, __ATOMIC_RELEASE);
	__atomic_store_n(&p[0], key, __ATOMIC_RELEASE);
}

static bool is_awaited(uint64_t object)
{
	return __atomic_load_n(releasers_waiters(object), __ATOMIC_RELAXED) != 0;
}

static uint64_t pair_flow(uint64_t inode, uint64_t other, bool from_us)
{
	return mix(from_us ? inode : other, from_us ? other : inode);
}

/* from_us: the flow that we write; else the flow that we read. */
static uint64_t socket_flow(int fd, uint64_t inode, bool from_us)
{
	struct sockaddr_storage own = { .ss_family = 0 }, peer = { .ss_family = 0 };
	socklen_t own_len = sizeof(own), peer_len = sizeof(peer);
	uint64_t other = look_up(pairs, PAIRS, inode), a, b;

	if (other)
		return pair_flow(inode, other, from_us);
	if (!permitted(PERMIT_SOCKNAME) || !permitted(PERMIT_PEERNAME) || getsockname(fd, (struct sockaddr *)&own, &own_len))
		return 0;
	a = address_name(&own, own_len);
	if (getpeername(fd, (struct sockaddr *)&peer, &peer_len))
		return a ? mix(a, OBJECT_SOCKETS) : 0;		/* listens */
	if (own.ss_family == AF_UNIX) {
		other = unix_peer(inode);
		if (other)
			set(pairs, PAIRS, inode, other);
		return other ? pair_flow(inode, other, from_us) : 0;
	}
	b = address_name(&peer, peer_len);
	if (!a || !b)
		return 0;
	return from_us ? mix(a, b) : mix(b, a);
}

/* All eventfds have one inode.  An eventfd that was passed on or dup()ed has no number and is treated as a
 * file of this process. */
static uint64_t event_flow(int fd, const struct stat *st)
{
	uint64_t number = look_up(events, EVENTS, (uint64_t)fd + 1);

	return number ? mix(number, 0) : releasers_private(mix(st->st_dev, (uint64_t)fd));
}

static uint64_t flow_of(int fd, enum flow_file file, bool from_us)
{
	struct stat st;

	if (!permitted(PERMIT_FSTAT) || fstat(fd, &st))
		return 0;
	if (file == FLOW_QUEUE || S_ISFIFO(st.st_mode))
		return mix(st.st_dev, st.st_ino);
	if (S_ISSOCK(st.st_mode))
		return socket_flow(fd, st.st_ino, from_us);
	if (!(st.st_mode & S_IFMT))
		return event_flow(fd, &st);
	if (S_ISREG(st.st_mode) && is_awaited(OBJECT_WATCHES))
		return mix(st.st_dev, st.st_ino);
	return 0;
}

static uint64_t name_of(int fd, enum flow_kind kind, enum flow_file file, bool from_us)
{
	int saved_errno = errno;
	uint64_t flow = flow_of(fd, file, from_us);

	errno = saved_errno;
	return flow ? mix(flow, kind) : 0;
}

static uint64_t special_flow(int fd, enum special special, uint64_t since)
{
	uint64_t best = 0, latest = 0, name, serial, ticks;

	for (unsigned int at = 0; (name = special_awaited(fd, special, &at)); )
		if (releasers_find(name, since, UINT64_MAX, &serial, &ticks) && ticks > latest) {
			latest = ticks;
			best = name;
		}
	return best;
}

uint64_t flow_awaited(int fd, enum flow_kind kind, enum flow_file file, uint64_t since)
{
	int saved_errno = errno;
	struct stat st;
	bool is_nameless = kind == FLOW_DATA && file == FLOW_FILE && permitted(PERMIT_FSTAT) && !fstat(fd, &st) &&
			   !(st.st_mode & S_IFMT);
	enum special special = is_nameless ? special_of(fd) : SPECIAL_NONE;

	errno = saved_errno;
	if (special != SPECIAL_NONE)
		return special_flow(fd, special, since);
	return name_of(fd, kind, file, kind == FLOW_ROOM);
}

uint64_t flow_fed_cnt(void)
{
	return process.waiters ? __atomic_load_n(&process.arena->control->fed_cnt, __ATOMIC_ACQUIRE) : 0;
}

/* Counted after the stamp, and before its reason: see releasers_written(). */
static void leave_stamp(uint64_t object)
{
	if (causal_on)
		causal_settle();
	releasers_leave_stamp(object, EVENT_NONE);
	__atomic_fetch_add(&process.arena->control->fed_cnt, 1, __ATOMIC_RELEASE);
}

void flow_stamp(int fd, enum flow_kind kind, enum flow_file file)
{
	uint64_t object;

	if (!vprof_self.gate || !process.waiters || !is_awaited(flow_waiters(kind)) ||
	    (file == FLOW_SOCKET && !is_awaited(OBJECT_SOCKETS)))
		return;
	object = name_of(fd, kind, file, kind == FLOW_DATA);
	if (object)
		leave_stamp(object);
}

void flow_stamp_object(uint64_t object)
{
	if (vprof_self.gate && process.waiters && is_awaited(OBJECT_DATA_WAITERS))
		leave_stamp(object);
}

void flow_stamp_change(int fd)
{
	if (vprof_self.gate && process.waiters && is_awaited(OBJECT_WATCHES))
		flow_stamp(fd, FLOW_DATA, FLOW_FILE);
}

void flow_note_watch(int fd, const struct stat *watched)
{
	special_note_watch(fd, mix(mix(watched->st_dev, watched->st_ino), FLOW_DATA));
	if (!is_awaited(OBJECT_WATCHES))
		releasers_expect(OBJECT_WATCHES);
}

static void note_sockets(void)
{
	if (!is_awaited(OBJECT_SOCKETS))
		releasers_expect(OBJECT_SOCKETS);
}

/* The reading end of a pipe cannot be written, so a closed one has no reader to wake; sockets go both ways. */
static bool may_write(int fd)
{
	int saved_errno = errno, flags = permitted(PERMIT_FCNTL) ? real.fcntl(fd, F_GETFL, 0) : -1;

	errno = saved_errno;
	return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

bool flow_is_for_reading(int fd)
{
	return !may_write(fd);
}

bool flow_is_on_disk(int fd)
{
	int saved_errno = errno;
	struct stat st;
	bool is = permitted(PERMIT_FSTAT) && !fstat(fd, &st) && (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode));

	errno = saved_errno;
	return is;
}

static bool somebody_reads(void)
{
	return vprof_self.gate && process.waiters && is_awaited(flow_waiters(FLOW_DATA));
}

void flow_stamp_end(int fd)
{
	uint64_t object;

	file_lock_closed(fd);
	if (!somebody_reads() || !may_write(fd))
		return;
	object = name_of(fd, FLOW_END, FLOW_FILE, true);
	if (object)
		leave_stamp(object);
}

void flow_stamp_all_ends(void)
{
	file_lock_all_closed();
	for (int fd = 0; fd < CLOSED_AT_END && somebody_reads(); fd++)
		flow_stamp_end(fd);
}

void flow_note_event(int fd)
{
	if (vprof_self.gate && process.waiters)
		set(events, EVENTS, (uint64_t)fd + 1,
		    mix(process_new_serial(), (uint64_t)process.pid << 32 | (uint32_t)fd));
}

void flow_forget_event(int fd)
{
	uint64_t *p = events[arena_hash((uint64_t)fd + 1) % EVENTS];

	if (__atomic_load_n(&p[0], __ATOMIC_RELAXED) == (uint64_t)fd + 1)
		__atomic_store_n(&p[0], 0, __ATOMIC_RELEASE);
}

void flow_note_pair(const int ends[2])
{
	struct stat a, b;

	if (!vprof_self.gate || !process.waiters || !permitted(PERMIT_FSTAT) || fstat(ends[0], &a) || fstat(ends[1], &b))
		return;
	set(pairs, PAIRS, a.st_ino, b.st_ino);
	set(pairs, PAIRS, b.st_ino, a.st_ino);
	note_sockets();
}

/* Wakes the thread that waits in accept(). */
void flow_note_connect(const void *to, unsigned int to_len)
{
	struct sockaddr_storage address = { .ss_family = 0 };
	uint64_t name;

	if (!vprof_self.gate || !process.waiters || to_len > sizeof(address) ||
	    !readable(to, to_len))
		return;
	memcpy(&address, to, to_len);
	name = address_name(&address, to_len);
	if (!name)
		return;
	note_sockets();
	if (is_awaited(OBJECT_DATA_WAITERS))
		leave_stamp(mix(mix(name, OBJECT_SOCKETS), FLOW_DATA));
}
