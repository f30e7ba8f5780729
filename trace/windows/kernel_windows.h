/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_windows.h - the kernel's side of a run whose trace comes in windows (stream.h).
 *
 *	struct kernel_windows *w = kernel_windows_new(t, &k);
 *	kernel_windows_from(w, low_ns);			before each window but the first
 *	... kernel_place_from(w, place, low_ns, waits) of each thread that the runtime knows
 *	kernel_windows_merge(w, until_ns);		t's segments and wakeups from low_ns to until_ns
 *
 * Inside, what a thread was at a moment depends on what was under way then: on the time off the CPU, on the wait
 * that the runtime recorded, and through them on others that these overlap.  So each thread begins anew at the last
 * moment before low_ns at which neither was under way; all that happened earlier is of no account.
 *
 *	lock 20..50, off 45..62, lock 60..90; low_ns 70: the thread begins at 20
 */
#ifndef TRACE_WINDOWS_KERNEL_WINDOWS_H
#define TRACE_WINDOWS_KERNEL_WINDOWS_H

#include "trace/kernel/kernel_merging.h"
#include "trace/read/replay.h"

struct kernel_windows;

/* t: as in kernel_merging_begin().  k is the windows' from then on, and zeroed.  NULL: a thread goes on as
 * another where the kernel saw its number given out again, or begins while it is off the CPU and the kernel lost what
 * was before. */
struct kernel_windows *kernel_windows_new(struct trace *t, struct kernel_trace *k);
void kernel_windows_free(struct kernel_windows *w);

/* Where the kernel's side of the model's thread is; NULL: it has none. */
struct kernel_place *kernel_windows_place(struct kernel_windows *w, uint64_t tid);

/* The off that began before that moment and ended after it, or NULL. */
const struct kernel_off *kernel_off_at(const struct kernel_windows *w, const struct kernel_place *p, int64_t ns);
/* Of those that overlap the wait the last that blocked, or NULL. */
const struct kernel_off *kernel_last_blocked(const struct kernel_windows *w, const struct kernel_place *p, int64_t start_ns,
					     int64_t end_ns);

/* It was woken, and by a thread of the run. */
bool kernel_woken_by_thread(const struct kernel_windows *w, const struct kernel_off *o);

void kernel_windows_from(struct kernel_windows *w, int64_t low_ns);
/* waits: outermost, by time, disjoint.  Where the thread begins; w and p may be NULL. */
int64_t kernel_place_from(const struct kernel_windows *w, struct kernel_place *p, int64_t low_ns, const struct blocked *waits,
			  size_t cnt);

void kernel_windows_merge(struct kernel_windows *w, int64_t until_ns);
/* After the last window: what was lost. */
void kernel_windows_end(struct kernel_windows *w);

#endif
