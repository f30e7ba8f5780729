/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain.h - private to drainer/: how records get into the trace file.
 */
#ifndef DRAINER_DRAIN_H
#define DRAINER_DRAIN_H

#include "drainer/accounts.h"
#include "drainer/budget.h"
#include "drainer/contents.h"
#include "drainer/cpu_users.h"
#include "drainer/drainer.h"
#include "drainer/experiments.h"
#include "drainer/objects.h"
#include "drainer/ring.h"
#include "runtime/shared/arena.h"
#include "trace/encode.h"
#include "trace/file.h"
#include "trace/format.h"

struct drain_pause {			/* in ticks; until 0: it goes on */
	uint64_t from, until;
};

struct drain_anchor {
	uint64_t ticks, mono, real;
};

struct drainer {
	struct trace_file file;
	struct arena_map arena;
	size_t arena_bytes;
	char *drained;			/* by drain_left: a byte for each chunk, set if it was drained with
					 * its thread */
	int arena_fd;			/* locked while this process lives: an unlocked file may be removed */
	struct drainer_waits waits;	/* experiments; table NULL: none, and no fd */
	int inherited_fd;		/* a second open file of it, for the command; -1: none */
	char arena_dir[4000];
	char arena_path[4096], env[4096 + sizeof(ARENA_ENV) + 1];
	struct encoder records;		/* a block of chunks */
	uint32_t emptied_cnt;		/* full chunks emptied, in this turn or the last one */
	uint32_t hurry_cnt;		/* with more than that there is no time to compress; 0: the program is
					 * not running */
	uint64_t record_cnt;		/* in records; the earliest and the latest of them (ticks) */
	uint64_t record_since, record_until;
	uint64_t record_losses, record_lost;	/* of these, LOSS events, and the number of records that those report */
	uint64_t dropped_cnt, dropped_since, dropped_until;	/* records for which the file had no room */
	uint64_t dropped_lost;		/* lost records that the dropped LOSS events reported */
	struct contents contents;
	VEC(struct drain_anchor) anchors;	/* the last thousands of them */
	struct encoder table;
	uint32_t functions_written, labels_written;
	uint64_t dropped_written[TRACE_TABLE_CNT];
	struct drainer_stats stats;
	char *trace_path;
	uint64_t limit_bytes;
	const struct drainer_requests *requests;
	struct ring ring;
	uint64_t over_ticks;		/* ends of intervals after this are not recorded, as calls may be missing; 0: not yet */
	bool is_head;			/* a snapshot: the same records will be drained again */
	struct budget budget;
	struct accounts accounts;
	struct cpu_users cpu_users;
	const pid_t *watched;		/* the pids of struct drainer_options */
	size_t watched_cnt;
	VEC(struct drain_pause) pauses;	/* all pauses of the run */
	void (*look)(void *arg, struct drainer *d, pid_t child);	/* as in struct drainer_options */
	void *look_arg;
	void (*nobody)(void *arg, pid_t child, const char *arena_path);
	void *nobody_arg;
	void (*turn)(void *arg, struct drainer *d);	/* the same */
	void *turn_arg;
	pid_t child;			/* 0: not yet */
	bool has_ended;			/* the child: no part of the trace goes any more */
	const struct drainer_experiments *experiments;	/* NULL: none */
	uint16_t *looked;		/* by experiments.c: words of each chunk that were looked at */
	struct drain_objects objects;
	void (*name_objects)(void *arg, struct drainer *d);	/* as in struct drainer_options */
	void *name_arg;
	uint64_t own_serial;		/* of what it logs itself */
	struct drainer_block block;	/* in force */
	uint64_t resume_ns;		/* CLOCK_MONOTONIC; 0: only on request */
};

/* new_arena.c: 0 or a negative errno */
int drain_make_arena(struct drainer *d, const struct drainer_options *o);
void drain_leave_arena(struct drainer *d);	/* marks it as abandoned */
void drain_remove_arena(struct drainer *d);	/* the file; processes that map it keep it */

/* new_arena.c: marks an arena without a drainer as abandoned, so that its processes notice; false: it has a drainer. */
bool drain_give_up(const char *path);

/* new_arena.c: whether there is memory for all functions and names that were added. */
bool drain_has_tables(const struct drainer *d);

/* new_arena.c: takes over an arena whose drainer was killed.  -ENOENT: it is not there any more; -EBUSY: it has a
 * drainer; -EBADMSG: it is no arena, or not ours. */
int drain_take_over(struct drainer *d, const char *path);

/* drainer.c */
struct drainer *drain_new(const char *trace_path);	/* no files yet; NULL: no memory */
void drain_free(struct drainer *d);	/* also removes the arena */

/* tables.c */
uint32_t drain_function_cnt(const struct drainer *d);	/* those that are recorded; not the places that call them */
void drain_tables(struct drainer *d);	/* writes functions and labels that are new */
void drain_anchor(struct drainer *d, bool last);
void drain_anchors(struct drainer *d);	/* writes all of them again: if a block with some is missing, times
					 * remain the same */
void drain_end(struct drainer *d);

/* pauses.c */
void drain_pauses(struct drainer *d);	/* writes all pauses into the file */
void drain_pauses_start(struct drainer *d, const struct drainer_options *o);
void drain_pauses_turn(struct drainer *d, uint64_t now_ns);	/* resumes, if it is time */

/* drain.c */
uint32_t drain_full(struct drainer *d);	/* drains all full chunks; returns how many */
void drain_dead(struct drainer *d);	/* drains chunks of ended processes */
void drain_live(struct drainer *d);	/* drains chunks that threads are filling; they keep them */
void drain_event(struct drainer *d, uint64_t serial, uint32_t pid, uint32_t tid, enum trace_event kind,
		 uint64_t ticks, const uint64_t *words);
/*
 * All remaining chunks, at the end; threads may go on recording meanwhile.  drain_left: from another drainer's
 * arena, without returning chunks.
 */
void drain_rest(struct drainer *d);
void drain_left(struct drainer *d);
void drain_flush(struct drainer *d);	/* writes what was collected into the file */

#endif
