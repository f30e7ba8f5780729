/* SPDX-License-Identifier: Apache-2.0 */
/*
 * futex.c - system calls that programs make themselves: syscall(SYS_futex, ...) and io_uring_enter.
 *
 * What libstdc++ makes of std::atomic::wait, std::latch, std::future and the guards of local variables
 * comes along here, too, as do the locks of GLib.
 *
 *	W syscall(SYS_futex, &word, FUTEX_WAIT, ...) from 10; S syscall(SYS_futex, &word, FUTEX_WAKE, 1)
 *	at 30: W waits 10..32, class cond, woken by S at 30
 */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include "runtime/object.h"
#include "runtime/real.h"
#include "runtime/wait.h"

/* linux/io_uring.h is not everywhere. */
enum { GETEVENTS = 1 };

static bool may_wait(long op)
{
	switch (op & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
		return true;
	default:
		return false;
	}
}

static bool may_wake(long op)
{
	switch (op & FUTEX_CMD_MASK) {
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
	case FUTEX_WAKE_OP:
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_CMP_REQUEUE_PI:
	case FUTEX_UNLOCK_PI:
		return true;
	default:
		return false;
	}
}

static uint64_t word_of(long address, long op)
{
	return object_of((const void *)address, !(op & FUTEX_PRIVATE_FLAG));
}

/* Who waits may have been moved to the second word. */
static void stamp_words(long a, long op, long e)
{
	int saved_errno = errno;
	long command = op & FUTEX_CMD_MASK;

	releasers_stamp(word_of(a, op));
	if (e && command != FUTEX_WAKE && command != FUTEX_WAKE_BITSET && command != FUTEX_UNLOCK_PI)
		releasers_stamp(word_of(e, op));
	errno = saved_errno;
}

static struct wait begin(long number, long a, long b, long c, long d)
{
	if (!vprof_self.gate)
		return (struct wait){ .on = false };
	if (number == SYS_futex && may_wait(b))
		return wait_begin_call(WAIT_COND, word_of(a, b));
#ifdef SYS_io_uring_enter
	if (number == SYS_io_uring_enter && c && d & GETEVENTS)
		return wait_begin_call(WAIT_IO, 0);
#endif
	return (struct wait){ .on = false };
}

long vprof_w_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	WAITING wait = begin(number, a, b, c, d);
	long r;

	if (number == SYS_futex && may_wake(b))
		stamp_words(a, b, e);
	r = real.syscall(number, a, b, c, d, e, f);
	wait.result = r < 0;
	wait.timed_out = r < 0 && (errno == ETIMEDOUT || errno == ETIME);
	return r;
}
