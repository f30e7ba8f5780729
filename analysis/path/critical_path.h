/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * critical_path.h - what the latency of one interval consists of (paper, Algorithm 2).
 *
 * The walk goes backward from the interval's end over wake-up and creation edges.  Its
 * pieces are disjoint, in time order, cover (start, end] and sum to the latency exactly.
 */
#ifndef ANALYSIS_PATH_CRITICAL_PATH_H
#define ANALYSIS_PATH_CRITICAL_PATH_H

#include "trace/model.h"

struct timeline;			/* per-thread indexes over a sorted trace */

/* A piece of a wait is charged to the functions around the wait, or to those of the waker (paper, Algorithm 2). */
enum charge { CHARGE_WAITER, CHARGE_WAKER };

/* A folded piece stands for several, which unfold() yields. */
enum fold {
	FOLD_NONE,
	FOLD_WAIT,			/* a wait that another thread ended: what the waker did meanwhile; in a queue: its thread's, that
					 * ended so that the interval was taken up again */
	FOLD_OTHERS,			/* its thread works for others, or has not picked the interval up yet; several
					 * segments, maybe with holes between them */
};

struct piece {				/* 64 bytes, one cache line */
	uint64_t tid;			/* the thread that is charged */
	uint64_t owner_tid;		/* the interval's own thread whose wait this explains; = tid at depth 0 */
	int64_t start_ns, end_ns;
	uint64_t taken_up_tid;		/* of a queue piece: the peer or timer that ended its thread's last wait for files in it, so
					 * that the interval was taken up again; 0: another, or not known */
	size_t wakeup;			/* FOLD_WAIT: what ended the wait, index into the trace's */
	uint32_t depth;			/* wake-ups away from the interval's own thread */
	uint32_t caller;		/* of a wait of the interval's own thread: the caller of the primitive that
					 * blocked (struct segment) */
	enum trace_state state : 8;	/* STATE_RUNNING or a wait class */
	enum trace_state wait : 8;	/* class of the depth-0 wait this piece is part of; STATE_RUNNING if none */
	enum trace_state meanwhile : 8;	/* of a queue piece: the thread's state while it worked for others, or
					 * until it picked the interval up; else STATE_QUEUE */
	enum fold fold : 8;		/* folded: tid is the interval's own thread, depth 0 */
	enum thread_kind device : 8;	/* depth 1 and more, blocked: the device that ended the wait; KIND_THREAD: none */
};

typedef VEC(struct piece) pieces;

/* t must be sorted and outlive the timeline. */
struct timeline *timeline_new(const struct trace *t);
void timeline_free(struct timeline *tl);
DEFINE_CLEANUP(struct timeline *, timeline_free);

/* Fills out (emptied first).  0, or -EBADMSG if an invariant broke: the interval is then
 * left out of the statistics and counted as bad_path. */
int critical_path(const struct timeline *tl, const struct interval *iv, pieces *out);

/* The same with folded pieces: as long as the interval's own threads have segments, however far
 * its waits reach. */
int folded_path(const struct timeline *tl, const struct interval *iv, pieces *out);

/* Appends the pieces that p stands for to out, in order of time.  false: that takes more than limit steps (pieces,
 * and calls within them), and out is unchanged. */
bool unfold(const struct timeline *tl, const struct piece *p, size_t limit, pieces *out);

#endif
