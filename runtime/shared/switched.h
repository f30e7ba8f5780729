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
 * It is 0 too where the kernel does its housekeeping of which CPUs a process runs on (seen on 6.18), ten times a
 * second and process: of 92,000 reads in 10 s 95, during which their thread was not switched.  Those are recorded
 * as waits of the time they took.
 *
 * It is left there during the call only, as nowhere may be in a library that is unloaded later.  A program
 * with restartable sequences of its own sets the field at the beginning of each, and makes no calls in them.
 *
 * Not every kernel looks at the field on the way back from a system call: the drainer tries it once
 * for all processes of the run (switched_is_told()).
 */
#ifndef RUNTIME_SHARED_SWITCHED_H
#define RUNTIME_SHARED_SWITCHED_H

#include <stdbool.h>

/* From here on.  A mark that is set again (a signal handler's calls) is gone for who set it first. */
void switched_mark(void);

/* Takes the mark away.  true: the thread was not switched off since; false: it was, or that cannot be told. */
bool switched_was_not(void);

/* Whether this kernel tells; takes a sleep, of a microsecond mostly. */
bool switched_is_told(void);

#endif
