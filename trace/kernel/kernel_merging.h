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
	int64_t restart_ns;		/* earlier times are skipped; INT64_MIN: none is */
};

struct kernel_merging {
	struct trace *t;
	const struct kernel_trace *k;
	struct kernel_threads threads;
	VEC(struct kernel_place) places;	/* by the model's TID, then time */
	int64_t until_ns;		/* the window's end; INT64_MAX: it is all of the trace */
	uint32_t caller;		/* of the wait being passed */
	segment_list out;
	kernel_spans spans;

	/* The part being merged. */
	const struct kernel_place *place;
	const struct kernel_part *part;
	const struct kernel_off *off, *off_end;	/* the first off that has not ended before the cursor */
	bool consumed;			/* the rest of it belongs to a wait that was already added */
	int64_t done_ns;		/* of the same TID, by the part before: its last segment reached so far */
	bool hole;			/* the runtime's trace does not cover the time being merged */
};

/* m is zeroed.  t: its threads, and segments that say when each is known; both sorted. */
void kernel_merging_begin(struct kernel_merging *m, struct trace *t, const struct kernel_trace *k);
void kernel_merging_release(struct kernel_merging *m);

/* All threads: rebuilds t's segments (sorted before) and adds to its wakeups (sorted before); the spans are
 * the times covered. */
void kernel_merge_threads(struct kernel_merging *m);

/* kernel_class.c: whether the thread blocked, that is, could not have run on. */
bool kernel_blocked(const struct kernel_off *o);

#endif
