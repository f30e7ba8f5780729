/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ticks.h - sends each thread a signal after each millisecond of its own CPU time.
 *
 * The source is perf's task clock, which counts in user mode only: a signal that comes while the thread is in the kernel would make
 * calls like ppoll() fail with EINTR.  The signal is SIGURG, because it is ignored by default: if one is pending when the process
 * executes another program, which has no handler, it does no harm (SIGPROF would end that program).
 *
 * The event is a descriptor with a high number.  The kernel closes it when a program is executed, and we close it in the child of a
 * fork.  If the program closes all its descriptors, that thread gets no ticks any more and settles in its waits only.
 */
#ifndef RUNTIME_CAUSAL_TICKS_H
#define RUNTIME_CAUSAL_TICKS_H

#include <stdbool.h>
#include <stdint.h>

enum { TICK_NS = 1000000 };

/* For the calling thread, unless it has ticks or cannot have any; the arena then says why not. */
void ticks_start(void);
void ticks_stop(void);			/* until they are started again */
void ticks_end(void);			/* for all threads; call it before a filter that forbids them (runtime/rules/permit.h) */
void ticks_forked(void);

#endif
