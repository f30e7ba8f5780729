/* SPDX-License-Identifier: Apache-2.0 */
/*
 * experiments.h - the drainer's part in causal experiments: what is asked of the program, and what is heard of it while it
 * runs.
 *
 *	struct drainer_experiments x = { targets, 2, ..., turn, take, arg };	in struct drainer_options
 *	turn(arg, d, now_ns)		now and then, each few ms
 *		drainer_block_set(d, &(struct drainer_block){ .number = 1, .target = 0, .speed = 500, ... })
 *		drainer_block_phase(d, BLOCK_OPEN) ...
 *		drainer_look(d)		take(arg, ...) gets what intervals began and ended until now
 *
 * Without it an event is seen when its chunk is full, which a thread that logs little may take minutes for.
 */
#ifndef DRAINER_EXPERIMENTS_H
#define DRAINER_EXPERIMENTS_H

#include "drainer/drainer.h"
#include "runtime/shared/arena.h"
#include "trace/format.h"

struct drainer_target {
	enum experiment_kind kind;
	uint32_t disk;			/* EXPERIMENT_DEVICE: as in runtime/shared/device_wait.h */
	const uint64_t *keys;		/* its functions */
	size_t key_cnt;
};

/* The kernel recorder's table of waits for disks; kept until drainer_close().  Processes inherit fd, a descriptor of the table. */
struct drainer_waits {
	const struct device_wait *table;
	uint64_t number;
	int fd;
	void (*await)(void *arg, uint32_t disk);	/* for which disk waits count from now on */
	void *arg;
};

/* Before the command begins.  0 or a negative errno. */
int drainer_use_waits(struct drainer *d, const struct drainer_waits *w);

struct drainer_block {
	uint32_t number, round;
	uint32_t target, speed;		/* index; per mille, 0: the baseline, which costs what this target costs */
	uint64_t most_ns;		/* it is over then in any case */
};

struct drainer_experiments {
	const struct drainer_target *targets;
	bool virtual_clock;		/* the program's clocks show virtual time */
	size_t target_cnt;		/* all their keys together: EXPERIMENT_KEYS at most */
	void (*turn)(void *arg, struct drainer *d, uint64_t now_ns);	/* CLOCK_MONOTONIC */
	/* An event BEGIN, END, DROP, SHIFT or BLOCK of the thread of that serial number; those of a thread in their order. */
	void (*take)(void *arg, uint64_t serial, enum trace_event kind, uint64_t ticks, const uint64_t *words);
	void *arg;
	bool only_watches;		/* nothing is asked of the program: turn and take alone */
};

struct drainer_experiment_state {
	uint64_t hit_cnt, outside_cnt, tick_cnt;	/* so far, of all blocks (struct arena_experiment) */
	uint32_t ticks_error, ticks_refused;
	uint64_t until_cnt;		/* sleeps until a time */
	double unfair_share;		/* of the releases of a lock while others waited: the same thread had it again before them */
	const char *unfair_function;	/* in which that was; of the lock with the largest share.  NULL: not known */
	uint32_t real_clock_cnt;	/* processes whose clocks are not virtual, although they are wanted so */
	uint32_t blind_cnt;		/* processes that do not see the kernel's table of waits */
	uint32_t locks_lost;		/* times that a lock of a target found no room */
	bool signal_taken;
	double ns_per_tick;		/* 0: not known yet */
};

struct drainer_module {			/* a file whose code is in the memory of a program of the run */
	const char *path;
	uint64_t base;			/* what the loader added to the file's own addresses */
	uint32_t program;
};

struct drainer_cpu {			/* so far */
	uint64_t run_ns, delay_ns;	/* of the run's threads: on a CPU, in the run queue (drainer/accounts.h) */
	uint64_t busy_ns;		/* all CPUs, together */
	uint32_t cpu_cnt;		/* 0: not known */
};

struct drainer_cpu drainer_cpu(const struct drainer *d);

void drainer_block_set(struct drainer *d, const struct drainer_block *b);	/* and BLOCK_SET */
void drainer_block_phase(struct drainer *d, enum block_phase phase);
void drainer_blocks_end(struct drainer *d);	/* none is in force any more */
void drainer_set_currency(struct drainer *d, enum experiment_currency currency);
void drainer_look(struct drainer *d);

/* Takes the modules from number `next` on; returns the number of the next one, for the next time.  Begin with 0. */
uint32_t drainer_modules(const struct drainer *d, uint32_t next, void (*take)(void *arg, const struct drainer_module *m), void *arg);
/* A variable with locks of that target, of kind EXPERIMENT_LOCK.  False: there is no room for more. */
bool drainer_add_lock(struct drainer *d, uint32_t target, uint32_t program, uint64_t start, uint64_t end);

/* The locks that a recording of all of them met (notes_order), with the address that each has in its program. */
void drainer_objects(struct drainer *d, void (*take)(void *arg, uint64_t object, uint64_t address), void *arg);
void drainer_name_object(struct drainer *d, uint64_t object, const char *name);

/* The label whose intervals events of that label belong to; its name, NULL: there is none. */
uint64_t drainer_interval(const struct drainer *d, uint64_t label);
const char *drainer_label_name(const struct drainer *d, uint64_t label);

/* Sends a signal to all processes that take part, which are those that have the arena mapped. */
void drainer_kill(const struct drainer *d, int number);
/* ... and to the command. */
void drainer_kill_child(const struct drainer *d, int number);

/* The trace clock's ns per tick; 0: not known yet. */
double drainer_ns_per_tick(const struct drainer *d);

struct drainer_experiment_state drainer_experiment_state(const struct drainer *d);

/* ---- private to drainer/ ---- */

void experiments_open(struct drainer *d, const struct drainer_experiments *x);
void experiments_turn(struct drainer *d, uint64_t now_ns);
/* A chunk is drained; is_full: nothing comes after what is in it.  Its memory is given back. */
struct arena_chunk;
void experiments_chunk(struct drainer *d, uint32_t number, bool is_full);
void experiments_recycled(struct drainer *d, uint32_t number);

#endif
