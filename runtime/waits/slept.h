/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slept.h - whether a thread that lost its CPU in a call gave it up, to wait, or was preempted.
 *
 * switched.h says only that it was off the CPU.  The kernel counts how often a thread gives its CPU up, its voluntary switches.  If
 * that number is the same before a call and after it, the call did not wait for anything:
 *
 *	read(file) 0..4 ms, off the CPU; 17 before, 17 after: it copied, and another thread had the CPU meanwhile
 *	read(pipe) 0..4 ms, off the CPU; 17 before, 18 after: it waited
 *
 * Counting takes a system call (getrusage, 0.2 us), so calls that do not block count nothing: the number after one wait is the number
 * before the next call.  A switch between the two that nobody recorded (a page from the disk) makes the number too small: the call
 * then counts as a wait.  So a call that waited is never taken for one that did not.
 */
#ifndef RUNTIME_WAITS_SLEPT_H
#define RUNTIME_WAITS_SLEPT_H

#include <stdbool.h>
#include <stdint.h>

/* The calling thread's number, for slept_was_not(); 0: unknown. */
uint64_t slept_before(void);

/* After a call in which the thread was off the CPU.  false: it waited, or that is unknown. */
bool slept_was_not(uint64_t before);

/* The calling thread waited, and nobody counted. */
void slept_uncounted(void);

#endif
