/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal.c - wrappers of waits for a signal: class cond, woken by the thread of the run that sent one to this
 * process, or to this thread.
 *
 *	T1 sigwait({USR1}) waits from 10, T2 pthread_kill(T1, USR1) at 40: woken by T2 at 40
 *
 * For any other sender, or a child that ended, the waker is the process that the signal itself names, if it
 * names one; this process is ignored, since any of its threads may have sent it.  A timer's signal is the end
 * of a wait for time.  pause() and sigsuspend() always end with an error; the signal that ended them is asked
 * for all the same.
 */
#include <errno.h>
#include <sys/signalfd.h>
#include "runtime/waits/flow.h"
#include "runtime/waits/object.h"
#include "runtime/waits/signals.h"
#include "runtime/wrappers/real.h"

uint64_t signals_of_process(pid_t pid)
{
	return arena_hash((uint64_t)pid + 0x517cc1b727220a95ULL) | 1ULL << 63;
}

uint64_t signals_of_thread(pthread_t thread)
{
	return arena_hash(releasers_private(thread)) | 1ULL << 63;
}

IN_WRAPPER struct wait begin(void)
{
	struct wait w = { .on = false };

	if (!vprof_self.gate)
		return w;
	w = wait_begin_call(WAIT_COND, signals_of_process((pid_t)process_own_pid()));
	if (w.on)
		w.also = releasers_expect(signals_of_thread(pthread_self()));
	return w;
}

int vprof_w_sigwait(const sigset_t *set, int *ret)
{
	WAITING wait = begin();
	return wait.result = real.sigwait(set, ret);
}

static bool is_of_timer(int number, int code)
{
	return code == SI_TIMER ||
	       (code == SI_KERNEL && (number == SIGALRM || number == SIGVTALRM || number == SIGPROF));
}

void signals_note_sender(struct wait *w, int number, int code, pid_t pid)
{
	if (is_of_timer(number, code))
		w->timed_out = true;
	else if ((code == SI_USER || code == SI_QUEUE || number == SIGCHLD) && pid != (pid_t)process.pid)
		w->holder_tid = (uint64_t)pid;
}

bool signals_are_in(const void *data, ssize_t bytes)
{
	return data && bytes > 0 && (size_t)bytes % sizeof(struct signalfd_siginfo) == 0;
}

void signals_note(struct wait *w, const void *data)
{
	const struct signalfd_siginfo *info = data;

	signals_note_sender(w, (int)info->ssi_signo, info->ssi_code, (pid_t)info->ssi_pid);
}

static void note_sender(struct wait *w, int r, const siginfo_t *info)
{
	wait_failed(w, r < 0);
	if (r > 0)
		signals_note_sender(w, r, info->si_code, info->si_pid);
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

	if ((r > 0 || errno == EAGAIN) && length && !length->tv_sec && !length->tv_nsec)
		wait_could_not(&wait);
	note_sender(&wait, r, info ? info : &own);
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

void signals_stamp(uint64_t object)
{
	int saved_errno = errno;

	releasers_stamp(object);
	flow_stamp_object(object);
	errno = saved_errno;
}

int vprof_w_kill(pid_t pid, int number)
{
	signals_stamp(signals_of_process(pid));
	return real.kill(pid, number);
}

int vprof_w_sigqueue(pid_t pid, int number, const union sigval value)
{
	signals_stamp(signals_of_process(pid));
	return real.sigqueue(pid, number, value);
}

/* One thread of the process gets the signal; the name does not say which. */
int vprof_w_tgkill(pid_t pid, pid_t tid, int number)
{
	signals_stamp(signals_of_process(pid));
	return real.tgkill(pid, tid, number);
}

int vprof_w_pthread_kill(pthread_t thread, int number)
{
	signals_stamp(signals_of_thread(thread));
	return real.pthread_kill(thread, number);
}

int vprof_w_pthread_sigqueue(pthread_t thread, int number, const union sigval value)
{
	signals_stamp(signals_of_thread(thread));
	return real.pthread_sigqueue(thread, number, value);
}
