/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay_state.h - the state of replay.c between two events, and of replay_forget.c between two windows.
 */
#ifndef TRACE_READ_REPLAY_STATE_H
#define TRACE_READ_REPLAY_STATE_H

#include "trace/read/replay.h"

enum {
	LABELS_MAX = 16,		/* equals THREAD_LABELS of the runtime */
	FORKS_MAX = 64,
	RANK_MAX = 256			/* open intervals of one name and key */
};

struct label {
	uint64_t id, key, sid;
	bool left;			/* the thread does not work on it (replay_left.c) */
};

struct worker {				/* of an interval that is open */
	struct interval interval;
	uint64_t key;
	uint32_t thread;
	uint32_t pid;			/* where it began */
	int64_t stopped_ns;		/* INT64_MAX: still working */
	int64_t handed_ns;		/* when the function that began it returned, if another ends it;
					 * INT64_MAX: it did not */
	bool in_frame;			/* the function that began it ends it */
	int64_t polled_ns;		/* when its thread first polled since; INT64_MAX: not yet (replay_left.c) */
	int64_t left_ns;		/* when its loop left it; INT64_MAX: it did not */
	bool out_of_sight;		/* its thread's stack of them was full */
	bool has_ids;
	bool is_spent;			/* the innermost of nested ones counts, and has ended */
	uint64_t older;			/* sid of one of the same name and key that another thread works on; 0: none */
	uint32_t rank;			/* its rank among those */
	VEC(uint64_t) inside;		/* nesting.h */
	uint64_t depth;
};

struct loss {
	int64_t since_ns, until_ns;
};

struct enqueued {
	int64_t ns;
	uint32_t thread;
};

struct replay {
	struct reading *rd;
	struct trace *t;
	struct map *open;		/* hash of (pid, name, key) -> sid of the latest open one */
	struct map *place_of;		/* sid -> index in workers + 1; 0: it has ended */
	struct map *parents;		/* pid -> parent pid */
	struct map *tasks;		/* hash of (pid, queue, task) -> index in enqueued + 1 */
	struct stack { struct label items[LABELS_MAX]; size_t cnt; int64_t idle_ns, waited_ns; uint64_t waited_sid; int64_t poll_end_ns; }
		*stacks;		/* by thread; replay_note_idle(), replay_left.c */
	uint8_t *returns;		/* by label: which events say that a function which begins one returned; bits */
	struct map *loops;		/* hash of (thread, name): its intervals of that name overlap */
	struct map *unfinished;		/* SIDs, once known; NULL: not known yet, or not wanted */
	uint32_t *interval_names;	/* by label: index into t->interval_names, or NAME_NONE */
	VEC(struct worker) workers;	/* items with sid 0 are free */
	VEC(uint32_t) free_places;
	uint64_t sid_cnt;		/* number of BEGINs, nested ones too */
	struct map *outermost;		/* nesting.h: BEGINs (their numbers) that are not nested, though they seem so */
	bool learns;			/* ... which this replay is collecting */
	VEC(struct enqueued) enqueued;
	size_t task_cnt;		/* how many were open when the tables were last rebuilt */
	VEC(struct loss) losses;
	size_t next_pause;		/* index into the raw trace's pauses: the first that is not over */
	bool is_paused;			/* it has begun */
	size_t next_hole;		/* index into the raw trace's holes: the first that is not over */
};

/* NULL: it is not open any more. */
static inline struct worker *find_worker(const struct replay *p, uint64_t sid)
{
	uint64_t place;

	return map_get(p->place_of, sid, &place) && place ? &p->workers.items[place - 1] : NULL;
}

static inline uint64_t interval_hash(uint32_t pid, uint32_t name, uint64_t key)
{
	return hash_u64(hash_u64(hash_u64(0, pid), name), key);
}

static inline uint64_t tid_of(const struct replay *p, uint32_t thread)
{
	return p->rd->raw.threads.items[thread].tid;
}

static inline uint32_t pid_of(const struct replay *p, uint32_t thread)
{
	return p->rd->raw.threads.items[thread].pid;
}

/* replay_tasks.c: thread handed a task over at ns, and thread2 picked it up at ns2. */
void replay_add_creation(struct replay *p, uint32_t thread, int64_t ns, uint32_t thread2, int64_t ns2);
void replay_enqueue(struct replay *p, const struct raw_event *e);
void replay_dequeue(struct replay *p, const struct raw_event *e);
void replay_create(struct replay *p, const struct raw_event *e);

/* replay_tasks.c: e is perhaps a wait in which the thread, which works on sid, is ready for the next interval. */
/* Until when the thread was idle, as an interval begins on it; 0: not known. */
int64_t replay_idle_ns(const struct replay *p, uint32_t thread);
void replay_note_idle(struct replay *p, const struct raw_event *e, uint64_t sid);

/* replay_left.c: e is a wait. */
void replay_note_poll(struct replay *p, const struct raw_event *e);
/* The function that began an interval of that label returns: e is HANDED or LEAVE. */
void replay_note_return(struct replay *p, const struct raw_event *e, struct worker *w);
/* The thread turns to the interval sid of that name; it does not work on others. */
void replay_turn_to(struct replay *p, const struct raw_event *e, uint32_t name, uint64_t sid);
/* It ends w, or begins it once more: takes it up if it has left it. */
void replay_take_up(struct replay *p, const struct raw_event *e, struct worker *w);
/* The interval that the thread works on. */
static inline uint64_t replay_top_sid(const struct stack *s)
{
	for (size_t i = s->cnt; i-- > 0; )
		if (!s->items[i].left)
			return s->items[i].sid;
	return SID_NONE;
}

/* replay_forget.c: rebuild the tables, of intervals and of tasks, with the open entries only. */
void replay_renew_tables(struct replay *p);
void replay_renew_tasks(struct replay *p);

/* replay_losses.c: called when the interval ends, or when no more events come. */
void replay_mark_losses(struct replay *p, struct interval *v);
/* For intervals that have ended; the others are checked when they join the trace. */
void replay_mark_unfinished(struct replay *p);

/* replay_intervals.c: ends the interval and adds it to the trace; forgets its worker. */
void replay_end_interval(struct replay *p, struct worker *w, enum interval_status status, uint64_t end_tid,
			 int64_t end_ns);

/*
 * replay_losses.c: the stack of the thread was full, and the interval was the outermost.  Only an interval
 * that the same thread ends counts as missed: a thread that hands requests to other threads without saying so
 * has a stack full of intervals that others continue.
 */
void replay_lose_sight(struct replay *p, uint64_t sid, uint32_t thread);
void replay_count_lost_sight(struct replay *p, const struct worker *w, uint32_t thread);

/* replay_holes.c: ns is reached; drops the holes that ended before. */
void replay_play_holes(struct replay *p, int64_t ns);
/* Whether the name of that label was in a damaged block. */
bool replay_lacks_name(const struct replay *p, uint64_t label);
/* Whether ends without a beginning count; not if their beginnings may lie before the window, in a pause, or
 * in a hole. */
bool replay_counts_strays(const struct replay *p);

#endif
