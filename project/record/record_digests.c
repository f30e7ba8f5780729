/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_digests.c - see record_digests.h.
 *
 * A stretch is digested a second after its end: a thread may have been preempted between the end of an interval and its record.
 */
#include "project/record/record_digests.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/file.h"
#include "project/config/locate.h"
#include "project/digests/live_digest.h"
#include "project/digests/recorded_by.h"
#include "project/digests/window_digest.h"
#include "project/notices.h"
#include "project/runs/callers.h"
#include "project/runs/recording.h"

#define LATE_NS ((int64_t)1000000000)

enum { STRETCHES_BACK = 64, NICE = 10 };

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- a stretch ---- */

static char *cut_dir(const struct record_digests *g)
{
	_cleanup_(freep) char *dir = run_dir(g->store, g->run->number), *name = xasprintf("stretch-%u", g->cut_cnt);

	return path_join(dir, name);
}

/* The first part that may have records of intervals which were open at since_ns. */
static uint32_t first_part(const struct record_digests *g, int64_t since_ns)
{
	uint32_t number = 0;

	for (size_t i = 0; i < g->parts.cnt && g->parts.items[i].until_ns <= since_ns; i++)
		number = g->parts.items[i].number;
	return number;
}

/* The parent's connection to the database is not for the child. */
static void digest_in_child(const struct record_digests *g, const char *trace, int64_t until_ns, uint64_t lost)
{
	struct live_stretch stretch = { .trace = trace, .until_ns = until_ns, .lost_records = lost, .limit = g->limit };
	struct store *store = NULL;
	struct diag diag = DIAG_INIT;
	int r;

	setpgid(0, 0);
	signal(SIGINT, SIG_IGN);
	nice(NICE);
	r = store_open(data_dir(), false, &store, &diag);
	if (r == 0)
		r = live_digest(store, g->run, &stretch, &diag);
	if (r < 0)
		fail_now(diag.status, *diag.remedy ? diag.remedy : NULL, "%s", diag.text);
	fflush(NULL);
	_exit(r < 0);
}

/* From where the trace has to be, as far as that is known by now. */
static int read_since(const struct record_digests *g, int64_t *ret_ns, struct diag *reterr)
{
	struct live_state state;

	if (!live_read(g->store, g->run->number, &state))
		return diag_set(reterr, EXIT_ENVIRONMENT, -EIO, "the state of run %" PRIu32 "'s windows is gone", g->run->number);
	*ret_ns = state.since_ns;
	if (*ret_ns < g->done_ns - STRETCHES_BACK * g->stretch_ns)	/* an interval that may never end */
		*ret_ns = g->done_ns - STRETCHES_BACK * g->stretch_ns;
	return 0;
}

/* ret: the directory of the trace. */
static int cut(struct record_digests *g, struct drainer *d, char **ret, struct diag *reterr)
{
	_cleanup_(freep) char *dir = (g->cut_cnt++, cut_dir(g)), *trace = path_join(dir, "trace.vpt");
	int64_t cut_ns = now_ns(), since_ns = 0;
	uint32_t next = 0;
	int r = read_since(g, &since_ns, reterr);

	if (r < 0)
		return r;
	r = make_dirs(dir, 0700);
	if (r < 0)
		return diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot make '%s': %s", dir, strerror(-r));
	r = drainer_cut(d, trace, first_part(g, since_ns), &next, reterr);
	if (r < 0) {
		remove_tree(dir);
		return r;
	}
	callers_keep(d, dir);
	VEC_ADD(&g->parts, (struct record_digests_part){ cut_ns, next });
	*ret = TAKE_PTR(dir);
	return 0;
}

static int start(struct record_digests *g, const struct drainer *d, char *dir, int64_t until_ns, struct diag *reterr)
{
	_cleanup_(freep) char *trace = path_join(dir, "trace.vpt");
	uint64_t lost = drainer_lost(d);

	fflush(NULL);
	g->child = fork();
	if (g->child == 0)
		digest_in_child(g, trace, until_ns, lost - g->lost_records);
	if (g->child < 0) {
		g->child = 0;
		remove_tree(dir);
		return diag_set(reterr, EXIT_ENVIRONMENT, -errno, "cannot start a process that digests: %s", strerror(errno));
	}
	g->child_dir = xstrdup(dir);
	g->asked_ns = until_ns;
	g->asked_lost = lost;
	return 0;
}

/* Parts that no later stretch needs are not asked about again. */
static void forget_parts(struct record_digests *g)
{
	size_t cnt = g->parts.cnt > 2 * STRETCHES_BACK ? g->parts.cnt - 2 * STRETCHES_BACK : 0;

	memmove(g->parts.items, g->parts.items + cnt, (g->parts.cnt - cnt) * sizeof(*g->parts.items));
	g->parts.cnt -= cnt;
}

/* Whether the child, if there was one, has ended.  Its CPU time counts as the recorder's. */
static bool is_done(struct record_digests *g, struct drainer *d, int flags)
{
	struct rusage used = { 0 };
	int wait_status = 0;
	pid_t pid;

	if (!g->child)
		return true;
	do
		pid = wait4(g->child, &wait_status, flags, &used);
	while (pid < 0 && errno == EINTR);
	if (pid == 0)
		return false;
	drainer_worked(d, (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000 +
			  (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000);
	remove_tree(g->child_dir);
	free(g->child_dir);
	g->child_dir = NULL;
	g->child = 0;
	if (pid > 0 && wait_status == 0) {
		g->done_ns = g->asked_ns;
		g->lost_records = g->asked_lost;
	} else if (!g->has_failed) {
		warn_line("some windows of run %" PRIu32 " could not be digested; they are tried again with the next ones", g->run->number);
	}
	g->has_failed = pid < 0 || wait_status;
	forget_parts(g);
	return true;
}

void record_digests_turn(void *arg, struct drainer *d)
{
	struct record_digests *g = arg;
	_cleanup_(freep) char *dir = NULL;
	int64_t until_ns = now_ns() - LATE_NS;
	struct diag diag = DIAG_INIT;

	until_ns -= until_ns % g->stretch_ns;
	if (until_ns <= g->asked_ns || !is_done(g, d, WNOHANG))
		return;
	if (cut(g, d, &dir, &diag) < 0 || start(g, d, dir, until_ns, &diag) < 0) {
		if (!g->has_failed)
			warn_line("%s", diag.text);
		g->has_failed = true;
		g->asked_ns = until_ns;
	}
}

/* Cuts at once: parts of the trace may go (--keep) while the stretch before is digested. */
void record_digests_last(struct record_digests *g, struct drainer *d)
{
	_cleanup_(freep) char *dir = NULL;
	struct diag diag = DIAG_INIT;
	int r = cut(g, d, &dir, &diag);

	is_done(g, d, 0);
	if (r < 0 || start(g, d, dir, INT64_MAX, &diag) < 0)
		warn_line("%s", diag.text);
	is_done(g, d, 0);
	if (g->done_ns != INT64_MAX)
		warn_line("the last windows of run %" PRIu32 " are not sent; vprof export --format digest --window has them", g->run->number);
}

/* ---- a recording ---- */

/* The windows of recordings whose recorder was killed. */
static void adopt(struct record_digests *g, runs *killed)
{
	for (size_t i = 0; i < killed->cnt; i++) {
		const struct run *r = &killed->items[i];
		_cleanup_(freep) char *dir = run_dir(g->store, r->number), *trace = path_join(dir, "trace.vpt");
		struct live_stretch stretch = { .trace = trace, .until_ns = INT64_MAX, .lost_records = WINDOW_LOST_OF_TRACE,
						.limit = g->limit };
		struct live_state state;
		struct diag diag = DIAG_INIT;

		if (r->number == g->run->number || recording_pid(g->store, r->number) || !live_read(g->store, r->number, &state))
			continue;
		if (live_digest(g->store, r, &stretch, &diag) < 0)
			warn_line("the windows that run %" PRIu32 " had not sent when it was killed: %s", r->number, diag.text);
		else
			note_line("run %" PRIu32 ": what it had not sent when its recorder was killed is sent now", r->number);
	}
}

int record_digests_open(struct record_digests *g, struct store *s, const struct run *r, const struct args *command,
			const struct record_options *o, struct diag *reterr)
{
	_cleanup_(runs_release) runs known = { NULL, 0, 0 };
	_cleanup_(freep) char *dir = run_dir(s, r->number);
	struct live_state state = { .every_ns = o->digest_every_ns };
	int e;

	*g = (struct record_digests){ .store = s, .run = r, .every_ns = o->digest_every_ns, .sender = { 0, -1 },
				      .limit = o->spool_bytes ? o->spool_bytes : SPOOL_LIMIT };
	if (!g->every_ns)
		return 0;
	g->stretch_ns = live_stretch_ns(g->every_ns);
	g->done_ns = now_ns();
	g->done_ns -= g->done_ns % g->stretch_ns;
	g->asked_ns = state.done_ns = state.since_ns = g->done_ns;
	recorded_by_keep(dir, command->cnt ? command->items[0] : NULL);
	e = live_begin(s, r->number, &state, reterr);
	if (e == 0)
		e = spool_sender_start(&g->sender, o->digest_to, reterr);
	if (e == 0 && runs_read(s, &known, NULL) == 0)
		adopt(g, &known);
	return e;
}

void record_digests_close(struct record_digests *g)
{
	_cleanup_(freep) char *dir = NULL;
	size_t cnt;

	VEC_RELEASE(&g->parts);
	if (!g->every_ns)
		return;
	progress_line("sending digests");
	spool_sender_end(&g->sender);
	progress_done();
	cnt = spool_cnt();
	dir = spool_dir();
	if (cnt)
		warn_line("%zu digest%s wait%s in '%s': the next vprof record --digest-every sends %s", cnt, cnt == 1 ? "" : "s",
			  cnt == 1 ? "s" : "", dir, cnt == 1 ? "it" : "them");
}
