/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - notes every taking and release of a lock, every post and every meeting at a barrier (`vprof record --order`).
 *
 * Otherwise only those are logged that another thread waits for.  A replay with a change (`vprof causal --predict`) needs them all:
 * a thread that came later than the lock's release may then come earlier.
 *
 *	T1 takes m at 10, lets it go at 50: ORDER m take, ORDER m give; nobody waited
 */
#ifndef RUNTIME_WAITS_ORDER_H
#define RUNTIME_WAITS_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include "trace/format.h"

extern uint32_t order_on __attribute__((visibility("hidden")));

/* The process takes part in a run, or no longer. */
void order_prepare(void);
void order_over(void);

/* The thread did that now, without a wait. */
void order_note_at_once(uint64_t object, enum order_what what);
/* ... after a wait, or in a call, of that many ticks, which ended at ticks.  name: the object's (releasers_name()). */
void order_note(uint64_t name, enum order_what what, uint64_t ticks, uint64_t waited);

static inline void order_took(uint64_t object, enum order_what what)
{
	if (__builtin_expect(order_on, 0))
		order_note_at_once(object, what);
}

#endif
