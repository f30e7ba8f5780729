/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stitching.h - the state of stitch.c, and its steps.  Private to trace/stitch/.
 */
#ifndef TRACE_STITCH_STITCHING_H
#define TRACE_STITCH_STITCHING_H

#include "base/map.h"
#include "trace/stitch/stitch.h"

struct remote {				/* an interval that another one called */
	size_t callee, caller;		/* indexes of intervals */
	size_t callee_run, caller_run;
	uint64_t group;			/* calls between which the caller did not wait have the same waits, and this number; unique */
	int64_t called_ns, answered_ns;	/* of the caller's clock: the call is not before, its answer not later */
	size_t first_wait, wait_cnt;	/* of the group: into stitching.waits */
	int64_t low_ns, high_ns;	/* the callee's clock is ahead by low to high */
	int64_t ahead_ns;
	bool wrong;
};

struct explained {			/* a wait, by segment, of which a part is a remote interval's time */
	size_t remote;
	int64_t from_ns, until_ns;	/* of the waiting thread's clock */
};

struct clock_knot {			/* the callee's clock is ahead by ahead_ns at callee_ns */
	double callee_ns, ahead_ns;
};

struct clock_line {			/* between two runs: knots in order of time, straight between them */
	size_t caller, callee;
	VEC(struct clock_knot) knots;
	double slope;			/* before the first and after the last */
};

struct run_clock {			/* how a run's times become the root's */
	bool known;
	size_t line;			/* by that line ... */
	bool is_caller;			/* ... of which it is the caller; else the callee */
	size_t via;			/* ... the times of this run, and so on; itself: it is a root */
};

struct stitching {
	struct trace *t;		/* all runs, sorted */
	size_t run_cnt;
	const char *const *hosts;
	struct map *run_of_tid, *run_of_sid, *interval_of;	/* number + 1; sid -> index + 1 */
	VEC(size_t) waits;		/* indexes of segments */
	VEC(struct remote) remotes;
	struct map *remote_of;		/* index of an interval -> index of the remote + 1 */
	struct map *explained_of;	/* index of a segment -> index + 1 */
	VEC(struct explained) explained;
	VEC(struct clock_line) lines;
	struct run_clock *clocks;	/* by run */
	uint32_t *frame;		/* by interval name and run: function of its name there + 1 */
	struct trace *out;
	struct stitched *ret;
};

/* join.c: finds the remote intervals, and their callers' waits. */
void stitch_join(struct stitching *s);
/* clock.c: bounds the clocks, marks what is wrong; a way from each run's times to those of a root. */
void stitch_clocks(struct stitching *s);
int64_t stitch_time(const struct stitching *s, size_t run, int64_t ns);
/* explain.c: which remote interval ended which wait. */
void stitch_explain(struct stitching *s);
/* write.c: the stitched trace. */
void stitch_write(struct stitching *s);

/* The latest wake-up of tid in (start, end]; else end. */
int64_t stitch_woken(const struct trace *t, uint64_t tid, int64_t start_ns, int64_t end_ns, const struct wakeup **ret);

static inline size_t stitch_run_of(const struct map *runs, uint64_t number)
{
	uint64_t run;

	return map_get(runs, number, &run) ? (size_t)run - 1 : 0;
}

#endif
