/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shift.h - the arithmetic of causal experiments: by how much each thread's virtual clock is behind the real one.
 *
 * In the target a thread's shift L grows by speed * time.  G is the greatest shift of all threads; a thread with less owes
 * the difference, and pays it by standing still (runtime/causal/causal.h), so that its clock falls behind as well.
 *
 *	speed 50 %; T1 is in the target from 100 to 200: its L grows from 0 to 50, and so does G
 *	T2 has to pay from 160 on, when G is 30.  It looks again and again: at 190 its L is 30, but G is 45; at 210 both
 *	are 50, and it goes on
 *
 * A wait that no code of ours sees, as a page fault, is in a table of the kernel (device_wait.h).  There, it counts while it goes
 * on; and the thread adds it to its L when it calls us the next time.
 *
 * Nothing here reads a clock or sleeps; times are ns of one clock, passed in.  The shifts stand in the arena, where other
 * processes read them; each is written by its own thread only.  So is G's stored part, by compare and exchange.
 */
#ifndef RUNTIME_SHARED_SHIFT_H
#define RUNTIME_SHARED_SHIFT_H

#include <stdbool.h>
#include <stdint.h>
#include "runtime/shared/device_wait.h"

enum { SHIFT_WHOLE = 1000 };		/* speeds are per mille */

struct shift {				/* of a thread */
	uint64_t ns;			/* L, without the stretch that is under way */
	uint64_t since;			/* a stretch in the target is under way from here; 0: none */
	uint64_t believed;		/* ... and counts until then at most (the thread may have lost its CPU); UINT64_MAX: for ever */
	uint32_t block;			/* to which all this belongs; other than that in force: L is its base, no stretch */
	uint32_t wait;			/* its entry in the kernel's table: its waits count as the kernel sees them; 0: they do not */
	uint64_t seen;			/* ... of whose total so much is in ns already */
};

struct shift_all {			/* of all threads of the run */
	uint64_t max;			/* G, without stretches that are under way */
	uint64_t base;			/* G when the block began */
	uint32_t block;			/* in force; 0: no experiment */
	uint32_t speed;			/* per mille */
};

/* The table of shifts: cnt of them, stride bytes apart. */
struct shift_table {
	struct shift_all *all;
	char *first;
	uint32_t cnt, stride;
	const struct device_wait *waits;	/* NULL: there is no such table */
	uint64_t waits_ahead;		/* its clock's time is ours plus that, modulo 2^64 */
};

static inline struct shift *shift_at(const struct shift_table *t, uint32_t i)
{
	return (struct shift *)(void *)(t->first + (uint64_t)i * t->stride);
}

/* The thread takes part in the block in force: its L is as all others' were when it began, and no wait of the table counts yet. */
void shift_join(const struct shift_all *all, struct shift *s);

/* L at that time, with the stretch under way. */
uint64_t shift_ns(const struct shift_all *all, const struct shift *s, uint64_t now);

/* G at that time. */
uint64_t shift_max(const struct shift_table *t, uint64_t now);

/* A stretch in the target begins, at most until believed; or one that is under way is believed longer. */
void shift_begin(struct shift *s, uint64_t now, uint64_t believed);
void shift_believe(struct shift *s, uint64_t believed);

/* The stretch ends; it took this long. */
void shift_end(struct shift_all *all, struct shift *s, uint64_t took);

/* The thread itself notes what its waits in the table have added; with a stretch under way, or if nothing counts, only that it has seen
 * them.  Returns how long those that count took. */
uint64_t shift_waited(struct shift_all *all, struct shift *s, const struct device_wait *waits);

/* The thread stood still for this time. */
void shift_paid(struct shift *s, uint64_t took);

/*
 * The thread was blocked from `from` on, and was woken by another thread of the run, when G was g: what was asked for until
 * then it need not pay, but it cannot have stood still for longer than it was blocked.
 */
void shift_woken(struct shift *s, uint64_t from, uint64_t woken, uint64_t g);

#endif
