/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay_state.h - what replay.c knows between two events, and replay_forget.c between two windows.
 */
#ifndef TRACE_READ_REPLAY_STATE_H
#define TRACE_READ_REPLAY_STATE_H

#include "trace/read/replay.h"

enum {
	LABELS_MAX = 16,		/* as THREAD_LABELS of the runtime */
	FORKS_MAX = 64,
	RANK_MAX = 256			/* intervals of one name and key that are open at once */
};

struct label {
	uint64_t id, key, sid;
};

struct worker {				/* of an interval that is open */
	struct interval interval;
	uint64_t key;
	uint32_t thread;
	uint32_t pid;			/* where it began */
	int64_t stopped_ns;		/* INT64_MAX: still at it */
	int64_t handed_ns;		/* the function that began it returned, if another ends it; INT64_MAX: not */
	bool in_frame;			/* the function that began it ends it */
	bool out_of_sight;		/* its thread's stack of them was full */
	bool is_spent;			/* of nested ones the innermost counts, and that has ended */
	uint64_t older;			/* sid of one of the same name and key that another thread works on; 0: none */
	uint32_t rank;			/* how many of those there were */
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
	struct map *open;		/* hash of (pid, name, key) -> sid of the latest */
	struct map *place_of;		/* sid -> index in workers + 1; 0: it has ended */
	struct map *parents;		/* pid -> of the process that it comes from */
	struct map *tasks;		/* hash of (pid, queue, task) -> index in enqueued + 1 */
	struct { struct label items[LABELS_MAX]; size_t cnt; } *stacks;	/* by thread */
	struct map *unfinished;		/* SIDs, once they are known; NULL: not yet, or none are wanted */
	uint32_t *interval_names;	/* by label: index into t->interval_names, or NAME_NONE */
	VEC(struct worker) workers;	/* those of sid 0 are free */
	VEC(uint32_t) free_places;
	uint64_t sid_cnt;		/* BEGINs, nested ones as well */
	struct map *outermost;		/* nesting.h: BEGINs (their numbers) that are not nested, though they seem so */
	bool learns;			/* ... and it is being filled */
	VEC(struct enqueued) enqueued;
	size_t task_cnt;		/* that were open when the tables were last renewed */
	VEC(struct loss) losses;
	size_t next_pause;		/* of the raw trace's: not over yet */
	bool is_paused;			/* it has begun */
	size_t next_hole;		/* of the raw trace's: not over yet */
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

/* replay_tasks.c: thread handed something over at ns, and thread2 took it up at ns2. */
void replay_add_creation(struct replay *p, uint32_t thread, int64_t ns, uint32_t thread2, int64_t ns2);
void replay_enqueue(struct replay *p, const struct raw_event *e);
void replay_dequeue(struct replay *p, const struct raw_event *e);
void replay_create(struct replay *p, const struct raw_event *e);

/* replay_losses.c: the interval ended, or there are no more events. */
void replay_mark_losses(struct replay *p, struct interval *v);
/* Of the intervals that have ended; the others are looked at as they join the trace. */
void replay_mark_unfinished(struct replay *p);
void replay_end_interval(struct replay *p, struct worker *w, enum interval_status status, uint64_t end_tid,
			 int64_t end_ns);

/*
 * replay_losses.c: the stack of the thread was full, and the interval was the outermost.  It is missed only where the same
 * thread ends it: who hands requests to other threads and never says so has a stack full of those that others go on with.
 */
void replay_lose_sight(struct replay *p, uint64_t sid, uint32_t thread);
void replay_count_lost_sight(struct replay *p, const struct worker *w, uint32_t thread);

/* replay_holes.c: ns is reached, and holes that ended before are past. */
void replay_play_holes(struct replay *p, int64_t ns);
/* What an interval of that label is called was in a damaged block. */
bool replay_lacks_name(const struct replay *p, uint64_t label);
/* Ends whose beginnings may be elsewhere do not: before what was kept, in a pause, in a hole. */
bool replay_counts_strays(const struct replay *p);
void replay_tell_holes(struct replay *p);

#endif
