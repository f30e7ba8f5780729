/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay.h - the steps from raw records to tuples; reader.c calls them in this order.
 */
#ifndef TRACE_READ_REPLAY_H
#define TRACE_READ_REPLAY_H

#include "trace/raw/raw.h"
#include "trace/read/reader.h"

struct sid_change {			/* from ns on the thread works on sid */
	int64_t ns;
	uint64_t sid;
};

struct blocked {
	int64_t start_ns, end_ns;
};

struct spans {				/* of a thread, by time */
	const struct span *items;	/* trace/read/off_cpu.h */
	size_t cnt;
};

struct timeline {
	VEC(struct sid_change) changes;	/* by time; before the first: none */
	VEC(struct blocked) waits;	/* outermost, by time, disjoint */
	VEC(struct blocked) unknown;	/* when it took no part, after a pause of the recording */
};

struct reading {
	struct raw raw;
	const struct reader_options *options;
	struct trace *t;		/* what is being made */
	struct timeline *timelines;	/* by thread */
	struct spans *offs;		/* by thread: off the CPU outside of waits; NULL: nobody was, as far as is known */
	int64_t before_ns;		/* windows (stream.h): an earlier one ended then; else INT64_MIN */
	int64_t until_ns;		/* ... this one ends; else INT64_MAX */
	bool unfit;			/* what an earlier window was told was not all: see stream.h */
};

/*
 * Intervals, works, creations and the timelines, by playing all events in order of time: any number of pieces
 * of them, one after the other.  An interval joins the trace when it ends.
 */
struct replay;

struct replay *replay_new(struct reading *rd);	/* all threads and labels are known */
void replay_free(struct replay *p);
/* Stretches in which anybody lost records, of all events to come; others are passed over. */
void replay_losses(struct replay *p, const struct raw_event *events, size_t cnt);
void replay_events(struct replay *p, const struct raw_event *events, size_t cnt);
/* The earliest start of an interval that is open, else otherwise_ns. */
int64_t replay_oldest(const struct replay *p, int64_t otherwise_ns);
bool replay_is_open(const struct replay *p, uint64_t sid);
/* Forgets what has ended; the trace's creations before low_ns, works of intervals that ended, too. */
void replay_forget(struct replay *p, int64_t low_ns);
/* Holes in what is known of threads, before anything else is (replay_holes.c). */
void reading_add_gaps(struct reading *rd);
/* No more events: adds what is still open. */
void replay_end(struct replay *p);
/*
 * SIDs that some thread's stack has after the last event.  In a trace that was cut off these intervals are lost, also
 * where they ended: who was still at work did more for them than is there.
 *
 *	T1 BEGIN, (PAUSE is missing); T2 RESUME, END
 *
 * replay_end() marks them, among those that have not been forgotten; a replay that forgets is told them before its
 * first event, from another one of the same events.  The caller frees the map; know_unfinished() takes it.
 */
struct map *replay_unfinished(const struct replay *p);
void replay_know_unfinished(struct replay *p, struct map *sids);

/*
 * Which BEGINs only seem nested (nesting.h).  learn: before the first event; the map, after replay_end(), is for another
 * replay of the same events, which takes it.  replay_reset(): what the first one has made goes.
 */
void replay_learn_nesting(struct replay *p);
struct map *replay_nesting(struct replay *p);
void replay_know_nesting(struct replay *p, struct map *outermost);
void replay_reset(struct reading *rd);

/* Segments and wakeups, from waits and timelines; adds the waits to the timelines.  wakers_known: threads last
 * at least until they woke somebody. */
void build_segments(struct reading *rd, bool wakers_known);

void timeline_release(struct timeline *line);
void offs_release(struct reading *rd);

/* Gives each thread a TID of its own. */
void number_threads(struct raw *r);
/* Those of the model; stopped: their end was recorded.  times_out: with the timer, for waits that their own time-out ended. */
void add_threads(struct reading *rd, const bool *stopped, bool times_out);
static inline bool wait_times_out(enum trace_event kind, uint64_t start, const uint64_t *words)
{
	return kind == EVENT_WAIT && words[0] > start && words[3] == WAKER_TIME_OUT;
}
/* Up to 16 bytes, or NULL: the event names no thread. */
static inline const char *thread_name_of_event(enum trace_event kind, const uint64_t *words)
{
	const uint64_t *name = kind == EVENT_START ? &words[1] : &words[0];

	return (kind == EVENT_START || kind == EVENT_STOP) && *name ? (const char *)name : NULL;
}

/* Functions and invocations. */
void build_invocations(struct reading *rd);
void build_functions(struct reading *rd, uint32_t last_fid);

/* A call that is an event; false: it is none. */
bool frame_of_event(const struct raw_event *e, struct raw_invocation *ret);

/* A snapshot found the frame open, and its call in a chunk a moment later.  next: of the thread, or NULL. */
bool call_is_twice(const struct raw *r, const struct raw_invocation *v, const struct raw_invocation *next);

/* A thread's calls in order, one by one. */
typedef VEC(int64_t) ends_of_calls;
struct call_line {
	ends_of_calls open_ends_ns;	/* of the calls that are under way, innermost last */
	size_t change, wait;		/* walks through the thread's timeline */
	uint64_t plain_sid;		/* calls that begin by then are of that interval, and in no wait */
	int64_t plain_until_ns;		/* INT64_MIN: that is not known */
};
/* Back to the timeline's beginning. */
void call_line_start(struct call_line *l);
/* false: it is part of a wait, and left out. */
bool call_take(struct call_line *l, const struct reading *rd, const struct raw_invocation *v,
	       struct invocation *ret);
/* The same of as many of v[0 .. cnt - 1] as begin by until_ns and have nothing special about them, as nearly all: none of
 * these is left out, nor call_is_twice().  Returns how many; 0: the next one is for call_take(). */
size_t call_take_plain(struct call_line *l, const struct reading *rd, const struct raw_invocation *v, size_t cnt,
		       int64_t until_ns, struct invocation *ret);
/* Its label, if that only shows now: the first change after from_ns, where it began without one. */
uint64_t call_late_sid(const struct timeline *line, const struct invocation *v, int64_t from_ns);

/* What the thread works on at ns; at: a walk's place in the timeline, starts at 0, ns ascending. */
uint64_t timeline_sid(const struct timeline *line, size_t *at, int64_t ns);

#endif
