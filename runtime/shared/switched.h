/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switched.h - whether the calling thread was switched off its CPU during a call, without asking the kernel.
 *
 * A call that may block mostly does not: a send() copies into the socket's buffer, a read() from the page
 * cache.  That took time, but nobody waited.  Threads have an area for restartable sequences (rseq) that
 * the C library registered with the kernel.  Its field rseq_cs says which stretch of code may not be
 * interrupted; when a thread comes back from having been switched off outside of that stretch, the kernel sets
 * it to 0.  So we leave a stretch there that nobody executes:
 *
 *	rseq_cs = &nowhere;  read(pipe, ...);  rseq_cs == &nowhere: the data was there, this thread computed
 *	                                       rseq_cs == 0: it was off the CPU, or a signal came
 *
 * The kernel also sets it to 0 when it updates its record of the CPUs that a process runs on (seen on 6.18), ten times a
 * second for each process: 95 of 92,000 reads in 10 s, whose thread was not switched.  runtime/waits/slept.h tells those
 * from waits.
 *
 * The field is set only during the call, because nowhere may be in a library that is unloaded later.  A program
 * with restartable sequences of its own sets the field at the beginning of each, and makes no calls in them.
 *
 * Not every kernel checks the field on return from a system call: the drainer tests this once
 * for all processes of the run (switched_is_told()).
 */
#ifndef RUNTIME_SHARED_SWITCHED_H
#define RUNTIME_SHARED_SWITCHED_H

#include <stdbool.h>

/* Sets the mark.  Setting it again (in a signal handler's calls) removes the first one. */
void switched_mark(void);

/* Removes the mark.  true: the thread was not switched off since; false: it was, or that is unknown. */
bool switched_was_not(void);

/* Whether this kernel checks the field; sleeps for about a microsecond. */
bool switched_is_told(void);

#endif
