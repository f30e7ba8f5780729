/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stitch.h - the runs of several hosts as one: in the place of a wait for another service stands what was done there.
 *
 * An interval is a part of another one if its parent's span is the span of a call that the other one made, or that interval's own
 * span.  Its functions and waits, with those that it waited for, take the place of the caller's wait, below a function with the name
 * of the interval there; what is left of the wait is the network's time.
 *
 *	front, its clock	request 0..100, calls span 7 at 10, waits for a file or socket 12..90
 *	back, its clock		serve 1020..1080, parent 7, runs 1020..1030, waits for a lock 1030..1080
 *	stitched		request 0..100: runs 0..12, io 12..21, serve@back 21..81 (runs 21..31, lock 31..81), io 81..90, runs 90..100
 *
 * How long the parts take depends on one clock each.  Where in the wait they lie depends on how far the clocks are apart, and that is
 * bounded by causes: a call is sent before it arrives, an answer before it arrives (clock.h).  Times that contradict this are not believed.
 *
 * Every function is named FUNCTION@HOST.
 */
#ifndef TRACE_STITCH_STITCH_H
#define TRACE_STITCH_STITCH_H

#include "trace/model.h"

/* How far the clock of callee is ahead of caller's. */
struct stitched_clocks {
	size_t caller, callee;		/* indexes of the runs */
	size_t call_cnt;		/* that bound it */
	int64_t ahead_ns;		/* at the first call */
	int64_t width_ns;		/* of what is possible, at one time */
	double drift;			/* it gains so much; ns a ns */
};

struct stitched {
	uint64_t joined, wrong;		/* remote intervals; those that cannot be what their ids say */
	uint64_t uncalled;		/* have a parent that no run has */
	uint64_t left_out;		/* intervals that are only remote ones and have no caller here */
	VEC(struct stitched_clocks) clocks;
};

/*
 * hosts: of each run, different from each other and without '@'.  Changes the parts' functions.  Returns NULL if no interval is a
 * remote part of another one; *ret is set in any case.  The caller releases ret->clocks.
 */
struct trace *stitch(struct trace *const *parts, const char *const *hosts, size_t cnt, struct stitched *ret);

#endif
