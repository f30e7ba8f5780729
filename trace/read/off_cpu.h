/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * off_cpu.h - when a thread was off the CPU though no record tells of a wait.
 *
 * Time outside waits counts as running.  The kernel's accounts of the thread (EVENT_ACCOUNT, BLOCK_ACCOUNTS) say how
 * much of that it computed and how much it stood in the run queue.  The rest it was off the CPU for a reason that
 * nobody recorded: a system call that no wrapper sees, a lock inside the C library, a page that came from the disk.
 *
 *	f 0..20 ms, no wait; at 0 ms: took 3 ms, sleeps; at 15 ms: 3 ms, sleeps; at 20 ms: 4 ms, runs
 *	running 19..20, off the CPU 0..19
 *
 * Two accounts bound a sum.  Where in between the thread was off is known if it slept through, or if there is room for it
 * nowhere else.  Else it is estimated, but only from looks that found threads of this run asleep in such a place
 * (off_cpu_place.c).
 */
#ifndef TRACE_READ_OFF_CPU_H
#define TRACE_READ_OFF_CPU_H

#include "trace/raw/raw.h"

struct reading;

struct waited_span {
	uint64_t start, end;
};

/* How long a thread was in waits, of which some may lie in others; each is added when it ends. */
struct waited {
	VEC(struct waited_span) recent;	/* outermost so far, by time */
	uint64_t sum;
};

void waited_add(struct waited *w, uint64_t start, uint64_t end);
void waited_release(struct waited *w);

/*
 * The spans of each thread (rd->offs) and their sums (rd->t->off_cpu).  Reads the trace again, but only if some thread's
 * accounts do not agree with what is told of it.  waited_ns: per thread.  rd->raw's accounts are in ticks, all else is in ns.
 */
int off_cpu_find(struct reading *rd, const char *path, const uint64_t *waited_ns, struct diag *reterr);

/* ---- for off_cpu*.c ---- */

/* The kernel's clock: by so much an account of a thread that runs is late.  What counts as noise is derived from it.  Tests
 * make it small. */
extern int64_t off_cpu_tick_ns;

/* To block and come back takes longer. */
static inline int64_t off_cpu_shortest_ns(void)
{
	return off_cpu_tick_ns >= 200 ? off_cpu_tick_ns / 200 : 1;
}

/* Records of a thread that follow each other so closely that it cannot have blocked in between; or a wait. */
struct busy {
	int64_t start_ns, end_ns;
	uint32_t first, last;		/* which records: a call's begin is fid << 1, its end is that + 1 */
};

struct span {
	int64_t start_ns, end_ns;
	enum trace_state state;		/* STATE_OTHER or STATE_RUNNABLE */
};

struct off_cpu_thread {
	VEC(struct raw_account) accounts;	/* by time, in ns */
	VEC(struct busy) busy;		/* by time, disjoint, once they are settled */
	VEC(struct busy) waits;		/* by time, disjoint, once they are settled */
	size_t settled_cnt;		/* of busy, at the last time */
	bool is_wanted;			/* its accounts do not agree */
	VEC(struct span) spans;		/* the result, by time */
	int64_t unplaced_ns;		/* off the CPU, but nobody knows where */
	uint32_t leader;		/* who speaks for all stacks of the thread; itself, where there is one */
	bool has_others;		/* the leader of several */
	int64_t first_ns, last_ns;	/* the leader's, of all of them */
	int64_t waited_ns;
};

/* From outside a thread that runs is seen as it was at the last tick. */
static inline bool account_is_exact(const struct raw_account *a)
{
	return a->is_off || a->is_own;
}

/*
 * What looks found in gaps between the same two kinds of records, in all threads of the run: threads that do the same work
 * sleep in the same places, and a thread of 5 ms has one look or none.
 */
struct off_cpu_seen {
	struct map *looks, *asleep;	/* by kind of gap: how many looks */
	uint64_t look_cnt, asleep_cnt;
};

/* Joins what is close together; waits: only what overlaps. */
void off_cpu_settle(struct off_cpu_thread *t);
/* Adds this thread's looks; it is settled. */
void off_cpu_see(const struct off_cpu_thread *t, struct off_cpu_seen *seen);
/* From all of the above to spans. */
void off_cpu_place(struct off_cpu_thread *t, const struct off_cpu_seen *seen);

#endif
