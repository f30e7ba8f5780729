/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slices.h - a trace that is in memory, in windows of time like those of stream.h.
 *
 *	struct trace_slices *s = trace_slices_new(t);
 *	while ((w = trace_slices_next(s)))
 *		... w->t: intervals that ended in (w->before_ns, w->until_ns], and all that they can depend on
 *	trace_slices_free(s);
 *
 * The analysis of a window takes a kilobyte or two for each wait in it, and some bytes for each call; so a
 * trace that cannot be read in windows (stream.h) is at least analysed in windows.  A trace with calls that
 * do not nest or segments that overlap is one window: its repair depends on everything before.
 */
#ifndef TRACE_WINDOWS_SLICES_H
#define TRACE_WINDOWS_SLICES_H

#include "trace/windows/stream.h"

struct trace_slices;

/* t is sorted and outlives the slices, which use its names and functions. */
struct trace_slices *trace_slices_new(const struct trace *t);
void trace_slices_free(struct trace_slices *s);
DEFINE_CLEANUP(struct trace_slices *, trace_slices_free);

/* NULL: there are no more.  The window lives until the next call. */
const struct trace_window *trace_slices_next(struct trace_slices *s);

#endif
