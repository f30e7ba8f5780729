/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * guard.c - no compiler outlives its launcher.
 *
 * The group is not in the terminal's foreground, so a signal from there reaches only the launcher, which forwards it;
 * the compilers can still write to the terminal (SIGTTOU is ignored).  Compilers that detach themselves (ccache's and
 * distcc's servers) are in no group of ours, and live on.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/banned.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/proc.h"
#include "instrumenter/products/guard.h"
#include "instrumenter/products/owner.h"

#define TEMPORARIES 16
#define PATH_BYTES 4096
#define STACK_BYTES (100 << 20)		/* what the kernel leaves room for below the stack, at least */
#define PATIENCE 50			/* time for a compiler to remove its own temporary files, in units of 10 ms */

static char temporaries[TEMPORARIES][PATH_BYTES];
static unsigned temporary_cnt;

void guard_temporary(const char *path)
{
	char *to = temporaries[temporary_cnt++ % TEMPORARIES];
	size_t len = strlen(path);

	to[0] = '\0';			/* a signal that arrives now finds no file */
	if (len >= PATH_BYTES)
		return;
	for (size_t i = len; i > 0; i--)
		((volatile char *)to)[i] = path[i];
	((volatile char *)to)[0] = path[0];
}

/* ---- the worker ---- */

/* TERM, from the launcher or because it is gone. */
static void end_group(int signal)
{
	const struct timespec pause = { 0, 10000000 };

	kill(0, signal);		/* which is blocked in here */
	for (int i = 0; i < PATIENCE; i++) {
		pid_t ended = waitpid(-1, NULL, WNOHANG);

		if (ended < 0)
			break;
		if (ended == 0)
			nanosleep(&pause, NULL);
	}
	for (int i = 0; i < TEMPORARIES; i++)
		if (temporaries[i][0])
			unlink(temporaries[i]);
	kill(0, SIGKILL);
}

/* The syntax tree of "a + a + a ..." is as deep as the expression is long, and is visited by recursion. */
static void widen_stack(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_STACK, &l) < 0 || l.rlim_cur >= STACK_BYTES)
		return;
	l.rlim_cur = l.rlim_max < STACK_BYTES ? l.rlim_max : STACK_BYTES;
	setrlimit(RLIMIT_STACK, &l);
}

static void become_worker(pid_t launcher, const sigset_t *mask)
{
	struct sigaction end = { .sa_handler = end_group }, ignore = { .sa_handler = SIG_IGN };

	if (setpgid(0, 0) < 0)
		_exit(EXIT_FAILURE);
	sigfillset(&end.sa_mask);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGTTOU, &ignore, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_SET_DUMPABLE, 0);	/* no core file in the user's tree; a compiler's own is not affected */
	widen_stack();
	if (getppid() != launcher)
		_exit(EXIT_FAILURE);
	sigprocmask(SIG_SETMASK, mask, NULL);
}

/* ---- the launcher ---- */

/* The signals that end it, except those that are ignored (nohup). */
static void signals_to_wait_for(sigset_t *ret)
{
	static const int ours[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP };

	sigemptyset(ret);
	sigaddset(ret, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
		struct sigaction now;

		if (sigaction(ours[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			sigaddset(ret, ours[i]);
	}
}

static void stop_with(pid_t worker)
{
	kill(-worker, SIGSTOP);
	raise(SIGSTOP);
	kill(-worker, SIGCONT);
}

/* The signal that ended it, and now ends us. */
static void end_by(int signal)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };
	sigset_t none;

	sigaction(signal, &plain, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	raise(signal);
	_exit(128 + signal);
}

/* The next signal; TERM if an owner has ended. */
static int next_signal(const sigset_t *set, struct pollfd *fds, nfds_t cnt)
{
	struct signalfd_siginfo info;

	if (fds[0].fd < 0)
		return sigwaitinfo(set, NULL);
	if (poll(fds, cnt, -1) < 0)
		return -1;
	if (fds[0].revents)
		return read(fds[0].fd, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : -1;
	for (nfds_t i = 1; i < cnt; i++)
		fds[i].fd = -1;
	return SIGTERM;
}

static bool is_crash(int status)
{
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };

	for (size_t i = 0; WIFSIGNALED(status) && i < ARRAY_SIZE(crashes); i++)
		if (WTERMSIG(status) == crashes[i])
			return true;
	return false;
}

/* Returns if the worker crashed. */
static void wait_for(pid_t worker, const sigset_t *set)
{
	struct pollfd fds[1 + OWNERS_MAX] = { { signalfd(-1, set, SFD_CLOEXEC), POLLIN, 0 } };
	int owners[OWNERS_MAX], owner_cnt = owners_open(owners), ended_by = 0, status;

	for (int i = 0; i < owner_cnt; i++)
		fds[1 + i] = (struct pollfd){ owners[i], POLLIN, 0 };
	for (;;) {
		int signal = next_signal(set, fds, 1 + (nfds_t)owner_cnt);

		if (signal == SIGTSTP)
			stop_with(worker);
		else if (signal > 0 && signal != SIGCHLD && !ended_by)
			kill(worker, SIGTERM), ended_by = signal;
		else if (signal == SIGCHLD && waitpid(worker, &status, WNOHANG) == worker)
			break;
	}
	if (WIFSIGNALED(status))
		kill(-worker, SIGKILL);	/* another process stopped the worker alone */
	if (ended_by)
		end_by(ended_by);
	if (!is_crash(status))
		_exit(proc_status(status));
	for (int i = 0; i < 1 + owner_cnt; i++)
		closep(&fds[i].fd);
}

bool guard_begin(void)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };
	sigset_t set, before;
	pid_t launcher = getpid(), worker;

	sigaction(SIGCHLD, &plain, NULL);	/* if it were ignored, the worker's end would not be reported */
	signals_to_wait_for(&set);
	sigprocmask(SIG_BLOCK, &set, &before);
	worker = fork();
	if (worker == 0) {
		become_worker(launcher, &before);
		return true;
	}
	if (worker > 0) {
		setpgid(worker, worker);	/* both do this, whichever comes first */
		wait_for(worker, &set);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return worker < 0;
}
