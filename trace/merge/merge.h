/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * merge.h - several traces as one: vprof merge.
 *
 * All that is in the parts, in a new trace that shares nothing with them; an interval's origin is the number of its part.
 * Functions are the same where name, file and line are.  Threads and intervals of different parts are different: a TID or SID that an earlier part
 * has, too, gets a number that no part has.  Times stay: intervals are in the order of their start.
 */
#ifndef TRACE_MERGE_MERGE_H
#define TRACE_MERGE_MERGE_H

#include "trace/archive.h"
#include "trace/model.h"

struct trace *traces_merge(struct trace *const *parts, size_t cnt);
/* The same without those left out, under the numbers that they would have with them. */
struct trace *traces_merge_some(struct trace *const *parts, const bool *left_out, size_t cnt);

/*
 * The same for parts that come in windows (trace/windows/stream.h), each of which is read twice:
 *
 *	m = trace_merger_new(2);
 *	every window of part 0:		trace_merger_look(m, 0, window)
 *					trace_merger_names(m, 0, names)
 *	... of part 1:			the same
 *	trace_merger_settle(m)
 *	every window of part 0, of 1:	trace_merger_add(m, part, window, to)
 *	trace_merger_trace(m)		names, functions, threads and losses of all; no tuples
 */
struct trace_merger;

struct trace_merger *trace_merger_new(size_t part_cnt);
void trace_merger_free(struct trace_merger *m);		/* NULL is fine */
DEFINE_CLEANUP(struct trace_merger *, trace_merger_free);

/* Which TIDs and SIDs are in it. */
void trace_merger_look(struct trace_merger *m, size_t part, const struct trace *t);
/* All windows of the part that were looked at. */
void trace_merger_forget(struct trace_merger *m, size_t part);
/* Writes what was looked at, or reads it instead of a look. */
void trace_merger_archive(struct trace_merger *m, size_t part, struct archive *a);
/* Adds everything outside the windows: functions, calls, names of threads, losses.  Call it once, after the
 * last window. */
void trace_merger_names(struct trace_merger *m, size_t part, const struct trace *names);
/* Instead of that, of a part whose windows are looked at and not added: only the numbers of its threads. */
void trace_merger_see_threads(struct trace_merger *m, size_t part, const struct trace *names);
/* Assigns the numbers; call it after every window was looked at. */
void trace_merger_settle(struct trace_merger *m);
/* Whether sums over all intervals looked at are exact, however many windows they come in (squares_fit()). */
bool trace_merger_sums_fit(const struct trace_merger *m);

/* The tuples of t under the numbers of all, not sorted; to has no names of its own. */
void trace_merger_add(struct trace_merger *m, size_t part, const struct trace *t, struct trace *to);

/* The merger's numbers of a part's names: [its own].  After trace_merger_names(), until the merger goes. */
struct merged_numbers {
	const uint32_t *functions, *interval_names, *call_sites, *work_names;
};
struct merged_numbers trace_merger_numbers(const struct trace_merger *m, size_t part);
/* ... and of its threads and intervals, after trace_merger_settle(): callbacks, whose arg is a struct merger_part. */
struct merger_part {
	const struct trace_merger *merger;
	size_t part;
};
uint64_t merger_part_tid(const void *arg, uint64_t tid);
uint64_t merger_part_sid(const void *arg, uint64_t sid);

/* Belongs to the merger. */
struct trace *trace_merger_trace(struct trace_merger *m);

#endif
