/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_analysis.c - the trace of a run becomes results.
 *
 * A recorded trace comes in windows (trace/stream.h), so it may be longer than memory is large.  One that is not fit
 * for that, imported, merged or has the kernel's side, is read as a whole and cut in memory (trace/slices.h).
 * Example, on a terminal:
 *
 *	vprof: analysing run 3: 41 %, 12.3 million records/s, about 5 s left
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analysis/analyze.h"
#include "base/banned.h"
#include "cmd/common.h"
#include "cmd/project.h"
#include "cmd/run_parts.h"
#include "trace/slices.h"
#include "trace/stream.h"

#define PROGRESS_NS 200000000

struct analysing {
	struct analyzer *analyzer;
	const struct trace *names;	/* trace's or stream's */
	struct trace *trace;		/* read as a whole, or NULL */
	struct trace_stream *stream;	/* or NULL */
	uint32_t *calls;		/* per function: of all windows */
	uint32_t run;
	int64_t started_ns, told_ns;	/* of the progress line */
};

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void release(struct analysing *a)
{
	analyzer_free(a->analyzer);
	trace_free(a->trace);
	trace_stream_close(a->stream);
	free(a->calls);
}

static void count_calls(struct analysing *a, const struct analysis_window *w)
{
	for (size_t i = 0; i < w->t->invocations.cnt; i++) {
		const struct invocation *v = &w->t->invocations.items[i];

		if (v->start_ns > w->before_ns && a->calls[v->function] < UINT32_MAX - 1)
			a->calls[v->function]++;
	}
}

static void tell_progress(struct analysing *a, const struct trace_window *w)
{
	int64_t now = now_ns();
	double seconds = (double)(now - a->started_ns) / 1e9;
	double rate = seconds > 0 ? (double)w->done_cnt / seconds : 0;

	if (now - a->told_ns < PROGRESS_NS || !(rate > 0))
		return;
	a->told_ns = now;
	progress_line("analysing run %u: %.0f %%, %.1f million records/s, about %.0f s left", a->run,
		      100 * (double)w->done_cnt / (double)w->record_cnt, rate / 1e6,
		      (double)(w->record_cnt - w->done_cnt) / rate);
}

static void add_window(struct analysing *a, const struct trace_window *w)
{
	struct analysis_window window = { w->t, w->before_ns, w->until_ns };

	count_calls(a, &window);
	analyzer_add(a->analyzer, &window);
	tell_progress(a, w);
}

static int add_windows(struct analysing *a, struct diag *reterr)
{
	struct trace_window w = { .t = NULL };
	int r;

	while ((r = trace_stream_next(a->stream, &w, reterr)) > 0)
		add_window(a, &w);
	trace_window_release(&w);
	return r;
}

/* A thread of its own reads. */
static int add_windows_ahead(struct analysing *a, struct diag *reterr)
{
	_cleanup_(trace_ahead_freep) struct trace_ahead *ahead = trace_ahead_new(a->stream);
	const struct trace_window *w;
	int r;

	if (!ahead)
		return add_windows(a, reterr);
	while ((r = trace_ahead_next(ahead, &w, reterr)) > 0)
		add_window(a, w);
	return r;
}

/* 0, TRACE_STREAM_UNFIT, or an error. */
static int take_stream(struct store *s, struct analysing *a, const char *path, unsigned jobs, struct diag *reterr)
{
	_cleanup_(recorded_options_release) struct recorded_options o = { .config = { 0 } };
	int r = recorded_options_read(&o, reterr);

	if (r == 0)
		r = trace_stream_open(path, &o.reader, &a->stream, reterr);
	if (r < 0)
		return r;
	a->names = trace_stream_names(a->stream);
	r = recorded_complete(s, &o, trace_stream_names(a->stream), reterr);
	if (r < 0)
		return r;
	trace_sort_events(trace_stream_names(a->stream));	/* of which the calls are there by now */
	a->calls = xcalloc(a->names->functions.cnt + 1, sizeof(*a->calls));
	a->started_ns = now_ns();
	return jobs > 1 ? add_windows_ahead(a, reterr) : add_windows(a, reterr);
}

static int take_whole(struct store *s, struct analysing *a, const struct run *r, struct diag *reterr)
{
	_cleanup_(trace_slices_freep) struct trace_slices *slices = NULL;
	const struct trace_window *w;
	int e = run_trace_read(s, r, &a->trace, reterr);

	if (e < 0)
		return e;
	trace_sort(a->trace);
	a->names = a->trace;
	a->calls = xcalloc(a->trace->functions.cnt + 1, sizeof(*a->calls));
	slices = trace_slices_new(a->trace);
	a->started_ns = now_ns();
	while ((w = trace_slices_next(slices)))
		add_window(a, w);
	return 0;
}

/* All windows of the run; release() in any case. */
static int take_windows(struct store *s, struct analysing *a, const struct run *r, unsigned jobs,
			struct diag *reterr)
{
	_cleanup_(run_parts_release) run_parts parts = { NULL, 0, 0 };
	int e = run_parts_find(s, r, &parts, reterr);

	a->analyzer = analyzer_new();
	a->run = r->number;
	if (e < 0)
		return e;
	if (parts.cnt == 1 && !parts.items[0].tuples && !parts.items[0].kernel) {
		e = take_stream(s, a, parts.items[0].path, jobs, reterr);
		if (e != TRACE_STREAM_UNFIT)
			return e;
		release(a);
		*a = (struct analysing){ .analyzer = analyzer_new(), .run = r->number };
	}
	return take_whole(s, a, r, reterr);
}

/* -ENOENT without a message: there are no such intervals. */
static int finish(struct analysing *a, const struct analyze_options *o, struct findings **ret, struct diag *reterr)
{
	int r = analyzer_finish(a->analyzer, a->names, o, ret);

	if (r == 0 || r == -ENOENT)
		return r;
	diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot keep the times of the intervals in a temporary file: %s",
		 strerror(-r));
	return diag_remedy(reterr, r, "TMPDIR=DIR vprof analyze: DIR has more room than /tmp");
}

static int write_first(struct store *s, const struct run *r, const struct analysing *a, const struct findings *f,
		       struct diag *reterr)
{
	int e = findings_write(s, r->number, f, reterr);

	if (e == 0)
		e = project_add_observed(s, r->number, f, reterr);
	if (e == 0 && !(r->source && strcmp(r->source, "merge") == 0))
		e = planned_count(s, r->number, a->names, a->calls, reterr);
	return e;
}

static int write_others(struct store *s, const struct run *r, struct analysing *a, struct analyze_options *o,
			const struct findings *first, struct diag *reterr)
{
	int e = 0;

	for (size_t i = 0; e == 0 && i < first->interval_names.cnt; i++) {
		_cleanup_(findings_freep) struct findings *f = NULL;

		o->interval = first->interval_names.items[i];
		if (first->interval.name && strcmp(o->interval, first->interval.name) == 0)
			continue;
		e = finish(a, o, &f, reterr);
		if (e == 0)
			e = findings_write(s, r->number, f, reterr);
		else if (e == -ENOENT)
			e = 0;
	}
	return e;
}

static double overhead_of_config(void)
{
	_cleanup_(config_release) struct config config = { 0 };

	return project_config(&config, NULL) == 0 ? config.overhead : 0;
}

static int analyse(struct store *s, struct analysing *a, struct run *r, unsigned jobs, struct findings **ret,
		   struct diag *reterr)
{
	_cleanup_(findings_freep) struct findings *first = NULL;
	struct analyze_options options = { .interval = NULL };
	int e = take_windows(s, a, r, jobs, reterr);

	if (e < 0)
		return e;
	options.overhead = overhead_of_config();
	e = finish(a, &options, &first, reterr);
	if (e == 0)
		e = write_first(s, r, a, first, reterr);
	if (e == 0)
		e = write_others(s, r, a, &options, first, reterr);
	if (e < 0)
		return e;
	r->status = RUN_ANALYSED;
	r->interval_cnt = first->interval.cnt;
	r->lost_records = a->names->losses.records;
	e = run_update(s, r, reterr);
	if (e == 0)
		*ret = TAKE_PTR(first);
	return e;
}

int run_analyze(struct store *s, struct run *r, unsigned jobs, struct findings **ret, struct diag *reterr)
{
	struct analysing a = { .run = r->number };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int e;

	if (jobs == 0)
		jobs = cpus > 1 ? (unsigned)cpus : 1;
	e = analyse(s, &a, r, jobs, ret, reterr);
	release(&a);
	return e;
}

int run_analyze_at(struct store *s, const struct run *r, const char *interval, double quantile,
		   struct findings **ret, struct diag *reterr)
{
	struct analyze_options options = { .interval = interval, .quantile = quantile };
	struct analysing a = { .run = r->number };
	int e = take_windows(s, &a, r, 2, reterr);

	options.overhead = overhead_of_config();
	if (e == 0) {
		e = finish(&a, &options, ret, reterr);
		if (e == -ENOENT)
			e = diag_set(reterr, EXIT_DATA, -EBADMSG, "the trace of run %u does not hold"
				     " intervals '%s' any more", r->number, interval);
	}
	release(&a);
	return e;
}
