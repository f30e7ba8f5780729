/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_windows.h - the kernel's side of a run whose trace comes in windows (stream.h).
 *
 *	struct kernel_windows *w = kernel_windows_new(t, &k);
 *	kernel_windows_from(w, low_ns);			before each window but the first
 *	... kernel_place_from(w, place, low_ns, waits) of each thread that the runtime knows
 *	kernel_windows_merge(w, until_ns);		t's segments and wakeups from low_ns to until_ns
 *
 * The state of a thread at a moment depends on the time off the CPU and the recorded wait that were under way
 * then, and through them on others that these overlap.  So each thread restarts at the last moment before
 * low_ns at which neither was under way; nothing earlier matters.
 *
 *	lock 20..50, off 45..62, lock 60..90; low_ns 70: the thread begins at 20
 */
#ifndef TRACE_WINDOWS_KERNEL_WINDOWS_H
#define TRACE_WINDOWS_KERNEL_WINDOWS_H

#include "trace/kernel/kernel_merging.h"
#include "trace/read/replay.h"

struct kernel_windows;

/* t: as in kernel_merging_begin().  Takes k over and zeroes it.  NULL: a thread's number was reused, as the
 * kernel saw, or a thread begins while it is off the CPU after a loss of the kernel's records. */
struct kernel_windows *kernel_windows_new(struct trace *t, struct kernel_trace *k);
void kernel_windows_free(struct kernel_windows *w);

/* The kernel's part for the model's thread; NULL: it has none. */
struct kernel_place *kernel_windows_place(struct kernel_windows *w, uint64_t tid);

/* The off that began before that moment and ended after it, or NULL. */
const struct kernel_off *kernel_off_at(const struct kernel_windows *w, const struct kernel_place *p, int64_t ns);
/* The last that blocked among those that overlap the wait, or NULL. */
const struct kernel_off *kernel_last_blocked(const struct kernel_windows *w, const struct kernel_place *p, int64_t start_ns,
					     int64_t end_ns);

/* Whether a thread of the run woke it. */
bool kernel_woken_by_thread(const struct kernel_windows *w, const struct kernel_off *o);

void kernel_windows_from(struct kernel_windows *w, int64_t low_ns);
/* Where the thread restarts.  waits: outermost, by time, disjoint; w and p may be NULL. */
int64_t kernel_place_from(const struct kernel_windows *w, struct kernel_place *p, int64_t low_ns, const struct blocked *waits,
			  size_t cnt);

void kernel_windows_merge(struct kernel_windows *w, int64_t until_ns);
/* After the last window: adds what was lost. */
void kernel_windows_end(struct kernel_windows *w);

#endif
