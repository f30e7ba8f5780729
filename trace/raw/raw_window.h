/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * raw_window.h - a trace that holds only a part of its run: records outside that part are discarded.
 *
 * Records from before the window, which remain because their chunk was written late, lack the other threads'
 * records of that time.  Records from after a snapshot lack those that were not drained yet.  With a window
 * 100..200:
 *
 *	call 40..90, event at 210	left out
 *	call 60..150, wait 180..230	100..150, 180..200
 *	START of a thread at 3		kept: says who it is, but not that it was there
 */
#ifndef TRACE_RAW_RAW_WINDOW_H
#define TRACE_RAW_RAW_WINDOW_H

#include "trace/raw/raw.h"

struct raw_window {
	int64_t from_ns, until_ns;
};

/* Times must be ns.  False: the event is outside; else it is cut to the window. */
bool raw_window_event(const struct raw_window *w, struct raw_event *e);
bool raw_window_invocation(const struct raw_window *w, struct raw_invocation *v);

#endif
