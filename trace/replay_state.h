/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay_state.h - what replay.c knows between two events, and replay_forget.c between two windows.
 */
#ifndef TRACE_REPLAY_STATE_H
#define TRACE_REPLAY_STATE_H

#include "trace/replay.h"

enum {
	LABELS_MAX = 16,		/* as THREAD_LABELS of the runtime */
	FORKS_MAX = 64
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
	uint64_t sid_cnt;
	VEC(struct enqueued) enqueued;
	size_t task_cnt;		/* that were open when the tables were last renewed */
	VEC(struct loss) losses;
	size_t next_pause;		/* of the raw trace's: not over yet */
	bool is_paused;			/* it has begun */
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

#endif
