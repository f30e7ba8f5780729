/* SPDX-License-Identifier: GPL-3.0-or-later */
/* programs.h - what the programs of make exam-causal share, and those of programs_waits.c. */
#ifndef TESTS_EXAM_CAUSAL_PROGRAMS_H
#define TESTS_EXAM_CAUSAL_PROGRAMS_H

#define NOINLINE __attribute__((noinline))

/* An amount of which a part is really made faster: what is left of it. */
long left(long amount);
void work(long us);			/* computes */
void sleep_us(long us);
void part(void *(*run)(void *), void *arg);	/* a thread */

void two_holders(void);
void three_holders(void);
void shared_lock(void);
void disk_reads(void);
void page_faults(void);
void disk_writes(void);
void open_loop(void);
void open_loop_by_clock(void);
void readers(void);

#endif
