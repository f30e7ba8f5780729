/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_class.c - what a time off the CPU was, from what the kernel knows.
 *
 * The first that applies: the thread could have run on (runnable); it waited for a disk (in_iowait); it slept
 * uninterruptibly, not for a disk, until a thread of the run woke it: a lock of the kernel (two writers of
 * one file); else the class of its system call.  A page fault has no system call.
 *
 * Locks and condition variables both call futex(), and the kernel cannot tell them apart.  The arguments that
 * glibc passes can: it waits for a mutex with the plain operation and the value 2 (locked, a thread waits) at
 * the beginning of the object; for a thread's end with the thread's number as the value, not private;
 * everything else is `cond`, as bare futexes are (vprof-formats(5), WAITS).  For listed primitives this does
 * not matter: the runtime's own record has precedence.
 */
#include "base/banned.h"
#include "trace/kernel/kernel.h"
#include "trace/kernel/kernel_merging.h"

bool kernel_blocked(const struct kernel_off *o)
{
	return o->state && !(o->flags & (OFF_PREEMPTED | OFF_NEW)) &&
	       !(o->flags & OFF_WOKEN && o->woken_ns <= o->out_ns);
}

/* System call numbers of x86-64.  They are spelled out because a trace can be read on another machine. */
#define IO_CALLS(X)										\
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(17) X(18) X(19) X(20) X(26) X(40) X(42) X(43) X(44) X(45)	\
	X(46) X(47) X(69) X(70) X(74) X(75) X(76) X(77) X(78) X(82) X(83) X(84) X(85) X(86) X(87) X(88)	\
	X(162) X(208) X(217) X(232) X(242) X(243) X(257) X(258) X(262) X(263) X(264) X(275) X(276)	\
	X(277) X(278) X(281) X(285) X(288) X(295) X(296) X(299) X(306) X(307) X(316) X(326) X(327)	\
	X(328) X(332) X(333) X(426) X(437) X(441)

enum {
	CALL_POLL = 7, CALL_SELECT = 23, CALL_PAUSE = 34, CALL_NANOSLEEP = 35, CALL_CLONE = 56,
	CALL_VFORK = 58, CALL_WAIT4 = 61, CALL_SEMOP = 65, CALL_FCNTL = 72, CALL_FLOCK = 73,
	CALL_SIGTIMEDWAIT = 128, CALL_SIGSUSPEND = 130, CALL_FUTEX = 202, CALL_SEMTIMEDOP = 220,
	CALL_CLOCK_NANOSLEEP = 230, CALL_WAITID = 247, CALL_PSELECT6 = 270, CALL_PPOLL = 271,
	CALL_CLONE3 = 435, CALL_FUTEX_WAITV = 449, CALL_FUTEX_WAIT = 455,
};

enum { LOCK_SET_AND_WAIT = 7, LOCK_OFD_SET_AND_WAIT = 38 };	/* F_SETLKW, F_OFD_SETLKW */

enum {
	FUTEX_OP_MASK = 127, FUTEX_PRIVATE = 128,
	OP_WAIT = 0, OP_LOCK_PI = 6, OP_LOCK_PI2 = 13,
	MUTEX_CONTENDED = 2, MUTEX_ALIGNMENT = 8,
};

typedef bool (*thread_question)(void *context, uint32_t pid, uint32_t tid);

static enum trace_state futex_class(const struct kernel_off *o, thread_question is_thread,
				    void *context)
{
	uint64_t address = o->argument[0], operation = o->argument[1];
	uint32_t value = (uint32_t)o->argument[2];

	switch (operation & FUTEX_OP_MASK) {
	case OP_LOCK_PI:
	case OP_LOCK_PI2:
		return STATE_LOCK;
	case OP_WAIT:
		if (value == MUTEX_CONTENDED && address % MUTEX_ALIGNMENT == 0)
			return STATE_LOCK;
		break;
	default:
		break;
	}
	if (!(operation & FUTEX_PRIVATE) && value && is_thread && is_thread(context, o->pid, value))
		return STATE_JOIN;
	return STATE_COND;
}

static enum trace_state call_class(const struct kernel_off *o, thread_question is_thread,
				   void *context)
{
	switch (o->syscall) {
#define X(number) case number:
	IO_CALLS(X)
#undef X
		return STATE_IO;
	case CALL_POLL:
	case CALL_PPOLL:
		return o->argument[1] ? STATE_IO : STATE_SLEEP;
	case CALL_SELECT:
	case CALL_PSELECT6:
		return o->argument[0] ? STATE_IO : STATE_SLEEP;
	case CALL_NANOSLEEP:
	case CALL_CLOCK_NANOSLEEP:
		return STATE_SLEEP;
	case CALL_CLONE:			/* vfork: until the child runs another program */
	case CALL_VFORK:
	case CALL_CLONE3:
	case CALL_WAIT4:
	case CALL_WAITID:
		return STATE_JOIN;
	case CALL_SEMOP:
	case CALL_SEMTIMEDOP:
	case CALL_FLOCK:
		return STATE_LOCK;
	case CALL_FCNTL:
		return o->argument[1] == LOCK_SET_AND_WAIT || o->argument[1] == LOCK_OFD_SET_AND_WAIT ?
		       STATE_LOCK : STATE_IO;
	case CALL_PAUSE:
	case CALL_SIGSUSPEND:
	case CALL_SIGTIMEDWAIT:
	case CALL_FUTEX_WAITV:
	case CALL_FUTEX_WAIT:
		return STATE_COND;
	case CALL_FUTEX:
		return futex_class(o, is_thread, context);
	default:
		return STATE_OTHER;
	}
}

static bool waits_for_children(int32_t syscall)
{
	return syscall == CALL_CLONE || syscall == CALL_VFORK || syscall == CALL_CLONE3 ||
	       syscall == CALL_WAIT4 || syscall == CALL_WAITID;
}

enum trace_state kernel_class(const struct kernel_off *o, thread_question is_thread, void *context)
{
	bool uninterruptible = (o->state & KERNEL_STATE_UNINTERRUPTIBLE) &&
			       !(o->state & KERNEL_STATE_INTERRUPTIBLE);

	if (!o->state || o->flags & (OFF_PREEMPTED | OFF_NEW))
		return STATE_RUNNABLE;
	if (o->flags & OFF_IOWAIT)
		return STATE_IO;
	if (o->flags & OFF_KERNEL_THREAD)
		return STATE_OTHER;
	if (uninterruptible && o->flags & OFF_TASK_WAKER && !waits_for_children(o->syscall))
		return STATE_LOCK;
	if (o->flags & OFF_WOKEN && o->waker_kind == WAKER_DISK)
		return STATE_IO;
	return call_class(o, is_thread, context);
}
