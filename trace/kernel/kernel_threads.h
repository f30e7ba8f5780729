/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_threads.h - maps the kernel's thread numbers to threads of the model, to say which thread was off
 * the CPU.
 */
#ifndef TRACE_KERNEL_KERNEL_THREADS_H
#define TRACE_KERNEL_KERNEL_THREADS_H

#include "base/map.h"
#include "trace/kernel/kernel.h"
#include "trace/kernel/kernel_presence.h"

/* The part of a kernel thread's life that belongs to one thread of the model. */
struct kernel_part {
	uint64_t tid;
	uint32_t kernel_tid, pid;
	int64_t from_ns, to_ns;
	int64_t first_ns, last_ns;	/* of the model's thread, all of it; first > last: it has no segments */
	bool is_left;			/* its thread continued on another stack */
};

struct kernel_threads {
	struct trace *t;
	const struct kernel_trace *k;
	VEC(struct kernel_part) parts;		/* by kernel_tid, then time; disjoint */
	int64_t first_ns, last_ns;		/* of all of them: the recording begins before, and ends later */
	struct map *taken;			/* kernel tid -> number of model TIDs for it */
	struct map *processes;			/* pid << 32 | kernel tid */
	struct map *outsiders;			/* kernel tid -> model tid, for threads that only have a name */
};

/* Adds the threads that the model does not know to t->threads. */
void kernel_threads_find(struct kernel_threads *x, struct trace *t, const struct kernel_trace *k);
/* Adds the creations of the threads that were found, at the end of t->creations. */
void kernel_threads_add_creations(struct kernel_threads *x);
void kernel_threads_release(struct kernel_threads *x);

/* The part that the kernel's thread was at that time, or the last one before; NULL: none, or an unknown stack. */
const struct kernel_part *kernel_part_at(const struct kernel_threads *x, uint32_t kernel_tid,
					 int64_t ns);

/* The thread or device that woke o's thread; false: unknown. */
bool kernel_waker(struct kernel_threads *x, const struct kernel_off *o, uint64_t *ret_tid);

struct kernel_span {			/* a thread waited for a device */
	uint64_t device;
	int64_t start_ns, end_ns;
};
typedef VEC(struct kernel_span) kernel_spans;

/* kernel_devices.c */
struct kernel_devices {
	struct kernel_threads *x;
	VEC(uint64_t) named;		/* those that threads waited for */
};

/* Adds the devices that threads waited for, with their segments, to the trace; sorts the spans.  Windows:
 * from low_ns to until_ns, for a new device from the beginning; needs the spans that reach into this time,
 * and joined requests. */
void kernel_devices_add(struct kernel_devices *d, kernel_spans *waited, int64_t low_ns, int64_t until_ns);
void kernel_devices_release(struct kernel_devices *d);

/* Joins requests of a device that touch each other, which changes no result. */
void kernel_join_requests(struct kernel_trace *k);

/* The model's thread for this kernel number at that time; makes one for a thread outside the run. */
uint64_t kernel_thread_at(struct kernel_threads *x, uint32_t kernel_tid, int64_t ns);

/* kernel_stacks.c: adds the stacks of the parts, which are in order of kernel_tid and time, to t. */
void kernel_stacks_spread(struct trace *t, const struct kernel_trace *k, const struct kernel_part *parts,
			  size_t part_cnt);

/* For kernel_class(); context is the struct kernel_threads. */
bool kernel_thread_of_process(void *context, uint32_t pid, uint32_t tid);

_Static_assert(TID_TIMER == (1ULL << 48 | (uint64_t)WAKER_TIMER << 40), "one number for the timer");

/* Devices have TIDs above all threads'. */
static inline uint64_t kernel_device_tid(enum kernel_waker kind, uint32_t number)
{
	return 1ULL << 48 | (uint64_t)kind << 40 | number;
}

#endif
