/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accounts.h - samples the kernel's CPU accounts of each thread of the run.
 *
 * /proc/PID/task/TID/schedstat has a thread's CPU time, its time in the run queue and how often it got a CPU;
 * stat has its state.  Both are readable without privileges.  The reader compares them with the running time in the
 * trace (trace/read/off_cpu.h).
 *
 * A sample costs about 2 us, 8 us with the state.  All samples together take at most one part in ACCOUNTS_COST_SHARE of a
 * CPU: with many threads, each is sampled less often.
 */
#ifndef DRAINER_ACCOUNTS_H
#define DRAINER_ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/alloc.h"
#include "trace/encode.h"

struct drainer;

struct account {			/* of one look */
	uint64_t ticks, run_ns, delay_ns, slices;
	bool is_off;			/* the thread slept */
};

struct account_thread {
	uint32_t pid, tid;
	uint64_t serial;		/* 0: this slot of the arena is free */
	int stat_fd, schedstat_fd;	/* -1: opened for each look */
	struct account last;
	uint64_t look_cnt;		/* number of samples equal to last */
	bool is_pending;		/* last is not in the trace yet */
	bool goes_on;			/* last equals the sample before, except for the time */
};

struct accounts {
	VEC(struct account_thread) threads;	/* by slot of the arena */
	uint64_t pid_namespace;		/* our own; numbers of another namespace mean nothing here */
	uint64_t began_ns, next_ns;
	size_t fds_left;
	struct encoder table;		/* BLOCK_ACCOUNTS */
};

void accounts_init(struct accounts *a, uint64_t now_ns);
void accounts_turn(struct drainer *d, uint64_t now_ns);	/* takes a look, if it is time */
void accounts_end(struct drainer *d);	/* takes a last look at each thread; writes everything */
void accounts_write(struct drainer *d);	/* the same, and goes on */
void accounts_flush(struct drainer *d);	/* writes the collected samples into the file */
void accounts_release(struct accounts *a);

#endif
