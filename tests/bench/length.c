/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * length.c - one child writes a trace, another one analyses it: what that took is told by wait4().
 *
 * Written by ourselves, what the writer needed and gave back would count as memory of who analyses.
 */
#include "tests/bench/length.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "analysis/analyze.h"
#include "tests/bench/big_trace.h"
#include "trace/windows/stream.h"
#include "base/banned.h"

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
	int r = trace_stream_open(path, NULL, &s, &diag);

	if (r > 0)
		ahead = trace_ahead_new(s);
	while (ahead && (r = trace_ahead_next(ahead, &w, &diag)) > 0)
		analyzer_add(a, &(struct analysis_window){ w->t, w->before_ns, w->until_ns });
	trace_ahead_free(ahead);
	if (r == 0)
		r = analyzer_finish(a, trace_stream_names(s), &o, &f);
	if (r < 0)
		fprintf(stderr, "%s\n", diag.text);
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

/* What work() returns in a process of its own, 0 if it failed.  Nothing is left behind for the next one to inherit. */
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

bool length_measure(uint64_t invocation_cnt, struct length_row *ret)
{
	char path[] = "results/length-XXXXXX";
	struct job j = { path, invocation_cnt };
	struct rusage usage = { .ru_maxrss = 0 };
	int fd = mkstemp(path);

	if (fd < 0)
		return false;
	close(fd);
	ret->interval_cnt = 0;
	ret->invocation_cnt = in_child(write_trace, &j, &usage);
	if (ret->invocation_cnt > 0)
		ret->interval_cnt = in_child(analyse_trace, &j, &usage);
	unlink(path);
	ret->seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	ret->peak_mb = (double)usage.ru_maxrss / 1024;
	return ret->interval_cnt > 0;
}
