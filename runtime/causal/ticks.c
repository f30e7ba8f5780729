/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ticks.c - the perf events and the handler of their signal.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include "runtime/causal/causal.h"
#include "runtime/causal/ticks.h"
#include "runtime/rules/permit.h"
#include "runtime/thread.h"

enum { TICK_SIGNAL = SIGURG, HIGH_FD = 900, ALL_FDS = 4096 };

struct tick_self {
	bool tried;
	int fd;				/* plus 1; 0: none */
	uint64_t id;			/* of the event; proves that the descriptor is still ours */
};

/* The events of all threads, so that the child of a fork can close them.  If there are more, it holds only some. */
static struct {
	int fd;				/* plus 1; 0: none */
	uint64_t id;
} all[ALL_FDS];

static __thread struct tick_self self __attribute__((tls_model("initial-exec")));
static uint32_t has_handler;		/* 1: being set, 2: ours, 3: the program has its own */

static uint64_t pc_of(const ucontext_t *c)
{
#if defined(__x86_64__)
	return (uint64_t)c->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return c->uc_mcontext.pc;
#else
	(void)c;
	return 0;
#endif
}

static void on_tick(int number, siginfo_t *info, void *context)
{
	int saved_errno = errno;

	(void)number;
	if (info && self.fd && info->si_fd == self.fd - 1)
		causal_tick(pc_of(context));
	errno = saved_errno;
}

static void note_event(int fd, uint64_t id)
{
	for (unsigned int i = 0; i < ALL_FDS; i++) {
		int none = 0;

		if (!__atomic_load_n(&all[i].fd, __ATOMIC_RELAXED) &&
		    __atomic_compare_exchange_n(&all[i].fd, &none, fd, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			__atomic_store_n(&all[i].id, id, __ATOMIC_RELAXED);
			return;
		}
	}
}

static void forget_event(int fd)
{
	for (unsigned int i = 0; i < ALL_FDS; i++) {
		int ours = fd;

		if (__atomic_load_n(&all[i].fd, __ATOMIC_RELAXED) == fd &&
		    __atomic_compare_exchange_n(&all[i].fd, &ours, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return;
	}
}

static bool set_handler(void)
{
	struct sigaction old, ours = { .sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART };
	uint32_t none = 0;

	if (__atomic_compare_exchange_n(&has_handler, &none, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		bool is_free = !sigaction(TICK_SIGNAL, NULL, &old) && !(old.sa_flags & SA_SIGINFO) &&
			       (old.sa_handler == SIG_DFL || old.sa_handler == SIG_IGN);

		is_free = is_free && !sigaction(TICK_SIGNAL, &ours, NULL);
		__atomic_store_n(&has_handler, is_free ? 2 : 3, __ATOMIC_RELEASE);
		if (!is_free)
			__atomic_store_n(&process.arena->control->experiment.signal_taken, 1, __ATOMIC_RELAXED);
	}
	return __atomic_load_n(&has_handler, __ATOMIC_ACQUIRE) == 2;
}

static int open_event(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = TICK_NS, .wakeup_events = 1, .disabled = 1, .exclude_kernel = 1, .exclude_hv = 1,
	};
	int low = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC), fd;

	if (low < 0)
		return -1;
	fd = (int)syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, HIGH_FD);
	if (fd < 0)
		return low;
	syscall(SYS_close, low);
	return fd;
}

/* Sends the signal to this thread only, with the number of the descriptor. */
static bool aim(int fd)
{
	struct f_owner_ex owner = { F_OWNER_TID, (pid_t)syscall(SYS_gettid) };

	return !syscall(SYS_fcntl, fd, F_SETFL, O_ASYNC | O_NONBLOCK) && !syscall(SYS_fcntl, fd, F_SETSIG, TICK_SIGNAL) &&
	       !syscall(SYS_fcntl, fd, F_SETOWN_EX, &owner) && !syscall(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &self.id) &&
	       !syscall(SYS_ioctl, fd, PERF_EVENT_IOC_ENABLE, 0);
}

/* A thread that blocks the signal would get none.  No other code sends it to single threads. */
static void unblock(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, TICK_SIGNAL);
	if (permitted(PERMIT_SIGMASK))
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void refused(int error)
{
	struct arena_experiment *e = &process.arena->control->experiment;

	__atomic_store_n(&e->ticks_error, (uint32_t)error, __ATOMIC_RELAXED);
	__atomic_fetch_add(&e->ticks_refused, 1, __ATOMIC_RELAXED);
}

void ticks_start(void)
{
	int fd, saved_errno = errno;

	if (self.tried)
		return;
	self.tried = true;
	if (!permitted(PERMIT_TICKS)) {
		refused(EPERM);
		return;
	}
	if (!set_handler()) {
		refused(EBUSY);
		return;
	}
	fd = open_event();
	if (fd >= 0) {
		self.fd = fd + 1;
		unblock();
		if (aim(fd)) {
			note_event(self.fd, self.id);
		} else {
			refused(errno);
			syscall(SYS_close, fd);
			self.fd = 0;
		}
	} else {
		refused(errno);
	}
	errno = saved_errno;
}

/* Closes the event unless the program has closed it and the number belongs to another file now.  fd: plus 1. */
static void close_event(int fd, uint64_t id)
{
	uint64_t is = 0;

	if (!syscall(SYS_ioctl, fd - 1, PERF_EVENT_IOC_ID, &is) && is == id)
		syscall(SYS_close, fd - 1);
}

static void close_all(void)
{
	for (unsigned int i = 0; i < ALL_FDS; i++) {
		int fd = __atomic_exchange_n(&all[i].fd, 0, __ATOMIC_RELAXED);

		if (fd)
			close_event(fd, __atomic_load_n(&all[i].id, __ATOMIC_RELAXED));
	}
}

void ticks_stop(void)
{
	int saved_errno = errno;

	if (self.fd && permitted(PERMIT_TICKS)) {
		forget_event(self.fd);
		close_event(self.fd, self.id);
	}
	self.fd = 0;
	self.tried = false;
	errno = saved_errno;
}

void ticks_end(void)
{
	int saved_errno = errno;

	close_all();
	errno = saved_errno;
}

void ticks_forked(void)
{
	int saved_errno = errno;

	if (permitted(PERMIT_TICKS)) {
		if (self.fd)
			close_event(self.fd, self.id);
		close_all();
	}
	self = (struct tick_self){ .fd = 0 };
	if (has_handler == 1)
		has_handler = 0;
	errno = saved_errno;
}
