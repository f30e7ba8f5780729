/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slices.h - the calls and waits of the threads during some intervals, nested, for formats that draw threads.  Private to
 * cmd/formats/.
 *
 * Beside what threads did for these intervals it is, if wanted, what they did for none at that time, in functions: a thread that flushes
 * a log for all holds the lock that requests wait for.
 */
#ifndef CMD_FORMATS_PIECES_SLICES_H
#define CMD_FORMATS_PIECES_SLICES_H

#include "base/alloc.h"
#include "cmd/formats/export_given.h"

#define SLICE_NONE SIZE_MAX

struct slice {
	uint64_t tid, sid;
	int64_t start_ns, end_ns;
	bool is_wait;
	enum trace_state wait;
	uint32_t function;		/* number in the trace; not set for a wait */
	uint32_t order;
	size_t around;			/* the call around it on the same thread, or SLICE_NONE */
	size_t parent;			/* the innermost around it for the same interval, or SLICE_NONE */
	size_t waker;			/* of a wait: the slice in which the waking thread was, or SLICE_NONE */
	bool has_waker;			/* of a wait: another thread ended it */
	uint64_t waker_tid;		/* then: that thread, which may have no slice */
	int64_t wake_ns;		/* and when */
};
/* By thread and start, outer slices first.  The slices of a thread nest: a wait that reaches beyond a call is cut in two. */
typedef VEC(struct slice) slices;

void slices_read(const struct export_input *in, bool with_rest, slices *ret);	/* with_rest: sid may be SID_NONE */
const char *slice_name(const struct trace *t, const struct slice *s);	/* "log_append", "lock wait" */
uint64_t thread_pid(const struct trace *t, uint64_t tid);	/* 1 if it is not known */

#endif
