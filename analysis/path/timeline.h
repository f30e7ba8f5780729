/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * timeline.h - what each thread did, indexed for looking back in time.
 *
 * Private to analysis/; others use critical_path.h.  Threads are numbered from 0; an unrecorded tid has no number
 * (THREAD_NONE).
 */
#ifndef ANALYSIS_PATH_TIMELINE_H
#define ANALYSIS_PATH_TIMELINE_H

#include "analysis/path/critical_path.h"

#define THREAD_NONE UINT32_MAX
#define INVOCATION_NONE UINT32_MAX
#define SEGMENT_NONE SIZE_MAX

struct index_range {				/* of indexes: first, first + 1, ... first + cnt - 1 */
	size_t first, cnt;
};

struct thread_line {
	uint64_t tid;
	enum thread_kind kind;
	uint32_t function;			/* of a peer (trace/peers.h) */
	struct index_range segments;		/* of timeline.segments */
	struct index_range invocations, wakeups, creations;	/* of the trace's arrays; creations into it */
};

struct hints {				/* of a thread: its last answers, within its ranges */
	size_t segment, invocation, wakeup, creation;
};

#define RECENT_THREADS 256

struct recent_thread {
	uint64_t tid;
	uint32_t number;		/* of the thread, plus one; 0: nothing yet */
};

struct timeline {
	const struct trace *trace;
	VEC(struct thread_line) threads;
	struct map *thread_of_tid;	/* tid -> number */
	struct segment *segments;	/* the trace's, without empty ones, none overlapping */
	uint32_t *parents;		/* of each invocation: the one around it, or INVOCATION_NONE */
	int64_t *ends_ns;		/* of each invocation: never after its parent's */
	uint64_t clamped;		/* number of spans that had to be cut for this; 0 in an honest trace */

	/* Scratch space of the walks, kept here so that an interval allocates nothing. */
	int64_t *following_ns;		/* per segment: the wake-up now being explained, or -1 */
	uint64_t *used_in_walk;		/* per creation: the last walk that followed it */
	uint64_t *walk_no;		/* of the walk going on */
	struct hints *hints;		/* by thread */
	struct recent_thread *recent;	/* answers of thread_of_tid, by the low bits of the tid */
	struct sid_index *sid_index;	/* segments by thread and sid; made when first needed */
};

/* Blocked until some thread or device wakes it. */
static inline bool state_has_waker(enum trace_state state)
{
	return state != STATE_RUNNING && state != STATE_QUEUE && state != STATE_RUNNABLE;
}

/* The state, for a request, of its thread in a segment of another's, or nobody's.  folded: the state of the piece around it. */
static inline enum trace_state others_state(enum trace_state folded, const struct segment *s)
{
	bool is_others = s && s->sid != SID_NONE;

	if (folded == STATE_QUEUE || folded == STATE_HANDED_OVER)
		return folded;
	if (is_others)
		return STATE_BUSY;
	return folded == STATE_ARRIVED ? STATE_ARRIVED : STATE_PARKED;
}

/* The same, for one that is not among the recent ones. */
uint32_t timeline_find_thread(const struct timeline *tl, uint64_t tid);

static inline uint32_t timeline_thread(const struct timeline *tl, uint64_t tid)
{
	const struct recent_thread *r = &tl->recent[tid & (RECENT_THREADS - 1)];

	return r->tid == tid && r->number ? r->number - 1 : timeline_find_thread(tl, tid);
}

/* KIND_THREAD also if it is not recorded. */
static inline enum thread_kind timeline_kind(const struct timeline *tl, uint64_t tid)
{
	uint32_t thread = timeline_thread(tl, tid);

	return thread == THREAD_NONE ? KIND_THREAD : tl->threads.items[thread].kind;
}

/* It needs no records: it is what its waits are for, until they end. */
bool timeline_is_outside(const struct timeline *tl, uint64_t tid);

/* The last segment of the thread that begins before at_ns, or SEGMENT_NONE. */
size_t timeline_segment_before(const struct timeline *tl, uint32_t thread, int64_t at_ns);

/* The first of the segments, ending with that one and without a hole, that are not for sid; none
 * that ends before floor_ns. */
size_t timeline_others_first(const struct timeline *tl, uint32_t thread, size_t segment,
			     uint64_t sid, int64_t floor_ns);

/* The latest wake-up of the thread in (after_ns, until_ns], or NULL.  One by the thread itself is none. */
const struct wakeup *timeline_wakeup(const struct timeline *tl, uint32_t thread, int64_t after_ns,
				     int64_t until_ns);

/*
 * Whether the waker's own activity before k says more than the wait itself.  A device executes no function, and a
 * waker without a segment at that moment has no records.
 */
bool timeline_explains(const struct timeline *tl, const struct wakeup *k);

/* How many creations into the thread have time2_ns <= until_ns: those come first in its range. */
size_t timeline_creations_until(const struct timeline *tl, uint32_t thread, int64_t until_ns);

/*
 * Cuts (start, end] of a thread where its innermost function changes:
 *
 *	struct stack_walk w;
 *	for (stack_walk_init(&w, tl, tid, start_ns, end_ns); stack_walk_next(&w); )
 *		... w.from_ns, w.to_ns, w.innermost (INVOCATION_NONE: no function open)
 */
struct stack_walk {
	int64_t from_ns, to_ns;		/* the stretch yielded */
	uint32_t innermost;
	/* private */
	const struct timeline *tl;
	int64_t end_ns;
	size_t next, stop;		/* invocations of the thread that have not begun yet, all of them */
};

void stack_walk_init(struct stack_walk *w, const struct timeline *tl, uint64_t tid,
		     int64_t start_ns, int64_t end_ns);
bool stack_walk_next(struct stack_walk *w);

/* The last invocation of the thread that begins before that moment, whether it has ended or not; or INVOCATION_NONE.  hint: of a series of
 * moments, each near the one before. */
uint32_t timeline_last_begun(const struct timeline *tl, uint64_t tid, int64_t before_ns, size_t *hint);

/* Turns round those from the first on. */
void pieces_reverse(pieces *out, size_t first);

/* The invocations of the thread that begin in [start, end). */
struct index_range timeline_started(const struct timeline *tl, uint64_t tid, int64_t start_ns,
			      int64_t end_ns);

#endif
