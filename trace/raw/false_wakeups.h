/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * false_wakeups.h - which waits ended with a false wake-up, of a trace that is read chunk by chunk in any
 * order.
 *
 *	false_wakeups_note(&f, thread, records, cnt, first_order);	... of each chunk
 *	false_wakeups_settle(&f);
 *	... false_wakeups_has(&f, order)
 *	false_wakeups_forget_turns(&f);
 *
 * A false wake-up means the wait that began last among those of its thread that had ended: segments.c takes
 * its waker away.
 *
 *	wait 10..50, wait 20..30 in it, false wake-up at 55: the wait of 20
 */
#ifndef TRACE_RAW_FALSE_WAKEUPS_H
#define TRACE_RAW_FALSE_WAKEUPS_H

#include "trace/raw/raw.h"

struct turn {				/* a wait, or a false wake-up; ticks */
	uint64_t start, end;		/* equal for a false wake-up */
	uint32_t thread;
	uint32_t order;			/* among all events of the trace */
	uint64_t waker, woken;		/* of a wait, as in its record */
};

struct false_wakeups {
	VEC(uint32_t) waits;		/* orders, ascending */
	VEC(struct turn) turns;		/* all false wake-ups, and all waits that one could mean */
	size_t chunk_first;		/* of turns: the first of the last chunk, by order */
	size_t cnt;			/* false wake-ups */
};

static inline bool turn_is_wait(const struct turn *t)
{
	return t->end > t->start;
}

/* A chunk's events as they stand there; those of the next chunk have other orders. */
void false_wakeups_note(struct false_wakeups *f, uint32_t thread, const struct raw_record *events, size_t cnt,
			uint32_t first_order);
/* false: no false wake-up can mean this wait of the last chunk. */
bool false_wakeups_may_have(const struct false_wakeups *f, uint32_t order);
void false_wakeups_settle(struct false_wakeups *f);
void false_wakeups_forget_turns(struct false_wakeups *f);
bool false_wakeups_has(const struct false_wakeups *f, uint32_t order);
void false_wakeups_release(struct false_wakeups *f);

#endif
