/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_presence.h - when a thread of the model was a thread of the kernel's.
 *
 * Mostly from its first record to its last.  A stack of its own (runtime/stacks.h) comes and goes, and may come back on
 * another thread:
 *
 *	7' is known 10..90, away 20..50, back on 8
 *	-> 7' is 7 in 10..20, 8 in 50..90
 */
#ifndef TRACE_KERNEL_KERNEL_PRESENCE_H
#define TRACE_KERNEL_KERNEL_PRESENCE_H

#include "base/map.h"
#include "trace/model.h"

struct kernel_presence {
	uint64_t tid;
	uint32_t kernel_tid;
	int64_t first_ns, last_ns;	/* first > last: no segments */
	int64_t thread_first_ns, thread_last_ns;	/* of the model's thread, all of it */
	bool is_left;			/* its thread continued on another stack */
};

typedef VEC(struct kernel_presence) kernel_presences;

/* By kernel_tid, then time.  t is sorted.  taken: kernel tid -> how many threads of the model have that number. */
void kernel_presences_find(const struct trace *t, struct map *taken, kernel_presences *ret);

#endif
