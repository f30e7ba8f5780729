/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ticks.h - a signal for each thread, each millisecond of its own CPU time.
 *
 * perf's task clock, counted in user mode only: a signal that comes while the thread is in the kernel would make calls like
 * ppoll() fail with EINTR.  The signal is SIGURG, which is ignored by default: one that is pending when the program
 * executes another one, whose handlers are gone, does nothing there (SIGPROF would end it).
 *
 * The event is a descriptor, with a high number, that is closed when a program is executed, and closed by us in the child of
 * a fork.  A program that closes all its descriptors gets no ticks in that thread any more: it settles in its waits.
 */
#ifndef RUNTIME_CAUSAL_TICKS_H
#define RUNTIME_CAUSAL_TICKS_H

#include <stdbool.h>
#include <stdint.h>

enum { TICK_NS = 1000000 };

/* For the calling thread, unless it has some or could not have any; the reason why not is in the arena. */
void ticks_start(void);
void ticks_stop(void);			/* until they are started again */
void ticks_end(void);			/* of all threads, before a filter comes that does not permit them (runtime/rules/permit.h) */
void ticks_forked(void);

#endif
