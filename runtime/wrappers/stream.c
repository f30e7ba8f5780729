/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - wrappers of reads and writes.
 *
 *	T1 read(pipe) waits 10..33, T2 write(pipe) stamps at 30: woken by T2 at 30
 *
 * A read without data may have been ended by the thread that closed the other end (close.c).  Data from a
 * signalfd names the sender of the signal, and a timerfd needs no waker.
 */
#include <errno.h>
#include "runtime/rules/permit.h"
#include "runtime/waits/outside.h"
#include "runtime/waits/signals.h"
#include "runtime/waits/special.h"
#include "runtime/waits/until.h"
#include "runtime/wrappers/real.h"
#include "runtime/wrappers/stream.h"

REAL_NEEDS(fcntl);

enum { COUNTER_BYTES = 8 };		/* a read from an eventfd or a timerfd */

struct stream_wait stream_begin_from(uint64_t caller, int fd, enum flow_kind kind, enum flow_file file)
{
	struct stream_wait w = { .fd = fd, .to = -1, .kind = kind, .file = file };

	if (!vprof_self.gate)
		return w;
	/* A reader makes room for writers, and the other way round. */
	flow_stamp(fd, kind == FLOW_DATA ? FLOW_ROOM : FLOW_DATA, file);
	w.fed_cnt = flow_fed_cnt();
	w.wait = wait_begin_call_from(caller, WAIT_IO, causal_on && flow_is_on_disk(fd) ? 0 : flow_waiters(kind));
	w.wait.object = 0;
	return w;
}

/* Calls for this file do not wait; those for a file on disk wait for that whatever is set. */
static bool is_nonblocking(int fd)
{
	int saved_errno = errno, flags = permitted(PERMIT_FCNTL) ? real.fcntl(fd, F_GETFL, 0) : -1;

	errno = saved_errno;
	return flags >= 0 && flags & O_NONBLOCK && !flow_is_on_disk(fd);
}

static bool could_wait(const struct stream_wait *w)
{
	return w->copies || !(w->at_once || is_nonblocking(w->fd));
}

static void find_object(struct stream_wait *w)
{
	w->wait.object = flow_awaited(w->fd, w->kind, w->file, w->wait.start);
	if (!w->wait.object && w->to >= 0)
		w->wait.object = flow_awaited(w->to, FLOW_ROOM, FLOW_FILE, w->wait.start);
	if (w->got == 0 && w->kind == FLOW_DATA)
		w->wait.also.name = flow_awaited(w->fd, FLOW_END, w->file, w->wait.start);
}

/* The data itself may name the waker. */
static void look_at_data(struct stream_wait *w)
{
	if (signals_are_in(w->data, w->got) && special_of(w->fd) == SPECIAL_SIGNALS)
		signals_note(&w->wait, w->data);
	else if (w->got == COUNTER_BYTES && special_of(w->fd) == SPECIAL_TIMER)
		w->wait.timed_out = true;
}

void stream_end(struct stream_wait *w)
{
	bool blocked = wait_blocked(&w->wait);

	if (blocked && !could_wait(w)) {
		wait_could_not(&w->wait);
		blocked = false;
	}
	if (blocked && vprof_self.gate == GATE_INSIDE) {
		w->wait.files = &w->fd;
		w->wait.file_cnt = 1;
	}
	if (blocked && !w->wait.result) {
		if (flow_fed_cnt() != w->fed_cnt)
			find_object(w);
		if (w->kind == FLOW_DATA && w->file == FLOW_FILE)
			look_at_data(w);
	}
	wait_end(&w->wait);
}

/* Notes what a successful call shows about its socket. */
#define AFTER_recv(r)
#define AFTER___recv_chk(r)
#define AFTER_accept(r)
#define AFTER_accept4(r)
#define AFTER_send(r)
#define AFTER_recvfrom(r) if (r >= 0) outside_note_received(fd, from)
#define AFTER___recvfrom_chk(r) AFTER_recvfrom(r)
#define AFTER_recvmsg(r) if (r >= 0) outside_note_received(fd, message->msg_name)
#define AFTER_recvmmsg(r) if (r > 0) outside_note_received(fd, messages[0].msg_hdr.msg_name)
#define AFTER_sendto(r) if (r >= 0) outside_note_sent(fd, to, to_len)
#define AFTER_sendmsg(r) if (r >= 0) outside_note_sent(fd, message->msg_name, message->msg_namelen)
#define AFTER_sendmmsg(r) if (r > 0) outside_note_sent(fd, messages[0].msg_hdr.msg_name, messages[0].msg_hdr.msg_namelen)

/* Whether its flags say that it does not wait. */
#define IS_AT_ONCE_recv (flags & MSG_DONTWAIT)
#define IS_AT_ONCE___recv_chk IS_AT_ONCE_recv
#define IS_AT_ONCE_accept false
#define IS_AT_ONCE_accept4 false
#define IS_AT_ONCE_send IS_AT_ONCE_recv
#define IS_AT_ONCE_recvfrom IS_AT_ONCE_recv
#define IS_AT_ONCE___recvfrom_chk IS_AT_ONCE_recv
#define IS_AT_ONCE_recvmsg IS_AT_ONCE_recv
#define IS_AT_ONCE_recvmmsg IS_AT_ONCE_recv
#define IS_AT_ONCE_sendto IS_AT_ONCE_recv
#define IS_AT_ONCE_sendmsg IS_AT_ONCE_recv
#define IS_AT_ONCE_sendmmsg IS_AT_ONCE_recv

#define STREAM(name) struct stream_wait name __attribute__((cleanup(stream_end)))
#define WRAP(type, name, params, args, kind, file, data)					\
	type vprof_w_##name params								\
	{											\
		STREAM(w) = stream_begin(fd, kind, file);					\
		return (type)stream_got(&w, real.name args, data);				\
	}

#define X(type, name, params, args) WRAP(type, name, params, args, FLOW_DATA, FLOW_FILE, data)
READ_DATA_WRAPPERS(X)
READ_ALIASES(X)
#undef X
#define X(type, name, params, args) WRAP(type, name, params, args, FLOW_DATA, FLOW_FILE, NULL)
READ_WRAPPERS(X)
READ_PARTS_ALIASES(X)
#undef X
#define WRAP_SOCKET(type, name, params, args, kind)						\
	type vprof_w_##name params								\
	{											\
		STREAM(w) = stream_begin(fd, kind, FLOW_SOCKET);				\
		ssize_t r = stream_got(&w, real.name args, NULL);				\
												\
		w.at_once = IS_AT_ONCE_##name;							\
												\
		AFTER_##name(r);								\
		return (type)r;									\
	}
#define X(type, name, params, args) WRAP_SOCKET(type, name, params, args, FLOW_DATA)
RECEIVE_WRAPPERS(X)
RECEIVE_ALIASES(X)
#undef X
/* The timed ones have a deadline. */
#define MOVE_mq_receive
#define MOVE_mq_timedreceive until = until_real(&u, until, &w.wait);
#define MOVE_mq_send
#define MOVE_mq_timedsend MOVE_mq_timedreceive
#define WRAP_QUEUE(type, name, params, args, kind)						\
	type vprof_w_##name params								\
	{											\
		UNTIL u = { .of = NULL };							\
		STREAM(w) = stream_begin(fd, kind, FLOW_QUEUE);					\
		MOVE_##name									\
		return (type)stream_got(&w, real.name args, NULL);				\
	}
#define X(type, name, params, args) WRAP_QUEUE(type, name, params, args, FLOW_DATA)
MQ_RECEIVE_WRAPPERS(X)
#undef X
#define X(type, name, params, args) WRAP(type, name, params, args, FLOW_ROOM, FLOW_FILE, NULL)
WRITE_WRAPPERS(X)
WRITE_PARTS_ALIASES(X)
#undef X
#define X(type, name, params, args) WRAP_SOCKET(type, name, params, args, FLOW_ROOM)
SEND_WRAPPERS(X)
#undef X
#define X(type, name, params, args) WRAP_QUEUE(type, name, params, args, FLOW_ROOM)
MQ_SEND_WRAPPERS(X)
#undef X

int vprof_w_listen(int fd, int backlog)
{
	int r = real.listen(fd, backlog);

	if (!r)
		outside_note_listen(fd);
	return r;
}

int vprof_w_connect(int fd, const struct sockaddr *to, socklen_t to_len)
{
	WAITING wait = wait_begin_call(WAIT_IO, 0);
	int r;

	flow_note_connect(to, to_len);
	wait.files = &fd;
	wait.file_cnt = 1;
	r = wait_errno(&wait, real.connect(fd, to, to_len));
	if (wait_blocked(&wait) && is_nonblocking(fd))
		wait_could_not(&wait);
	if (!r || errno == EINPROGRESS)
		outside_note_connect(fd);
	return r;
}

int vprof_w_socketpair(int domain, int type, int protocol, int ends[2])
{
	int r = real.socketpair(domain, type, protocol, ends);

	if (!r)
		flow_note_pair(ends);
	return r;
}
