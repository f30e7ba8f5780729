/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - the memory that all processes of a run share with the drainer.
 *
 *	control | slots | links | releasers | waiters | places | lots | opened | callers | modules | maxima of stamps | stacks | heads | labels | index | plan | chunks | functions | text
 *
 * The drainer makes the file, the target maps it.  Everything is found by offset, since each
 * process has it at another address.  All of it survives a killed process; nothing in it is a
 * lock, so a killed process leaves nothing locked.
 *
 * A chunk goes round: free list -> a thread fills it -> full list -> the drainer writes and clears
 * it -> free list.  Lists are stacks of numbers (0 ends one); the head carries a count of changes,
 * so that a head that went away and came back is not taken for unchanged.
 *
 *	head 0x0000000500000002: chunk 2 is first, five changes so far
 *
 * The successor of a chunk is stored in links, not in the chunk: a thread that takes a chunk waits for that word, and one cache
 * line brings eight of the words that the drainer has just written.
 */
#ifndef RUNTIME_SHARED_ARENA_H
#define RUNTIME_SHARED_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/shared/apart.h"
#include "runtime/shared/clock.h"
#include "runtime/shared/frame.h"
#include "runtime/shared/shift.h"
#include "runtime/shared/site.h"
#include "trace/format.h"

#define ARENA_MAGIC 0x3b616e6572617056ULL
#define ARENA_ENV "VPROF_ARENA"		/* the path of the file, or fd:NUMBER: a descriptor that is inherited */
#define ARENA_FD "fd:"

enum {
	ARENA_SLOTS = 12288,		/* threads at the same time */
	ARENA_FUNCTIONS = TRACE_FIDS_MAX + 1,
	ARENA_FUNCTIONS_FIRST = 65536,	/* have memory from the start; the others get it at their first use */
	ARENA_HEADS = 1 << 17,		/* of lists of functions by the hash of their key */
	ARENA_LABELS = 1 << 17,
	ARENA_INDEX = 2 * ARENA_LABELS,	/* of labels, by the hash of their name */
	ARENA_TEXT_BYTES = 64 << 20,
	ARENA_TEXT_FIRST = 8 << 20,	/* as ARENA_FUNCTIONS_FIRST */
	ARENA_BUCKETS = 2048,		/* of releasers */
	ARENA_WAITERS = 16384,
	ARENA_PLACES = 1024,		/* offsets in a page: one for each word of 4 bytes */
	ARENA_LOTS = 32768,		/* open intervals, runtime/sampling.c; after them, when these began */
	ARENA_STAMPS = 8,
	THREAD_LABELS = 16,		/* intervals that a thread works on */
	THREAD_HOLDS = 8,		/* home-made locks that it is acquiring */
	PLACE_IN_NAME = '\001',		/* in the name of a place of calls, behind the function's (probe_sites.h) */
	THREAD_LEFT = 4,		/* places of calls that wait for their callees, one inside another */
	ARENA_OPENED = 16384,		/* calls that were open before the recording */
	ARENA_CALLERS = TRACE_CALLERS_MAX,		/* of primitives that waited: return addresses (runtime/waits/code.h) */
	ARENA_MODULES = 4096,		/* programs and libraries in memory */
};

/* Odd: threads with a closed gate have something to do. */
enum recording {
	RECORDING_OVER,			/* no interval begins; open ones are still recorded */
	RECORDING_ON,
	RECORDING_PAUSED,		/* as over, but it may resume */
	RECORDING_GONE,			/* the arena has no reader any more */
};

/* Records that the drainer has taken but not written to the file yet: lost if it is killed (drainer/recover.c). */
struct arena_held {
	uint64_t cnt, since, until;	/* records; the earliest and the latest of them (ticks) */
	uint64_t serial;		/* the thread of some of them */
	uint32_t pid, tid;
};

/*
 * Causal experiments (doc/design/causal.md).  The drainer writes what is asked; nothing else of the run asks for more than
 * `wanted`, and that once a process.
 */
enum { EXPERIMENT_KEYS = 128, EXPERIMENT_LOCKS = 64, EXPERIMENT_TAKEN = 1024, EXPERIMENT_ORDERS = 256 };

enum experiment_kind {
	EXPERIMENT_FUNCTION,		/* calls of it, with what they call */
	EXPERIMENT_BODY,		/* ticks at which it is the innermost call */
	EXPERIMENT_IO,			/* waits that no thread of the run ends; in its calls, if it has keys */
	EXPERIMENT_LOCK,		/* while a thread holds one of its locks */
	EXPERIMENT_PC,			/* ticks that hit its code */
	EXPERIMENT_DEVICE		/* waits for a disk, as the kernel sees them */
};

enum experiment_currency { EXPERIMENT_SLEEP, EXPERIMENT_HOLD };

struct experiment_key {			/* a function (struct vprof_site) of a target */
	uint64_t key;
	uint32_t target, unused;
};

struct experiment_lock {		/* a variable that is, or contains, locks of a target; of EXPERIMENT_PC: its code */
	uint64_t start, end;		/* in the memory of that program and its forks */
	uint32_t program, target;	/* as in struct arena_module */
};

struct experiment_order {		/* of a lock that others waited for: in which order it goes round */
	uint64_t name;			/* 0: none */
	uint32_t release_cnt;		/* while others waited */
	uint32_t again_cnt;		/* ... after which the same thread had it again, before any of them */
	uint32_t fid, unused;		/* in that function, the last time; 0: none is known */
};

struct arena_experiment {
	struct shift_all all __attribute__((aligned(64)));
	uint32_t target;		/* in force, of all.block */
	uint32_t kind;			/* its, enum experiment_kind */
	uint32_t has_keys, currency;	/* enum experiment_currency */
	uint64_t deadline;		/* ns of the experiment's clock: the block is over then, whatever else is said; a drainer that is
					 * killed holds nobody up */
	uint64_t ns_per_tick;		/* of that clock, 32 bits behind the point; 0: not known yet */
	uint64_t waits_number, waits_ahead;	/* of the kernel's table (device_wait.h): its number, 0: there is none; struct shift_table */
	uint32_t waits_fd;		/* a descriptor of it that processes inherit */
	uint32_t waits_count;		/* in the block in force: waits in the table count */
	uint32_t blind_cnt;		/* processes that could not map it */
	uint32_t wanted;		/* experiments will come */
	uint32_t virtual_clock;		/* ... with the program's clocks in virtual time */
	uint32_t real_clock_cnt;	/* processes whose clocks are not */
	uint32_t key_cnt;
	uint32_t top __attribute__((aligned(64)));	/* no slot above takes part */
	uint32_t open_cnt;		/* stretches under way */
	uint64_t hit_cnt;		/* times that a thread was in the target */
	uint64_t outside_cnt;		/* waits for a thread or peer outside the run */
	uint64_t until_cnt;		/* sleeps until a time, while a block was in force */
	uint64_t tick_cnt;
	uint32_t ticks_error, ticks_refused;	/* errno of the last thread that got none; how many got none */
	uint32_t signal_taken;		/* the program handles the signal of ticks itself */
	struct experiment_key keys[EXPERIMENT_KEYS];
	uint32_t lock_cnt;		/* of locks[], which the drainer writes meanwhile */
	uint32_t locks_lost;		/* times that taken[] had no room */
	struct experiment_lock locks[EXPERIMENT_LOCKS];
	struct experiment_order orders[EXPERIMENT_ORDERS];	/* hash table; what has no room is not counted */
	uint64_t taken[EXPERIMENT_TAKEN];	/* hash table of the locks that a target's functions took; 0: free (runtime/causal/locks.c) */
};

struct arena_control {
	uint64_t magic, bytes;
	uint32_t chunk_cnt, plan_mask, default_level;
	uint32_t recording;		/* enum recording */
	uint32_t sample_full, sample_of;	/* record about sample_full of sample_of intervals in full */
	uint32_t sample_level;		/* set by the drainer (drainer/budget.c): level + 1; 0: as above */
	uint32_t switches_are_told;	/* whether threads learn that they were off the CPU (runtime/shared/switched.h) */
	uint64_t sample_seed;
	uint32_t notes_order;		/* every synchronisation is logged (runtime/waits/order.h) */
	uint32_t sample_by_trace;	/* not by lot, where an interval has a trace id */
	uint32_t as_sampled;		/* few intervals are recorded in full: functions that are always recorded only by choice
					 * are recorded inside intervals */
	uint64_t slots, links, stacks, heads, functions, index, labels, text, plan, releasers, waiters, places, lots,
		 opened, callers, modules, stamp_maxima, chunks;
	uint64_t dropped[TABLE_NOTES] __attribute__((aligned(64)));	/* entries that did not fit, by enum
									 * trace_table */
	uint64_t free_chunks __attribute__((aligned(64)));
	uint32_t free_cnt;		/* their approximate number */
	uint32_t lots_lack;		/* an open interval may have no lot, because the table was full */
	uint64_t full_chunks __attribute__((aligned(64)));
	uint64_t free_slots __attribute__((aligned(64)));
	uint64_t serial_cnt, image_cnt, thread_cnt, process_cnt;
	uint64_t text_used;
	uint32_t function_cnt, label_cnt;
	uint64_t site_cnt;		/* registered, not distinct */
	uint64_t lost_cnt, lost_since;	/* by threads that no longer have a slot, or never had one */
	uint64_t fed_cnt __attribute__((aligned(64)));	/* stamps for waits on files (runtime/waits/flow.h) */
	uint64_t starved_s __attribute__((aligned(64)));	/* when a thread without a chunk last looked for the drainer (CLOCK_MONOTONIC) */
	struct arena_held held;
	uint32_t opened_cnt, module_cnt;
	uint64_t unnamed_cnt, stranger_cnt;	/* TABLE_NOTES, TABLE_STRANGERS */
	uint32_t apart_cnt[APART_CNT], apart_pid[APART_CNT];	/* number of processes, and the pid of one */
	struct arena_experiment experiment;
};

struct arena_slot {			/* a thread that records; fields belong to it */
	uint64_t next;
	uint32_t used, pid, tid, owner_dead;
	uint64_t serial, image;		/* image: program start or fork, later ones are larger */
	uint64_t pid_namespace;
	uint64_t lost_cnt, lost_since;	/* records dropped, not yet reported */
	uint64_t ended_cnt, ended_ticks;	/* intervals that ended here, and their total time (sample_level) */
	struct shift shift;		/* of experiments */
} __attribute__((aligned(128)));

/* Level of a function that is not in the drainer's plan: the level in its unit's note applies (runtime/note.h). */
enum { LEVEL_AS_BUILT = 3 };

enum chunk_state { CHUNK_FREE, CHUNK_OWNED, CHUNK_FULL };

struct arena_chunk {			/* start of a chunk; records follow */
	uint32_t state, slot, pid, tid;
	uint64_t serial;
	uint64_t number;		/* among those that the thread took: its records are in this order */
} __attribute__((aligned(64)));

struct arena_function {
	uint64_t key;
	uint32_t name, file;		/* offsets in text */
	uint32_t line, level;
	uint32_t ready, next;		/* of the same head; 0: none */
};

struct arena_label {
	uint32_t name, ready;
	uint32_t interval;		/* events of this one belong to intervals of that label; 0: of its own.
					 * Written before the program starts. */
	uint32_t renamed;		/* the same, set by the program: events are logged under that label */
};

struct arena_plan {			/* hash table, key 0: free */
	uint64_t key;
	uint64_t level;
};

struct arena_opened {			/* a call that was open at the start (runtime/found.h); a thread's outermost first */
	uint64_t address, caller;	/* address 0: only a name for the thread */
	uint32_t pid, tid, fid;
};

struct arena_module {			/* where a file's code is in the memory of a program and its forks */
	uint64_t start, end, base;	/* base: what the loader added to the file's own addresses */
	uint32_t program, name;		/* program: as in the callers' entries; name: offset in text */
	uint32_t ready, unused;
};

enum { CODE_PROGRAMS = 1 << 16, CODE_ADDRESS_BITS = 48, CODE_OUTER = 14 };

struct arena_caller {			/* caller of a primitive that blocked (runtime/waits/code.h) */
	uint64_t entry;			/* 0, or 16 bits for the program, 48 for the return address */
	uint64_t place;			/* distance below the innermost probed call's frame, plus 1; 0: not known yet */
	uint64_t outer[CODE_OUTER];	/* words in between that point into code, the innermost first; 0: no more */
} __attribute__((aligned(64)));

static inline uint64_t code_entry(uint32_t program, uint64_t address)
{
	return (uint64_t)program << CODE_ADDRESS_BITS | address;
}

struct arena_stamp {			/* which thread released an object, and when */
	uint64_t object, serial, ticks;
};

/* G when the stamps were left, in experiments: [bucket][stamp]. */
typedef uint64_t arena_maxima[ARENA_STAMPS];

struct arena_bucket {
	uint32_t next;
	uint32_t written;		/* number of stamps, incremented when one can be found */
	struct arena_stamp stamps[ARENA_STAMPS];
} __attribute__((aligned(256)));

/*
 * A mapped arena; base is NULL if there is none.  The addresses of its parts are computed when it is mapped: any process of
 * the run may later write to the control block, and such a write must lead no reader out of the mapping.
 */
struct arena_map {
	char *base, *chunks, *stacks;
	uint32_t chunk_cnt, plan_mask;
	struct arena_control *control;
	struct arena_slot *slots;	/* numbered from 1 */
	uint64_t *links;		/* of chunks, by number */
	struct arena_function *functions;
	uint32_t *heads, *index;
	struct arena_label *labels;
	char *text;
	struct arena_plan *plan;
	struct arena_bucket *releasers;
	uint32_t *waiters, *places;	/* runtime/waits/releasers.h */
	uint64_t *lots;
	struct arena_opened *opened;
	struct arena_caller *callers;
	struct arena_module *modules;
	arena_maxima *stamp_maxima;
	const struct device_wait *waits;	/* no part of it: the kernel's table; NULL: there is none */
};

/*
 * Maps the whole file at a multiple of VPROF_CHUNK_BYTES: the address of a record shows whether its chunk is full
 * (frame.h).  MAP_FAILED: errno says why.
 */
void *arena_map_file(int fd, size_t bytes);

/* Finds the parts of a mapped arena; false if the offsets or sizes do not fit into bytes. */
bool arena_open_map(struct arena_map *a, void *base, size_t bytes);

/* A time of the experiment's clock, in ns; 0: the clock is not known yet. */
static inline uint64_t arena_experiment_ns(const struct arena_map *a, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * __atomic_load_n(&a->control->experiment.ns_per_tick, __ATOMIC_ACQUIRE) >> 32);
}

/* The shifts of all threads that take part. */
static inline struct shift_table arena_shifts(const struct arena_map *a)
{
	struct arena_experiment *e = &a->control->experiment;
	uint32_t top = __atomic_load_n(&e->top, __ATOMIC_ACQUIRE);

	return (struct shift_table){ &e->all, (char *)&a->slots[1].shift, top < ARENA_SLOTS ? top : ARENA_SLOTS,
				     sizeof(struct arena_slot), __atomic_load_n(&e->waits_count, __ATOMIC_ACQUIRE) ? a->waits : 0,
				     __atomic_load_n(&e->waits_ahead, __ATOMIC_RELAXED) };
}

static inline struct arena_chunk *arena_chunk(const struct arena_map *a, uint64_t number)
{
	return (void *)(a->chunks + (number - 1) * VPROF_CHUNK_BYTES);
}

static inline struct vprof_frame *arena_stack(const struct arena_map *a, uint64_t slot)
{
	return (void *)(a->stacks + (slot - 1) * VPROF_STACK_BYTES);
}

/* 0 if the list is empty. */
uint32_t arena_take_chunk(const struct arena_map *a);
void arena_give_chunk(const struct arena_map *a, uint32_t number);	/* clears it and adds it to the free list */
void arena_fill_chunk(const struct arena_map *a, uint32_t number);	/* adds it to the full list */
uint32_t arena_take_full(const struct arena_map *a);			/* takes the whole list; returns its first */
uint32_t arena_take_slot(const struct arena_map *a);
void arena_give_slot(const struct arena_map *a, uint32_t number);

/* Counts an entry that did not fit into that table. */
static inline void arena_count_dropped(const struct arena_map *a, enum trace_table table)
{
	__atomic_fetch_add(&a->control->dropped[table], 1, __ATOMIC_RELAXED);
}

/* The number of a function, added if it is new; 0 if the table is full. */
uint32_t arena_function(const struct arena_map *a, const struct vprof_site *site, uint32_t level);
uint32_t arena_label(const struct arena_map *a, const char *name);
uint32_t arena_level(const struct arena_map *a, uint64_t key);		/* the level by the plan */

/* Notes that a file's code is in memory, unless that is noted already. */
void arena_module(const struct arena_map *a, const struct arena_module *m, const char *name);

static inline uint64_t arena_hash(uint64_t value)
{
	value *= 0x9e3779b97f4a7c15ULL;
	return value ^ value >> 32;
}

#endif
