/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_analysis.c - analyses the trace of a run window by window (run_windows.h).
 *
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
#include "project/config/data_lock.h"
#include "project/config/locate.h"
#include "project/digests/run_digest.h"
#include "project/notices.h"
#include "project/runs/digest_runs.h"
#include "project/runs/project.h"
#include "project/runs/run_windows.h"
#include "project/runs/walked_parts.h"

#define PROGRESS_NS 200000000

enum { AT_ONCE = 64 };			/* kinds of intervals in one transaction */

struct analysing {
	struct analyzer *analyzer;
	const struct trace *names;	/* the windows' */
	struct run_windows *windows;
	struct walked_run walked;	/* in place of windows */
	uint32_t *calls;		/* per function: of all windows */
	uint32_t run;
	int64_t started_ns, told_ns;	/* of the progress line */
	uint64_t looked_cnt;
	bool saves;			/* what later readings can begin with, in the run's directory */
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
	run_windows_free(a->windows);
	walked_run_free(&a->walked);
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

static void tell_progress(struct analysing *a, const char *what, uint64_t done_cnt, uint64_t record_cnt)
{
	int64_t now = now_ns();
	double seconds = (double)(now - a->started_ns) / 1e9;
	double rate = seconds > 0 ? (double)done_cnt / seconds : 0;

	if (now - a->told_ns < PROGRESS_NS || !(rate > 0))
		return;
	a->told_ns = now;
	progress_line("%s run %u: %.0f %%, %.1f million records/s, about %.0f s left", what, a->run,
		      100 * (double)done_cnt / (double)record_cnt, rate / 1e6, (double)(record_cnt - done_cnt) / rate);
}

static void begin(void *arg, const struct trace *names)
{
	struct analysing *a = arg;

	analyzer_free(a->analyzer);
	free(a->calls);
	a->analyzer = analyzer_new();
	a->calls = xcalloc(names->functions.cnt + 1, sizeof(*a->calls));
	a->names = names;
	a->started_ns = now_ns();
}

static void take_window(void *arg, const struct trace_window *w)
{
	struct analysing *a = arg;
	struct analysis_window window = { w->t, w->before_ns, w->until_ns };

	count_calls(a, &window);
	analyzer_add(a->analyzer, &window);
	tell_progress(a, "analysing", w->done_cnt, w->record_cnt);
}

static void tell_part(struct analysing *a, const char *what, uint64_t done_cnt, uint64_t record_cnt)
{
	if (done_cnt < a->looked_cnt)	/* the next part */
		a->started_ns = now_ns();
	a->looked_cnt = done_cnt;
	tell_progress(a, what, done_cnt, record_cnt);
}

static void look(void *arg, uint64_t done_cnt, uint64_t record_cnt)
{
	tell_part(arg, "looking at", done_cnt, record_cnt);
}

static void walk(void *arg, uint64_t done_cnt, uint64_t record_cnt)
{
	tell_part(arg, "analysing a part of", done_cnt, record_cnt);
}

/* Parts of a merged run that were walked before are not walked again.  0, WALKED_UNFIT or an error. */
static int take_walked(struct store *s, struct analysing *a, const struct run *r, unsigned jobs, struct diag *reterr)
{
	int e = walked_run_read(s, r, &(struct walking){ jobs, a->saves, walk, a }, &a->walked, reterr);

	if (e)
		return e;
	a->analyzer = TAKE_PTR(a->walked.analyzer);
	a->calls = TAKE_PTR(a->walked.calls);
	a->names = a->walked.names;
	return 0;
}

/* All windows of the run; release() in any case. */
static int take_windows(struct store *s, struct analysing *a, const struct run *r, unsigned jobs,
			struct diag *reterr)
{
	const struct window_taker taker = { .begin = begin, .take = take_window, .look = look, .arg = a, .saves = a->saves };
	int e;

	a->run = r->number;
	a->started_ns = now_ns();
	e = take_walked(s, a, r, jobs, reterr);
	return e == WALKED_UNFIT ? run_windows_read(s, r, jobs, &taker, &a->windows, reterr) : e;
}

/* The program was built elsewhere, or was rebuilt. */
static void warn_beyond_graph(const struct analysing *a, struct findings *f)
{
	size_t called = 0, beyond = 0;

	for (size_t i = 0; i < a->names->functions.cnt; i++) {
		const struct function *x = &a->names->functions.items[i];

		called += x->registered && a->calls[i];
		beyond += x->beyond_graph && a->calls[i];
	}
	if (beyond)
		findings_warn(f, "call-graph",
			      "the call graph here (%s) does not know %zu of the %zu functions that ran: heights, and so "
			      "the order of factors, are based on the calls in this run; copy vprof.data/vprof.db from where "
			      "the program was built, or use it: vprof -d DIR", data_dir(), beyond, called);
}

/* -ENOENT without a message: there are no such intervals. */
static int finish(struct analysing *a, const struct analyze_options *o, struct findings **ret, struct diag *reterr)
{
	int r = analyzer_finish(a->analyzer, a->names, o, ret);

	if (r == 0)
		warn_beyond_graph(a, *ret);
	if (r == 0 || r == -ENOENT)
		return r;
	diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot keep the times of the intervals in a temporary file: %s",
		 strerror(-r));
	return diag_remedy(reterr, r, "TMPDIR=DIR vprof analyze: DIR has more room than /tmp");
}

static int write_first(struct store *s, const struct run *r, const struct analysing *a, struct findings *f,
		       struct diag *reterr)
{
	int e = findings_write(s, r->number, &f, 1, reterr);

	if (e == 0)
		e = project_add_observed(s, r->number, f, reterr);
	if (e == 0 && !(r->source && strcmp(r->source, "merge") == 0))
		e = planned_count(s, r->number, a->names, a->calls, reterr);
	return e;
}

/* Analyses the kinds from *at on, at most AT_ONCE; there may be none. */
static int take_others(struct analysing *a, struct analyze_options *o, const struct findings *first, size_t *at,
		       struct findings *ret[AT_ONCE], size_t *ret_cnt, struct diag *reterr)
{
	for (; *at < first->interval_names.cnt && *ret_cnt < AT_ONCE; ++*at) {
		int e;

		o->interval = first->interval_names.items[*at];
		if (first->interval.name && strcmp(o->interval, first->interval.name) == 0)
			continue;
		e = finish(a, o, &ret[*ret_cnt], reterr);
		if (e == 0)
			++*ret_cnt;
		else if (e != -ENOENT)
			return e;
	}
	return 0;
}

static int write_others(struct store *s, const struct run *r, struct analysing *a, struct analyze_options *o,
			const struct findings *first, struct diag *reterr)
{
	int e = 0;

	o->no_names = true;
	for (size_t at = 0; e == 0 && at < first->interval_names.cnt; ) {
		struct findings *list[AT_ONCE];
		size_t cnt = 0;

		e = take_others(a, o, first, &at, list, &cnt, reterr);
		if (e == 0 && cnt)
			e = findings_write(s, r->number, list, cnt, reterr);
		while (cnt)
			findings_free(list[--cnt]);
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
	struct analysing a = { .run = r->number, .saves = true };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int e;

	if (jobs == 0)
		jobs = cpus > 1 ? (unsigned)cpus : 1;
	e = data_lock(LOCK_RUN(r->number), reterr);
	if (e < 0)
		return e;
	e = run_is_digest(s, r) ? run_digest_analyze(s, r, ret, reterr) : analyse(s, &a, r, jobs, ret, reterr);
	data_unlock(LOCK_RUN(r->number));
	release(&a);
	return e;
}

static int analyze_again(struct store *s, const struct run *r, struct analyze_options *options, struct findings **ret,
			 struct diag *reterr)
{
	struct analysing a = { .run = r->number };
	int e;

	if (run_is_digest(s, r))
		return options->edges ? run_digest_refuse(r, "this", reterr) :
					run_digest_analyze_at(s, r, options->interval, options->quantile, ret, reterr);
	e = take_windows(s, &a, r, 2, reterr);

	options->overhead = overhead_of_config();
	if (e == 0) {
		e = finish(&a, options, ret, reterr);
		if (e == -ENOENT && r->origin)
			e = diag_set(reterr, EXIT_USAGE, e, "no interval '%s' in run %u is from '%s'", options->interval, r->number, r->origin);
		else if (e == -ENOENT)
			e = diag_set(reterr, EXIT_DATA, -EBADMSG, "the trace of run %u does not hold"
				     " intervals '%s' any more", r->number, options->interval);
	}
	release(&a);
	return e;
}

int run_analyze_at(struct store *s, const struct run *r, const char *interval, double quantile,
		   struct findings **ret, struct diag *reterr)
{
	struct analyze_options options = { .interval = interval, .quantile = quantile };

	return analyze_again(s, r, &options, ret, reterr);
}

int run_analyze_bins(struct store *s, const struct run *r, const char *interval, const int64_t *edges, size_t edge_cnt,
		     struct findings **ret, struct diag *reterr)
{
	struct analyze_options options = { .interval = interval, .edges = edges, .edge_cnt = edge_cnt };

	return analyze_again(s, r, &options, ret, reterr);
}
