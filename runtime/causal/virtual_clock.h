/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtual_clock.h - vprof causal --virtual-clock: the program's clocks show the calling thread's virtual time, and its deadlines are meant
 * in that time.
 *
 *	the thread's shift is 300 ms: clock_gettime() says 9.7 s when it is 10 s
 *	pthread_cond_timedwait() until 10.2 s waits until 10.5 s; then the thread pays what it owes, and its clock shows 10.2 s or more
 *
 * A length of time needs no change: a thread that slept owes a pause for all that the others' clocks fell behind meanwhile.  No thread's
 * clock ever goes back.
 */
#ifndef RUNTIME_CAUSAL_VIRTUAL_CLOCK_H
#define RUNTIME_CAUSAL_VIRTUAL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

extern uint32_t clock_is_virtual __attribute__((visibility("hidden")));

/* This process reads its clocks past the wrappers (a static program): then its deadlines must not move either. */
void virtual_clock_is_out_of_reach(void);

/* The lag of the thread's clocks: call the first before reading one of them, the second after that. */
uint64_t virtual_clock_behind(void);
void virtual_clock_was_read(void);

/* False for clocks that count CPU time. */
bool virtual_clock_has(clockid_t clock);

/* A deadline of a clock with that lag came at that time (ticks): the thread's clock must show the deadline when it is read
 * next. */
void virtual_clock_came(uint64_t behind, uint64_t ticks);

#endif
