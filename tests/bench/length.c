/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * length.c - one child a measurement: what it took is told by wait4().
 */
#include "tests/bench/length.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "analysis/analyze.h"
#include "tests/bench/big_trace.h"
#include "trace/stream.h"
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

static bool measure(const char *path, struct length_row *ret)
{
	int ends[2], status;
	struct rusage usage;
	pid_t child;

	if (pipe(ends) < 0)
		return false;
	child = fork();
	if (child == 0) {
		uint64_t cnt = analyse(path);

		_exit(write(ends[1], &cnt, sizeof(cnt)) != sizeof(cnt));
	}
	close(ends[1]);
	if (child < 0 || read(ends[0], &ret->interval_cnt, sizeof(ret->interval_cnt)) != sizeof(ret->interval_cnt) ||
	    wait4(child, &status, 0, &usage) != child)
		return false;
	close(ends[0]);
	ret->seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	ret->peak_mb = (double)usage.ru_maxrss / 1024;
	return status == 0 && ret->interval_cnt > 0;
}

bool length_measure(uint64_t invocation_cnt, struct length_row *ret)
{
	char path[] = "results/length-XXXXXX";
	int fd = mkstemp(path);
	bool ok;

	if (fd < 0)
		return false;
	close(fd);
	ret->invocation_cnt = big_trace_write(path, invocation_cnt);
	ok = ret->invocation_cnt > 0 && measure(path, ret);
	unlink(path);
	return ok;
}
