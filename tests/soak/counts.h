/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * counts.h - what a victim says about itself, in memory that outlives it.
 *
 * A cell belongs to one thread.  A number in it is raised after the record it counts was closed, so a kill
 * finds at most one record of a thread that is in the trace and not counted here, and none the other
 * way round.
 */
#ifndef TESTS_SOAK_COUNTS_H
#define TESTS_SOAK_COUNTS_H

#include <stdint.h>

enum { CELLS = 1024 };

struct cell {
	uint32_t tid;
	volatile uint64_t leafs, begins, ends, handled;
} __attribute__((aligned(64)));

struct counts {
	volatile uint32_t cell_cnt;
	volatile uint32_t how;		/* the victim ends itself: 1 by SIGSEGV, 2 by abort() */
	volatile uint32_t working;	/* threads that have recorded something */
	volatile uint32_t ended;	/* it came to its own end, and found nothing wrong */
	volatile uint64_t leafs, threads;	/* where there are more threads than cells: of all of them */
	volatile int64_t first_fd;	/* the number that the first open() got */
	struct cell cells[CELLS];
};

#endif
