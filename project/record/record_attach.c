/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_attach.c - chooses the processes to record, and waits for their end.
 *
 * A run's processes are known from its trace.  A pid may have been reused: a process that began after the run had
 * ended is ignored.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "project/record/record_attach.h"
#include "project/runs/project.h"

void attach_release(struct attach *a)
{
	VEC_RELEASE(&a->pids);
}

static int64_t clock_now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* CLOCK_REALTIME, or INT64_MAX: it is gone.  Field 22 of stat; the name in brackets may contain anything. */
static int64_t began_ns(uint64_t pid)
{
	_cleanup_(freep) char *path = xasprintf("/proc/%llu/stat", (unsigned long long)pid), *text = NULL;
	long hz = sysconf(_SC_CLK_TCK);
	char *at;

	if (file_read(path, &text, NULL) < 0 || !(at = strrchr(text, ')')))
		return INT64_MAX;
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return INT64_MAX;
	return clock_now(CLOCK_REALTIME) - clock_now(CLOCK_BOOTTIME) +
	       (int64_t)(strtoull(at, NULL, 10) * (uint64_t)(1000000000 / hz));
}

static bool has(const struct attach *a, uint64_t pid)
{
	for (size_t i = 0; i < a->pids.cnt; i++)
		if ((uint64_t)a->pids.items[i] == pid)
			return true;
	return false;
}

int attach_to_run(struct attach *a, struct store *s, const char *name, struct diag *reterr)
{
	_cleanup_(run_release) struct run run = { 0 };
	_cleanup_(trace_freep) struct trace *t = NULL;
	int r = run_find(s, name, &run, reterr);

	if (r == 0)
		r = run_trace_read(s, &run, &t, reterr);
	if (r < 0)
		return r;
	for (size_t i = 0; i < t->threads.cnt; i++) {
		uint64_t pid = t->threads.items[i].pid;

		if (pid && pid <= INT32_MAX && !has(a, pid) &&
		    began_ns(pid) < run.started_ns + run.duration_ns + 1000000000)
			VEC_ADD(&a->pids, (pid_t)pid);
	}
	if (a->pids.cnt)
		return 0;
	diag_set(reterr, EXIT_ENVIRONMENT, -ESRCH, "no process of run %u still runs", run.number);
	return diag_remedy(reterr, -ESRCH, "vprof record -p PID records any process");
}

/* One of them may descend from another, and be invited already. */
int attach_invite(const struct attach *a, struct drainer *d, unsigned *ret_cnt, struct diag *reterr)
{
	int worst = 0;

	*ret_cnt = 0;
	for (size_t i = 0; i < a->pids.cnt; i++) {
		unsigned cnt;
		int r = drainer_invite(d, a->pids.items[i], &cnt, reterr);

		*ret_cnt += cnt;
		if (r < 0 && r != -ENOENT)
			worst = r;
	}
	return *ret_cnt ? 0 : worst;
}

static void end_now(int signal)
{
	(void)signal;
	_exit(0);
}

void attach_wait(const struct attach *a)
{
	struct sigaction end = { .sa_handler = end_now };
	int64_t until_ns = clock_now(CLOCK_MONOTONIC) + a->duration_ns;

	prctl(PR_SET_PDEATHSIG, SIGKILL);	/* and so does not hold our lock on the arena */
	close_range(3, ~0U, 0);
	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	for (size_t i = 0; i < a->pids.cnt; i++) {
		struct pollfd ended = { .fd = (int)syscall(SYS_pidfd_open, a->pids.items[i], 0), .events = POLLIN };
		int64_t left_ns = until_ns - clock_now(CLOCK_MONOTONIC);
		struct timespec left = { left_ns / 1000000000, left_ns % 1000000000 };

		if (ended.fd < 0)
			continue;	/* it has ended */
		if (a->duration_ns && (left_ns <= 0 || ppoll(&ended, 1, &left, NULL) == 0))
			return;
		while (!a->duration_ns && ppoll(&ended, 1, NULL, NULL) < 0 && errno == EINTR)
			;
		close(ended.fd);
	}
}
