/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - wrappers of reads and writes: class io, woken by whoever wrote or made room (flow.h).
 *
 *	T1 read(pipe) waits 10..33, T2 write(pipe) stamps at 30: woken by T2 at 30
 *
 * What got nothing may have been ended by who closed the other end (closing.c).
 */
#include <errno.h>
#include "runtime/flow.h"
#include "runtime/real.h"
#include "runtime/wait.h"

struct stream_wait {
	struct wait wait;
	int fd;
	enum flow_kind kind;
	enum flow_file file;
	uint64_t fed_cnt;		/* before it began */
	bool got_nothing;
};

static struct stream_wait begin(int fd, enum flow_kind kind, enum flow_file file)
{
	struct stream_wait w = { .fd = fd, .kind = kind, .file = file };

	if (!vprof_self.gate)
		return w;
	/* Who reads makes room for who writes, and the other way round. */
	flow_stamp(fd, kind == FLOW_DATA ? FLOW_ROOM : FLOW_DATA, file);
	w.fed_cnt = flow_fed_cnt();
	w.wait = wait_begin_call(WAIT_IO, flow_waiters(kind));
	w.wait.object = 0;
	return w;
}

/* It was preempted for a while in a call that does not block. */
static bool blocks_not(int fd)
{
	int saved_errno = errno, flags = real.fcntl ? real.fcntl(fd, F_GETFL, 0) : 0;

	errno = saved_errno;
	return flags >= 0 && flags & O_NONBLOCK;
}

static void end(struct stream_wait *w)
{
	if (w->wait.timed_out && wait_blocked(&w->wait) && blocks_not(w->fd))
		w->wait.timed_out = false;
	if (wait_blocked(&w->wait) && !w->wait.result && flow_fed_cnt() != w->fed_cnt) {
		w->wait.object = flow_awaited(w->fd, w->kind, w->file);
		if (w->got_nothing && w->kind == FLOW_DATA)
			w->wait.also.name = flow_awaited(w->fd, FLOW_END, w->file);
	}
	wait_end(&w->wait);
}

#define WRAP(type, name, params, args, kind, file)						\
	type vprof_w_##name params								\
	{											\
		struct stream_wait w __attribute__((cleanup(end))) = begin(fd, kind, file);	\
		type r = real.name args;							\
												\
		wait_failed(&w.wait, r < 0);							\
		w.got_nothing = r == 0;								\
		return r;									\
	}

#define X(type, name, params, args) WRAP(type, name, params, args, FLOW_DATA, FLOW_FILE)
READ_WRAPPERS(X)
READ_ALIASES(X)
#undef X
#define X(type, name, params, args) WRAP(type, name, params, args, FLOW_DATA, FLOW_SOCKET)
RECEIVE_WRAPPERS(X)
RECEIVE_ALIASES(X)
#undef X
#define X(type, name, params, args) WRAP(type, name, params, args, FLOW_DATA, FLOW_QUEUE)
MQ_RECEIVE_WRAPPERS(X)
#undef X
#define X(type, name, params, args) WRAP(type, name, params, args, FLOW_ROOM, FLOW_FILE)
WRITE_WRAPPERS(X)
#undef X
#define X(type, name, params, args) WRAP(type, name, params, args, FLOW_ROOM, FLOW_SOCKET)
SEND_WRAPPERS(X)
#undef X
#define X(type, name, params, args) WRAP(type, name, params, args, FLOW_ROOM, FLOW_QUEUE)
MQ_SEND_WRAPPERS(X)
#undef X

int vprof_w_connect(int fd, const struct sockaddr *to, socklen_t to_len)
{
	WAITING wait = wait_begin_call(WAIT_IO, 0);

	flow_note_connect(to, to_len);
	return wait_errno(&wait, real.connect(fd, to, to_len));
}

int vprof_w_socketpair(int domain, int type, int protocol, int ends[2])
{
	int r = real.socketpair(domain, type, protocol, ends);

	if (!r)
		flow_note_pair(ends);
	return r;
}
