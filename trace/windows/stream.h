/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stream.h - a recorded trace in windows of time, for traces that are larger than memory.
 *
 *	struct trace_stream *s;
 *	struct trace_window w = { 0 };
 *	r = trace_stream_open(path, &options, &s, &diag);
 *	while (r > 0 && (r = trace_stream_next(s, &w, &diag)) > 0)
 *		... w.t: intervals that ended in (w.before_ns, w.until_ns], and all that they can depend on
 *	trace_window_release(&w);
 *	trace_stream_close(s);
 *
 * The file is read twice: once for an index of its chunks, once in order of time; a trace that was cut off is
 * read in order of time twice.  Each window keeps the past since the oldest open interval began.  Intervals
 * find in it what they would find in the whole trace.  Where that is impossible (TRACE_STREAM_UNFIT) the
 * trace has to be read as a whole: work noted for an interval that has ended, numbers of threads that were
 * given out twice, a pause in the middle; a trace that holds a part of its run or comes in parts; a thread
 * that goes on as another where the kernel saw its number given out again, or begins off the CPU after a loss
 * of the kernel's.
 */
#ifndef TRACE_WINDOWS_STREAM_H
#define TRACE_WINDOWS_STREAM_H

#include <errno.h>
#include "trace/kernel/kernel.h"
#include "trace/read/reader.h"

struct trace_stream;

struct trace_window {
	struct trace *t;		/* sorted; has the names of all windows so far, of devices, not of
					 * threads; functions are the stream's */
	int64_t before_ns, until_ns;
	uint64_t done_cnt, record_cnt;	/* records that were read by then; of all */
};

void trace_window_release(struct trace_window *w);

struct time_span {
	int64_t from_ns, until_ns;
};

#define TRACE_STREAM_UNFIT (-ENOTSUP)

/* 1, TRACE_STREAM_UNFIT without a message, or a negative errno with one. */
int trace_stream_open(const char *path, const struct reader_options *o, struct trace_stream **ret,
		      struct diag *reterr);
void trace_stream_close(struct trace_stream *s);
DEFINE_CLEANUP(struct trace_stream *, trace_stream_close);

/*
 * Before the first window, of a trace without the kernel's side, all of whose windows will be read: notes in the file `saved` what
 * later readings of a part of it can begin with.
 */
void trace_stream_save(struct trace_stream *s, const char *saved);
/* As trace_stream_open() with what was noted: trace_stream_want() then skips what is between.  TRACE_STREAM_UNFIT: nothing was, or
 * not of this trace and these options. */
int trace_stream_open_saved(const char *path, const char *saved, const struct reader_options *o, struct trace_stream **ret);

/*
 * Before the first window: adds the kernel's side of the run; takes k over and zeroes it.  1, or
 * TRACE_STREAM_UNFIT.  Windows have no stacks, which only the views of whole runs look at, and end where what
 * the kernel saw does not depend on what the runtime recorded later (stream_kernel.c).
 */
int trace_stream_kernel(struct trace_stream *s, struct kernel_trace *k);

/*
 * Before the first window: only these stretches of time are asked for.  Windows have what there is of them, and may lack calls that
 * touch none; events are played from the beginning, but calls are most of a trace, and what to make of them is most of the work.
 * An interval inside of a span finds what it would find without.
 */
void trace_stream_want(struct trace_stream *s, const struct time_span *spans, size_t cnt);

/* Names, functions and losses: what trace_read() yields without tuples.  The caller may add to functions and
 * calls before the first window.  All names are there, and losses counted, only after the last window. */
struct trace *trace_stream_names(struct trace_stream *s);

/* 1; 0: no more windows; or as above.  ret: zeroed, or an earlier window, whose memory is used again.  It is
 * not touched by the next call with another one. */
int trace_stream_next(struct trace_stream *s, struct trace_window *ret, struct diag *reterr);

/* The same with a thread that reads one window ahead; windows live until the next call. */
struct trace_ahead;
struct trace_ahead *trace_ahead_new(struct trace_stream *s);
int trace_ahead_next(struct trace_ahead *a, const struct trace_window **ret, struct diag *reterr);
void trace_ahead_free(struct trace_ahead *a);	/* waits for the thread; before trace_stream_close() */
DEFINE_CLEANUP(struct trace_ahead *, trace_ahead_free);

/* The least number of new records in a window, except for the last.  Tests make it small. */
extern size_t trace_stream_records;

#endif
