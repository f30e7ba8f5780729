/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * off_cpu.h - when a thread was off the CPU without a record of a wait.
 *
 * Time outside waits counts as running.  The kernel's accounts of the thread (EVENT_ACCOUNT, BLOCK_ACCOUNTS) say how
 * much of that it computed and how much it stood in the run queue.  The rest it was off the CPU for a reason that
 * nobody recorded: a system call that no wrapper sees, a lock inside the C library, a page that came from the disk.
 *
 *	f 0..20 ms, no wait; at 0 ms: took 3 ms, sleeps; at 15 ms: 3 ms, sleeps; at 20 ms: 4 ms, runs
 *	running 19..20, off the CPU 0..19
 *
 * Waits that a thread of the run ended have a stamp of that; those that a peer, a device or a time-out ended do not, and run-queue
 * time belongs to them as well (off_cpu_wake.c).
 *
 * Two accounts bound a sum.  Where in between the thread was off is known if it slept through, or if there is room for it
 * nowhere else.  Else it is estimated, but only from looks that found threads of this run asleep in such a place
 * (off_cpu_place.c).
 */
#ifndef TRACE_READ_OFF_CPU_H
#define TRACE_READ_OFF_CPU_H

#include "trace/raw/raw.h"
#include "trace/read/replay.h"

struct waited_span {
	uint64_t start, end;
};

/* How long a thread was in waits, which may nest; each is added when it ends. */
struct waited {
	VEC(struct waited_span) recent;	/* outermost so far, by time */
	uint64_t sum;
};

void waited_add(struct waited *w, uint64_t start, uint64_t end);
void waited_release(struct waited *w);

/* Whether accounts say something that the kernel's side does not. */
static inline bool off_cpu_is_wanted(const struct reader_options *o)
{
	return !o || !o->kernel_knows || o->knows_no_wakes;
}

/*
 * The spans of each thread (rd->offs) and their sums (rd->t->off_cpu).  Reads the trace again, but only if
 * some thread's accounts disagree with its records.  waited_ns: per thread.  rd->raw's accounts are in ticks,
 * all else is in ns.
 */
int off_cpu_find(struct reading *rd, const char *path, const uint64_t *waited_ns, struct diag *reterr);

/* ---- for off_cpu*.c ---- */

/* The tick of the kernel's clock: an account of a running thread lags by up to this.  The noise limits follow
 * from it.  Tests make it small. */
extern int64_t off_cpu_tick_ns;

/* Blocking and coming back takes longer than this. */
static inline int64_t off_cpu_shortest_ns(void)
{
	return off_cpu_tick_ns >= 200 ? off_cpu_tick_ns / 200 : 1;
}

/* Records of a thread that follow each other so closely that it cannot have blocked in between; or a wait. */
struct busy {
	int64_t start_ns, end_ns;
	uint32_t first, last;		/* which records: fid << 1 for the beginning of a call, that + 1 for its end */
};

struct span {
	int64_t start_ns, end_ns;
	enum trace_state state;		/* STATE_OTHER or STATE_RUNNABLE */
};

/* A wait of the thread itself.  woken_ns: when a thread of the run ended it; 0: unknown.  kind: its class and caller. */
struct off_cpu_wait {
	int64_t start_ns, end_ns, woken_ns;
	uint64_t kind;
};

struct off_cpu_thread {
	VEC(struct raw_account) accounts;	/* by time, in ns */
	VEC(struct busy) busy;		/* by time, disjoint, once they are settled */
	VEC(struct busy) waits;		/* by time, disjoint, once they are settled */
	VEC(struct off_cpu_wait) told;	/* waits of off_cpu_shortest_ns() or more; the outermost, by time, once they are seen */
	VEC(struct off_cpu_wake) wakes;	/* a result, by time */
	size_t settled_cnt;		/* number of busy items at the last settling */
	bool is_wanted;			/* its accounts disagree with the trace */
	VEC(struct span) spans;		/* the result, by time */
	int64_t unplaced_ns;		/* off the CPU at an unknown time */
	uint32_t leader;		/* the thread that represents all stacks of this one; itself if there is one */
	bool has_others;		/* the leader of several */
	int64_t first_ns, last_ns;	/* the leader's, of all of them */
	int64_t waited_ns;
};

/* From outside, a running thread is seen as it was at the last tick. */
static inline bool account_is_exact(const struct raw_account *a)
{
	return a->is_off || a->is_own;
}

/*
 * The findings of looks in gaps between the same two kinds of records, over all threads of the run.  Threads that
 * do the same work sleep in the same places, and a thread that lives for 5 ms has one look or none.
 */
struct off_cpu_seen {
	struct map *looks, *asleep;	/* by kind of gap: how many looks */
	uint64_t look_cnt, asleep_cnt;
};

/* How long waits of one kind without a stamp were, over all threads. */
struct off_cpu_kind {
	VEC(int64_t) lengths;
	int64_t low_ns, median_ns;	/* a tenth and half of them are shorter */
};

struct off_cpu_kinds {
	struct map *places;		/* by kind: its place in the list, plus 1 */
	VEC(struct off_cpu_kind) list;
};

struct off_cpu_piece {			/* of a gap or wait: the part in which the thread may have been off, or ready */
	int64_t start_ns, end_ns;
	size_t gap;			/* number of the gap */
	double weight, taken_ns;
	bool at_start, at_end;		/* it was asleep then */
	bool is_seen;			/* a look found a thread asleep in a gap of that kind */
	bool is_left_out;
};

/* Shares by weight, but gives no piece more than its length; returns the rest. */
double off_cpu_share_out(struct off_cpu_piece *pieces, size_t cnt, double ns);

/* Joins records that are close together; waits: only those that overlap. */
void off_cpu_settle(struct off_cpu_thread *t);
/* Adds the looks of this thread, which must be settled. */
void off_cpu_see(const struct off_cpu_thread *t, struct off_cpu_seen *seen);
/* Computes the thread's spans and wakes from all of the above. */
void off_cpu_place(struct off_cpu_thread *t, const struct off_cpu_seen *seen, const struct off_cpu_kinds *kinds);

/* Adds the thread's waits. */
void off_cpu_see_waits(struct off_cpu_thread *t, struct off_cpu_kinds *k);
/* After those of all threads. */
void off_cpu_measure_waits(struct off_cpu_kinds *k);
void off_cpu_kinds_release(struct off_cpu_kinds *k);
/* Adds wakes between accounts i and end.  share: the fraction of the run-queue time that was in waits. */
void off_cpu_wake(struct off_cpu_thread *t, size_t i, size_t end, double share, const struct off_cpu_kinds *kinds);

#endif
