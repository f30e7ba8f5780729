/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal.c - wrappers of waits for a signal: class cond, woken by the thread of the run that sent one
 * to this process, or to this thread.
 *
 *	T1 sigwait({USR1}) waits from 10, T2 pthread_kill(T1, USR1) at 40: woken by T2 at 40
 *
 * Whoever else sent it, or the child that ended, is who the signal itself names, if it comes with that.  A
 * timer's has no waker.  pause() and sigsuspend() always
 * end with an error; the signal that ended them is asked for all the same.
 */
#include <errno.h>
#include "runtime/object.h"
#include "runtime/real.h"
#include "runtime/wait.h"

static uint64_t process_signals(pid_t pid)
{
	return arena_hash((uint64_t)pid + 0x517cc1b727220a95ULL) | 1ULL << 63;
}

/* Not the thread's end, which has the thread's own name. */
static uint64_t thread_signals(pthread_t thread)
{
	return arena_hash(releasers_private(thread)) | 1ULL << 63;
}

static struct wait begin(void)
{
	struct wait w = { .on = false };

	if (!vprof_self.gate)
		return w;
	w = wait_begin_call(WAIT_COND, process_signals(getpid()));
	if (w.on)
		w.also = releasers_expect(thread_signals(pthread_self()));
	return w;
}

int vprof_w_sigwait(const sigset_t *set, int *ret)
{
	WAITING wait = begin();
	return wait.result = real.sigwait(set, ret);
}

/* A thread's signal names the process only. */
static void note_sender(struct wait *w, int r, const siginfo_t *info)
{
	w->result = r < 0;
	if (r > 0 && (info->si_code == SI_USER || info->si_code == SI_QUEUE || r == SIGCHLD))
		w->holder_tid = (uint64_t)info->si_pid;
}

int vprof_w_sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	siginfo_t own;
	WAITING wait = begin();
	int r = real.sigwaitinfo(set, info ? info : &own);

	note_sender(&wait, r, info ? info : &own);
	return r;
}

int vprof_w_sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *length)
{
	siginfo_t own;
	WAITING wait = begin();
	int r = real.sigtimedwait(set, info ? info : &own, length);

	note_sender(&wait, r, info ? info : &own);
	wait_errno(&wait, r);
	return r;
}

int vprof_w_sigsuspend(const sigset_t *mask)
{
	WAITING wait = begin();
	return real.sigsuspend(mask);
}

int vprof_w_pause(void)
{
	WAITING wait = begin();
	return real.pause();
}

static void stamp(uint64_t object)
{
	int saved_errno = errno;

	releasers_stamp(object);
	errno = saved_errno;
}

int vprof_w_kill(pid_t pid, int number)
{
	stamp(process_signals(pid));
	return real.kill(pid, number);
}

int vprof_w_sigqueue(pid_t pid, int number, const union sigval value)
{
	stamp(process_signals(pid));
	return real.sigqueue(pid, number, value);
}

int vprof_w_pthread_kill(pthread_t thread, int number)
{
	stamp(thread_signals(thread));
	return real.pthread_kill(thread, number);
}
