/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay.h - the steps from raw records to tuples; reader.c calls them in this order.
 */
#ifndef TRACE_READ_REPLAY_H
#define TRACE_READ_REPLAY_H

#include "trace/raw/raw.h"
#include "trace/read/reader.h"
#include "trace/archive.h"

struct sid_change {			/* from ns on the thread works on sid */
	int64_t ns;
	uint64_t sid;
};

struct blocked {
	int64_t start_ns, end_ns;
};

/* The thread was back from a wait at end_ns, but could have run from ready_ns on. */
struct off_cpu_wake {
	int64_t end_ns, ready_ns;
};

struct spans {				/* of a thread, by time */
	const struct span *items;	/* trace/read/off_cpu.h */
	size_t cnt;
	const struct off_cpu_wake *wakes;	/* of waits */
	size_t wake_cnt;
};

struct sid_history {
	VEC(struct sid_change) changes;	/* by time; before the first: none */
	bool is_redone;			/* changes since redone_ns are others than an earlier window had */
	int64_t redone_ns;
	VEC(struct blocked) waits;	/* outermost, by time, disjoint */
	VEC(struct blocked) unknown;	/* when it took no part, after a pause of the recording */
};

struct number_meaning {		/* of a function's number: the function, perhaps called from a known place */
	uint32_t function, call_site;
};

struct reading {
	struct raw raw;
	const struct reader_options *options;
	struct trace *t;		/* the trace being built */
	struct sid_history *histories;	/* by thread */
	struct spans *offs;		/* by thread: when it was off the CPU as its records do not tell; NULL: unknown */
	struct number_meaning *meanings;	/* by fid, of raw.functions; in raw.arena */
	int64_t before_ns;		/* windows (stream.h): when the one before ended; else INT64_MIN */
	int64_t until_ns;		/* ... when this one ends; else INT64_MAX */
	bool keeps_ids;			/* of intervals, and remote calls; not if all windows are read: they would be kept for ever */
	bool unfit;			/* an earlier window was not complete: see stream.h */
};

/*
 * Intervals, works, creations and the histories, by replaying all events in order of time, in any number of
 * pieces.  An interval joins the trace when it ends.
 */
struct replay;

struct replay *replay_new(struct reading *rd);	/* all threads and labels are known */
void replay_free(struct replay *p);
/* Stretches in which a thread lost records, for all later events; other events are skipped. */
void replay_losses(struct replay *p, const struct raw_event *events, size_t cnt);
void replay_events(struct replay *p, const struct raw_event *events, size_t cnt);
/* The earliest start of an open interval, else otherwise_ns. */
int64_t replay_oldest(const struct replay *p, int64_t otherwise_ns);
bool replay_is_open(const struct replay *p, uint64_t sid);
/* Forgets intervals that have ended; also the trace's creations before low_ns, and works of intervals that ended. */
void replay_forget(struct replay *p, int64_t low_ns);
/* Adds holes in the records of threads; call it before the other steps (replay_holes.c). */
void reading_add_gaps(struct reading *rd);
/* No more events come: adds the intervals that are still open. */
void replay_end(struct replay *p);
/*
 * SIDs that some thread's stack has after the last event.  In a trace that was cut off these intervals are
 * lost even if they ended: threads that still worked for them did more than the trace shows.
 *
 *	T1 BEGIN, (PAUSE is missing); T2 RESUME, END
 *
 * replay_end() marks them, among those that have not been forgotten; a replay that forgets gets them before
 * its first event, from another replay of the same events.  The caller frees the map;
 * replay_know_unfinished() keeps it.
 */
struct map *replay_unfinished(const struct replay *p);
void replay_know_unfinished(struct replay *p, struct map *sids);

/*
 * BEGINs that only seem nested (nesting.h).  Call learn before the first event; after replay_end() the map
 * goes to another replay of the same events, which keeps it.  replay_reset() discards the results of the
 * first.
 */
void replay_learn_nesting(struct replay *p);
struct map *replay_nesting(struct replay *p);
void replay_know_nesting(struct replay *p, struct map *outermost);
void replay_reset(struct reading *rd);

/* Writes the state between two events, or puts a replay into it (replay_saved.c). */
void replay_save(struct replay *p, struct archive *s);
/* The same for the facts given by replay_know_...(). */
void replay_save_known(struct replay *p, struct archive *s);

/* Segments and wakeups, from waits and histories; adds the waits to the histories.  wakers_known: threads last
 * at least until they woke a thread. */
void build_segments(struct reading *rd, bool wakers_known);

void sid_history_release(struct sid_history *line);
void offs_release(struct reading *rd);

/* Gives each thread a TID of its own. */
void number_threads(struct raw *r);
/* Those of the model; stopped: threads whose end was recorded.  times_out: with the timer, for waits that
 * their own time-out ended. */
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

/* The synchronisations of a run that noted them all (struct sync_op). */
void build_sync_ops(struct reading *rd);

/* Functions and invocations. */
void build_invocations(struct reading *rd);
void build_functions(struct reading *rd, uint32_t last_fid);

/* A call that was logged as an event; false: it is none. */
bool frame_of_event(const struct raw_event *e, struct raw_invocation *ret);

/* Whether a snapshot found the frame open although its call was in a chunk a moment later.  next: the next
 * call of the thread, or NULL. */
bool call_is_twice(const struct raw *r, const struct raw_invocation *v, const struct raw_invocation *next);

/* A thread's calls in order, one by one. */
typedef VEC(int64_t) ends_of_calls;
struct call_line {
	ends_of_calls open_ends_ns;	/* of the calls that are under way, innermost last */
	size_t change, wait;		/* walks through the thread's history */
	uint64_t plain_sid;		/* calls that begin by then belong to that interval, and to no wait */
	int64_t plain_until_ns;		/* INT64_MIN: unknown */
};
/* Back to the history's beginning. */
void call_line_start(struct call_line *l);
/* false: the call is part of a wait and is left out. */
bool call_take(struct call_line *l, const struct reading *rd, const struct raw_invocation *v,
	       struct invocation *ret);
/* The same for as many of v[0 .. cnt - 1] as begin by until_ns and are ordinary, as nearly all are: none of
 * them is left out or call_is_twice().  Returns how many; 0: the next one is for call_take(). */
size_t call_take_plain(struct call_line *l, const struct reading *rd, const struct raw_invocation *v, size_t cnt,
		       int64_t until_ns, struct invocation *ret);
/* The label of a call that began without one: the first change after from_ns. */
uint64_t call_late_sid(const struct sid_history *line, const struct invocation *v, int64_t from_ns);
/* The label of a call that an earlier window had, where the history was changed since (is_redone); what it holds since from_ns is all
 * that there was. */
uint64_t call_redone_sid(const struct sid_history *line, const struct invocation *v, int64_t from_ns);

/* The interval that the thread works on at ns.  at: the walk's place in the history, starts at 0; ns must ascend. */
uint64_t sid_history_at(const struct sid_history *line, size_t *at, int64_t ns);

#endif
