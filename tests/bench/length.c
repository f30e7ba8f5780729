/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * length.c - one child writes a trace, another one analyses it; wait4() gives the cost of each.
 *
 * If this process wrote the trace, the writer's memory would count as the analyser's.
 */
#include "tests/bench/length.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "analysis/analyze.h"
#include "analysis/path/explain.h"
#include "tests/bench/big_trace.h"
#include "trace/windows/stream.h"
#include "base/banned.h"

/* One interval of the trace, from the child that analyses to the one that explains it. */
struct middle {
	uint64_t sid;
	int64_t start_ns, end_ns;
};
static struct middle *middle;

/* Beside the trace, as in the directory of a run. */
static char *saved_path(const char *path)
{
	return xasprintf("%s.vpi", path);
}

/* As run_paths.c does it.  The number of pieces; 0: it failed. */
static uint64_t explain_middle(const char *path)
{
	struct trace_stream *s = NULL;
	struct trace_window w = { .t = NULL };
	path_pieces pieces = { NULL, 0, 0 };
	struct diag diag = DIAG_INIT;
	_cleanup_(freep) char *saved = saved_path(path);
	int r = trace_stream_open_saved(path, saved, NULL, &s);

	if (r > 0)
		trace_stream_want(s, &(struct time_span){ middle->start_ns, middle->end_ns }, 1);
	while (r > 0 && (r = trace_stream_next(s, &w, &diag)) > 0 && w.until_ns < middle->end_ns)
		;
	if (r > 0)
		explain_interval(w.t, middle->sid, arena_new(), &pieces);
	return pieces.cnt;
}

static void remember_middle(const struct findings *f)
{
	const struct interval_row *row = &f->intervals.items[f->intervals.cnt / 2];

	*middle = (struct middle){ row->sid, row->start_ns, row->end_ns };
}

/* As run_analysis.c does it.  The number of intervals; 0: it failed. */
static uint64_t analyse(const char *path)
{
	struct trace_stream *s = NULL;
	struct analyzer *a = analyzer_new();
	struct trace_ahead *ahead = NULL;
	struct analyze_options o = { .interval = NULL };
	const struct trace_window *w;
	struct findings *f = NULL;
	struct diag diag = DIAG_INIT;
	_cleanup_(freep) char *saved = saved_path(path);
	int r = trace_stream_open(path, NULL, &s, &diag);

	if (r > 0) {
		trace_stream_save(s, saved);
		ahead = trace_ahead_new(s);
	}
	while (ahead && (r = trace_ahead_next(ahead, &w, &diag)) > 0)
		analyzer_add(a, &(struct analysis_window){ w->t, w->before_ns, w->until_ns });
	trace_ahead_free(ahead);
	if (r == 0)
		r = analyzer_finish(a, trace_stream_names(s), &o, &f);
	if (r < 0)
		fprintf(stderr, "%s\n", diag.text);
	else if (f->intervals.cnt)
		remember_middle(f);
	return r < 0 ? 0 : f->interval.cnt;
}

struct job {
	const char *path;
	uint64_t invocation_cnt;
};

static uint64_t write_trace(const struct job *j)
{
	return big_trace_write(j->path, j->invocation_cnt);
}

static uint64_t analyse_trace(const struct job *j)
{
	return analyse(j->path);
}

static uint64_t explain_in_trace(const struct job *j)
{
	return explain_middle(j->path);
}

/* Runs work() in a process of its own, so that the next one inherits nothing.  Returns its result, 0 if it failed. */
static uint64_t in_child(uint64_t (*work)(const struct job *j), const struct job *j, struct rusage *ret_usage)
{
	uint64_t result = 0;
	int ends[2], status;
	pid_t child;

	if (pipe(ends) < 0)
		return 0;
	child = fork();
	if (child == 0) {
		result = work(j);
		_exit(write(ends[1], &result, sizeof(result)) != sizeof(result));
	}
	close(ends[1]);
	if (child < 0 || read(ends[0], &result, sizeof(result)) != sizeof(result) ||
	    wait4(child, &status, 0, ret_usage) != child || status != 0)
		result = 0;
	close(ends[0]);
	return result;
}

static void take_usage(const struct rusage *u, double *ret_seconds, double *ret_mb)
{
	*ret_seconds = (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) + (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e6;
	*ret_mb = (double)u->ru_maxrss / 1024;
}

bool length_measure(uint64_t invocation_cnt, struct length_row *ret)
{
	char path[] = "results/length-XXXXXX";
	struct job j = { path, invocation_cnt };
	struct rusage usage = { .ru_maxrss = 0 };
	int fd = mkstemp(path);
	_cleanup_(freep) char *saved = saved_path(path);

	if (fd < 0)
		return false;
	close(fd);
	*ret = (struct length_row){ .interval_cnt = 0 };
	middle = mmap(NULL, sizeof(*middle), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ret->invocation_cnt = in_child(write_trace, &j, &usage);
	if (ret->invocation_cnt > 0)
		ret->interval_cnt = in_child(analyse_trace, &j, &usage);
	take_usage(&usage, &ret->seconds, &ret->peak_mb);
	if (ret->interval_cnt > 0 && !in_child(explain_in_trace, &j, &usage))
		ret->interval_cnt = 0;
	take_usage(&usage, &ret->path_seconds, &ret->path_peak_mb);
	unlink(path);
	unlink(saved);
	munmap(middle, sizeof(*middle));
	return ret->interval_cnt > 0;
}
