/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_call.c - which system calls that a program makes itself wait, and which threads they wake.
 *
 * They equal the C library's functions of the same names except for cancellation, so they use those wrappers'
 * parts, not the wrappers.
 */
#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include "runtime/rules/readable.h"
#include "runtime/waits/signals.h"
#include "runtime/wrappers/own_call.h"
#include "runtime/wrappers/poll.h"
#include "runtime/wrappers/real.h"
#include "runtime/wrappers/stream.h"

REAL_NEEDS(syscall);

enum { GETEVENTS = 1 };			/* linux/io_uring.h is not everywhere */
enum { CALL_CLONE3 = 435, CLONE3_BYTES = 64, CLONE3_STACK = 5 };

#define READS(X)	X(read) X(readv) X(recvfrom) X(recvmsg) X(accept) X(accept4)
#define WRITES(X)	X(write) X(writev) X(sendto) X(sendmsg)

enum kind { KIND_NONE, KIND_FUTEX, KIND_READ, KIND_WRITE, KIND_SLEEP, KIND_POLL, KIND_SELECT, KIND_EPOLL, KIND_RING, KIND_KILL, KIND_RULES };

static enum kind kind_of(long number)
{
	switch (number) {
#define X(name) case SYS_##name:
	READS(X)
		return KIND_READ;
	WRITES(X)
		return KIND_WRITE;
#undef X
#ifdef SYS_poll
	case SYS_poll:
#endif
	case SYS_ppoll:
		return KIND_POLL;
#ifdef SYS_select
	case SYS_select:
#endif
	case SYS_pselect6:
		return KIND_SELECT;
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
	case SYS_epoll_pwait:
#ifdef SYS_epoll_pwait2
	case SYS_epoll_pwait2:
#endif
		return KIND_EPOLL;
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
		return KIND_SLEEP;
#ifdef SYS_io_uring_enter
	case SYS_io_uring_enter:
		return KIND_RING;
#endif
	case SYS_prctl:
	case SYS_seccomp:
		return KIND_RULES;
	case SYS_kill:
	case SYS_tgkill:
	case SYS_rt_sigqueueinfo:
		return KIND_KILL;
	default:
		return futex_counts(number) ? KIND_FUTEX : KIND_NONE;
	}
}

bool own_call_counts(long number)
{
	return kind_of(number) != KIND_NONE;
}

/* Leaves the result as the C library does, for code that reads errno. */
static long as_library(long r)
{
	if (r < 0)
		errno = (int)-r;
	return r < 0 ? -1 : r;
}

static bool is_at_once(const struct own_call *c)
{
	switch (c->number) {
	case SYS_recvfrom:
	case SYS_sendto:
		return c->a[3] & MSG_DONTWAIT;
	case SYS_recvmsg:
	case SYS_sendmsg:
		return c->a[2] & MSG_DONTWAIT;
	default:
		return false;
	}
}

static long move(const struct own_call *c, own_maker make, enum flow_kind kind)
{
	int saved_errno = errno;
	struct stream_wait w __attribute__((cleanup(stream_end))) = stream_begin_from(c->caller, (int)c->a[0], kind, FLOW_FILE);
	long r = make(c);

	w.at_once = is_at_once(c);
	stream_got(&w, as_library(r), c->number == SYS_read ? (const void *)c->a[1] : NULL);
	errno = saved_errno;
	return r;
}

static long pass_time(const struct own_call *c, own_maker make, enum wait_class class)
{
	WAITING wait = vprof_self.gate ? wait_begin_call_from(c->caller, class, 0) : (struct wait){ .on = false };
	long r = make(c);

	wait.result = r < 0;
	wait.timed_out = class == WAIT_IO && r == -ETIME;
	return r;
}

static bool is_zero_time(long at)
{
	const long *time = (const long *)at;	/* a timespec or a timeval */

	return time && readable(time, 2 * sizeof(*time)) && !time[0] && !time[1];
}

/* Before the call, which may change its time-out. */
static bool polls_at_once(const struct own_call *c)
{
	switch (c->number) {
#ifdef SYS_poll
	case SYS_poll:
		return !(int)c->a[2];
#endif
	case SYS_ppoll:
		return is_zero_time(c->a[2]);
#ifdef SYS_select
	case SYS_select:
#endif
	case SYS_pselect6:
		return is_zero_time(c->a[4]);
#ifdef SYS_epoll_pwait2
	case SYS_epoll_pwait2:
		return is_zero_time(c->a[3]);
#endif
	default:
		return !(int)c->a[3];
	}
}

static long poll_files(const struct own_call *c, own_maker make, enum kind kind)
{
	bool files = kind == KIND_EPOLL || c->a[kind == KIND_POLL];
	struct poll_wait p __attribute__((cleanup(poll_end))) = poll_begin_from(c->caller, files);
	bool at_once = vprof_self.gate && polls_at_once(c);
	long r = make(c);

	p.at_once = at_once;
	if (kind == KIND_POLL)
		poll_ready_files(&p, (int)r, (const struct pollfd *)c->a[0], (nfds_t)c->a[1]);
	else if (kind == KIND_SELECT)
		poll_ready_bits(&p, (int)r, (int)c->a[0], (const fd_set *)c->a[1], (const fd_set *)c->a[2]);
	else
		poll_ready_events(&p, (int)r, (int)c->a[0], (const struct epoll_event *)c->a[1]);
	return r;
}

long own_call(const struct own_call *c, own_maker make)
{
	enum kind kind = kind_of(c->number);

	switch (kind) {
	case KIND_FUTEX:
		return futex_call(c, make);
	case KIND_READ:
		return move(c, make, FLOW_DATA);
	case KIND_WRITE:
		return move(c, make, FLOW_ROOM);
	case KIND_SLEEP:
		return pass_time(c, make, WAIT_SLEEP);
	case KIND_POLL:
	case KIND_SELECT:
	case KIND_EPOLL:
		return poll_files(c, make, kind);
	case KIND_RING:
		return c->a[2] && c->a[3] & GETEVENTS ? pass_time(c, make, WAIT_IO) : make(c);
	case KIND_KILL:
		signals_stamp(signals_of_process((pid_t)c->a[0]));
		return make(c);
	case KIND_RULES:
		return rules_call(c, make);
	case KIND_NONE:
		break;
	}
	return make(c);
}

static long by_library(const struct own_call *c)
{
	const long *a = c->a;
	long r = real.syscall(c->number, a[0], a[1], a[2], a[3], a[4], a[5]);

	return r < 0 ? -errno : r;
}

/* Whether the call may return in a new process, on a copy of this stack. */
static bool forks(long number, long first, long second)
{
	const uint64_t *args = (const uint64_t *)first;		/* struct clone_args */

	switch (number) {
#ifdef SYS_fork
	case SYS_fork:
		return true;
#endif
	case SYS_clone:
		return !(first & CLONE_VM) && !second;
	case CALL_CLONE3:
		return (unsigned long)second >= CLONE3_BYTES && readable(args, CLONE3_BYTES) && !(args[0] & CLONE_VM) && !args[CLONE3_STACK];
	}
	return false;
}

static long fork_by(const struct own_call *c)
{
	const long *a = c->a;
	long r;

	process_before_fork();
	r = real.syscall(c->number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (!r)
		process_in_child();
	return r;
}

long vprof_w_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	const struct own_call call = { .number = number, .a = { a, b, c, d, e, f }, .caller = CALLER };
	long r;

	if (forks(number, a, b))
		return fork_by(&call);
	if (!own_call_counts(number))
		return real.syscall(number, a, b, c, d, e, f);
	r = own_call(&call, by_library);
	return as_library(r);
}
