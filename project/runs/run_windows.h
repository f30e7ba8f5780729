/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_windows.h - the trace of a run in windows of time (trace/windows/stream.h), whatever it consists of.
 *
 *	struct run_windows *windows;
 *	r = run_windows_read(store, run, 2, &(struct window_taker){ .begin = begin, .take = take, .arg = arg }, &windows, &diag);
 *	... what begin() was given is there until
 *	run_windows_free(windows);
 */
#ifndef PROJECT_RUNS_RUN_WINDOWS_H
#define PROJECT_RUNS_RUN_WINDOWS_H

#include "store/store.h"
#include "trace/windows/stream.h"

struct window_taker {
	/* Names of all windows: all functions, texts and losses only after the last one.  Windows follow.  If the
	 * trace turns out to be unfit for windows, it is called again, and everything before is void. */
	void (*begin)(void *arg, const struct trace *names);
	void (*take)(void *arg, const struct trace_window *w);
	/* Progress of the first look at all traces, if the run has several.  May be NULL. */
	void (*look)(void *arg, uint64_t done_cnt, uint64_t record_cnt);
	void *arg;
	/* The stretches of time that are asked for; 0: all.  Windows may lack everything else, and after the last
	 * stretch no more windows come (trace_stream_want()).  Runs that are not read in windows are there as a whole. */
	const struct time_span *spans;
	size_t span_cnt;
	/* All windows are read: later readings of stretches of time need not begin at the beginning (trace_stream_save()). */
	bool saves;
};

struct run_windows;

/* jobs: above 1, a second thread reads. */
int run_windows_read(struct store *s, const struct run *r, unsigned jobs, const struct window_taker *to,
		     struct run_windows **ret, struct diag *reterr);
/* The same of one of its parts. */
struct run_part;
int run_windows_read_part(struct store *s, const struct run_part *part, unsigned jobs, const struct window_taker *to,
			  struct run_windows **ret, struct diag *reterr);
void run_windows_free(struct run_windows *w);		/* NULL is fine */
DEFINE_CLEANUP(struct run_windows *, run_windows_free);

#endif
