/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_side.h - a kernel's side of a run written down by hand, and the tuples that come of merging it.  Included once by
 * the tests that need it.
 */
#ifndef TESTS_UNIT_TRACE_KERNEL_SIDE_H
#define TESTS_UNIT_TRACE_KERNEL_SIDE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/unit/cmocka_all.h"
#include "trace/kernel/kernel.h"
#include "tests/unit/tuples_check.h"

enum { READ = 0, PREAD = 17, NANOSLEEP = 35, WAIT4 = 61, FUTEX = 202, WRITE = 1, POLL = 7 };
enum { DISK = 254 << 20 };
#define VDA "282574754676736"		/* 1 << 48 | WAKER_DISK << 40 | DISK */
#define ETH0 "283673999966210"		/* ... | WAKER_NIC << 40 | 2 */
#define NIC3 "283673999966211"
#define TIMER "284773511593984"		/* ... | WAKER_TIMER << 40 */

static struct kernel_trace k;

static void begin(int64_t start_ns, int64_t end_ns)
{
	memset(&k, 0, sizeof(k));
	k.arena = arena_new();
	k.start_ns = start_ns;
	k.end_ns = end_ns;
	VEC_ADD(&k.names, (struct kernel_name){ WAKER_DISK, DISK, "vda" });
	VEC_ADD(&k.names, (struct kernel_name){ WAKER_TIMER, 0, "timer" });
}

static void life(enum kernel_record_kind kind, uint32_t tid, int64_t ns, const char *name)
{
	VEC_ADD(&k.lives, (struct kernel_life){ kind, tid, 10, kind == KERNEL_SEEN, ns, name });
}

/* Blocked in a system call; woken by a task, or by a device. */
static struct kernel_off *off(uint32_t tid, int64_t out_ns, int64_t in_ns, int syscall, int64_t woken_ns,
			      enum kernel_waker kind, uint32_t waker)
{
	struct kernel_off *o = VEC_EXTEND(&k.offs);

	o->tid = tid;
	o->pid = 10;
	o->out_ns = out_ns;
	o->in_ns = in_ns;
	o->syscall = syscall;
	o->state = KERNEL_STATE_INTERRUPTIBLE;
	o->flags = woken_ns ? OFF_WOKEN : 0;
	o->woken_ns = woken_ns;
	o->waker_kind = kind;
	o->waker = waker;
	return o;
}

static inline void preempted(uint32_t tid, int64_t out_ns, int64_t in_ns)
{
	struct kernel_off *o = off(tid, out_ns, in_ns, 0, 0, WAKER_TASK, 0);

	o->state = 0;
	o->flags = OFF_PREEMPTED;
}

static inline struct trace *unmerged(const char *tuples)
{
	char path[] = "kernel-XXXXXX";
	const char *paths = path;
	struct diag diag = DIAG_INIT;
	struct trace *t = NULL;
	int fd = mkstemp(path);

	dprintf(fd, "vprof-tuples 1\n%s", tuples);
	close(fd);
	if (tuples_read(&paths, 1, &t, &diag))
		fail_msg("%s", diag.text);
	unlink(path);
	trace_sort(t);
	return t;
}

static struct trace *merged(const char *tuples)
{
	struct trace *t = unmerged(tuples);

	kernel_sort(&k);
	kernel_merge(t, &k);
	return t;
}

static inline void assert_merged(const char *tuples, const char *expected)
{
	struct trace *t = merged(tuples);

	assert_trace_is(t, expected);
	trace_free(t);
	kernel_release(&k);
}

/* The trace of a look, from what was noted since begin(). */
static inline struct trace *look_ends(void)
{
	struct trace *t = trace_new();

	kernel_sort(&k);
	kernel_merge(t, &k);
	kernel_release(&k);
	trace_sort(t);
	return t;
}

#endif
