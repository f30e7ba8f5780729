/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_requests.c - both ends: the recorder's, and that of `vprof record --snapshot RUN`.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/file.h"
#include "project/notices.h"
#include "project/record/record_requests.h"
#include "project/runs/callers.h"
#include "project/runs/recording.h"

enum { ANSWER_MAX = 64, WAIT_S = 60 };

enum { ASK_PAUSE = 1, ASK_RESUME };	/* values that come with SIGUSR2 */

static int64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* ---- the recorder ---- */

static void answer(struct record_requests *q, const char *what)
{
	char text[ANSWER_MAX];
	int len = snprintf(text, sizeof(text), "requests %u %s\n", ++q->request_cnt, what);

	if (q->lock >= 0 && (ftruncate(q->lock, 0) || pwrite(q->lock, text, (size_t)len, 0) != len))
		warn_line("cannot answer a request: %s", strerror(errno));
}

static int snapshot(struct record_requests *q, struct drainer *d, struct run *ret, struct diag *reterr)
{
	_cleanup_(freep) char *dir = NULL, *path = NULL;
	planned_functions planned = { NULL, 0, 0 };
	int r;

	*ret = (struct run){
		.command = xstrdup(q->run->command),
		.source = xasprintf("snapshot of %" PRIu32, q->run->number),
		.started_ns = q->run->started_ns,
	};
	r = run_create(q->store, ret, reterr);
	if (r < 0)
		return r;
	dir = run_dir(q->store, ret->number);
	path = path_join(dir, "trace.vpt");
	r = drainer_snapshot(d, path, reterr);
	if (r == 0)
		callers_keep(d, dir);
	if (r == 0 && planned_read(q->store, q->run->number, &planned, NULL) == 0)
		planned_write(q->store, ret->number, planned.items, planned.cnt, NULL);
	VEC_RELEASE(&planned);
	ret->status = r < 0 ? RUN_FAILED : RUN_RECORDED;
	ret->duration_ns = now_ns(CLOCK_REALTIME) - ret->started_ns;
	if (ret->duration_ns < 0)		/* the clock was set back */
		ret->duration_ns = 0;
	return r < 0 ? (run_update(q->store, ret, NULL), r) : run_update(q->store, ret, reterr);
}

static void take_pause(struct record_requests *q, struct drainer *d, const struct signalfd_siginfo *info)
{
	int asked = info->ssi_code == SI_QUEUE ? info->ssi_int : 0;	/* a plain kill: toggles */

	if (q->recorder) {
		warn_line("run %" PRIu32 " cannot be paused: it is recorded with --kernel, which cannot be", q->run->number);
		answer(q, "refused");
	} else if (asked != ASK_RESUME && drainer_pause(d)) {
		note_line("run %" PRIu32 ": paused; vprof record --resume %" PRIu32 " goes on", q->run->number,
			  q->run->number);
		answer(q, "paused");
	} else if (asked != ASK_PAUSE && drainer_resume(d)) {
		note_line("run %" PRIu32 ": recording again", q->run->number);
		answer(q, "recording");
	} else {
		answer(q, "unchanged");
	}
}

static void take_snapshot(struct record_requests *q, struct drainer *d)
{
	_cleanup_(run_release) struct run run = { 0 };
	_cleanup_(freep) char *what = NULL;
	struct diag diag = DIAG_INIT;

	if (snapshot(q, d, &run, &diag) < 0) {
		warn_line("%s", diag.text);
		answer(q, "failed");
		return;
	}
	what = xasprintf("run %" PRIu32, run.number);
	answer(q, what);
	note_line("run %u: a snapshot of run %u; vprof analyze %u", run.number, q->run->number, run.number);
}

static void take_request(void *arg, struct drainer *d)
{
	struct record_requests *q = arg;
	struct signalfd_siginfo info;

	if (read(q->requests.fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGUSR2)
		take_pause(q, d, &info);
	else
		take_snapshot(q, d);
}

static sigset_t request_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	return set;
}

void record_requests_open(struct record_requests *q, struct store *s, const struct run *run)
{
	sigset_t set = request_signals();

	*q = (struct record_requests){ .requests = { -1, take_request, q }, .store = s, .run = run,
				       .lock = -1 };
	sigprocmask(SIG_BLOCK, &set, &q->old);
	q->requests.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void record_requests_release(struct record_requests *q)
{
	struct timespec now = { 0, 0 };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t set = request_signals();

	while (sigtimedwait(&set, NULL, &now) > 0)
		;			/* too late, as are requests that may still come */
	sigaction(SIGUSR1, &ignore, NULL);
	sigaction(SIGUSR2, &ignore, NULL);
	if (q->requests.fd >= 0)
		close(q->requests.fd);
	sigprocmask(SIG_SETMASK, &q->old, NULL);
}

/* ---- who asks ---- */

static unsigned read_answer(struct store *s, uint32_t run, char ret_what[ANSWER_MAX])
{
	_cleanup_(freep) char *dir = run_dir(s, run), *path = path_join(dir, "recorder");
	_cleanup_(freep) char *text = NULL;
	unsigned cnt = 0;
	char *what;

	*ret_what = '\0';
	if (file_read(path, &text, NULL) < 0 || !starts_with(text, "requests ") || !strchr(text, '\n'))
		return 0;
	cnt = (unsigned)strtoul(text + strlen("requests "), &what, 10);
	snprintf(ret_what, ANSWER_MAX, "%.*s", (int)strcspn(what + 1, "\n"), what + 1);
	return cnt;
}

/* Sends it and waits for the answer. */
static int ask(struct store *s, const struct run *run, int signal, int value, char ret_what[ANSWER_MAX],
	       struct diag *reterr)
{
	unsigned before = read_answer(s, run->number, ret_what);
	pid_t pid = recording_pid(s, run->number);
	int64_t until_ns = now_ns(CLOCK_MONOTONIC) + (int64_t)WAIT_S * 1000000000;

	if (!pid || sigqueue(pid, signal, (union sigval){ .sival_int = value })) {
		diag_set(reterr, EXIT_USAGE, -ESRCH, "no vprof is recording run %u%s%s", run->number,
			 pid ? ": " : "", pid ? strerror(errno) : "");
		return diag_remedy(reterr, -ESRCH, "vprof show runs   (those that are `recording`)");
	}
	while (read_answer(s, run->number, ret_what) == before) {
		struct timespec pause = { 0, 20000000 };

		if (!recording_pid(s, run->number) || now_ns(CLOCK_MONOTONIC) > until_ns)
			return diag_set(reterr, EXIT_ENVIRONMENT, -EPIPE,
					"the recorder of run %u did not answer: it has ended, or hangs",
					run->number);
		nanosleep(&pause, NULL);
	}
	return 0;
}

int record_ask_pause(struct store *s, const struct run *run, bool pause, struct diag *reterr)
{
	char what[ANSWER_MAX];
	int r = ask(s, run, SIGUSR2, pause ? ASK_PAUSE : ASK_RESUME, what, reterr);

	if (r == 0 && strcmp(what, "refused") == 0)
		return diag_set(reterr, EXIT_USAGE, -ENOTSUP,
				"run %u cannot be paused: it is recorded with --kernel, which cannot be paused",
				run->number);
	return r;
}

int record_ask_snapshot(struct store *s, const struct run *run, struct run *ret, struct diag *reterr)
{
	char what[ANSWER_MAX];
	int r = ask(s, run, SIGUSR1, 0, what, reterr);

	if (r < 0)
		return r;
	if (strncmp(what, "run ", 4))
		return diag_set(reterr, EXIT_ENVIRONMENT, -EIO,
				"the recorder of run %u could not write a snapshot, and said why", run->number);
	return run_find(s, what + 4, ret, reterr);
}
