/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_merging.h - what kernel_merge.c works on: all of a trace at once, or a window of it (kernel_windows.c).
 */
#ifndef TRACE_KERNEL_KERNEL_MERGING_H
#define TRACE_KERNEL_KERNEL_MERGING_H

#include "trace/kernel/kernel_threads.h"

struct kernel_place {			/* a part, and where its offs are */
	const struct kernel_part *part;
	size_t first_off, end_off;	/* of the kernel's: end after part->from_ns, begin before part->to_ns */
	int64_t restart_ns;		/* what is earlier is passed over; INT64_MIN: nothing is */
};

struct kernel_merging {
	struct trace *t;
	const struct kernel_trace *k;
	struct kernel_threads threads;
	VEC(struct kernel_place) places;	/* by the model's TID, then time */
	int64_t until_ns;		/* the window's end; INT64_MAX: it is all of the trace */
	uint32_t caller;		/* of the wait being passed */
	VEC(struct segment) out;
	kernel_spans spans;

	/* The part going on. */
	const struct kernel_place *place;
	const struct kernel_part *part;
	const struct kernel_off *off, *off_end;	/* off: the first that has not ended before the cursor */
	bool consumed;			/* what is left of it belongs to a wait that was passed */
	int64_t done_ns;		/* of the same TID, by the part before: its last segment reached so far */
	bool hole;			/* the runtime's trace says nothing about the time being passed */
};

/* m is zeroed; t: its threads, and segments that say from when to when each is known; both sorted. */
void kernel_merging_begin(struct kernel_merging *m, struct trace *t, const struct kernel_trace *k);
void kernel_merging_release(struct kernel_merging *m);

/* All threads: t's segments, which are sorted, are made anew, and wakeups, which are, too, gain some; the spans are those
 * of which this tells. */
void kernel_merge_threads(struct kernel_merging *m);

/* It could not have run on. */
bool kernel_blocked(const struct kernel_off *o);

#endif
