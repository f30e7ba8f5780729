/* SPDX-License-Identifier: Apache-2.0 */
/*
 * releasers.h - who let an object go: the paper's table [object -> thread].
 *
 * A waiter says that it waits for an object before it blocks; a releaser looks at that count, and
 * leaves a stamp (object, thread, time) only if somebody waits.  The waiter finds the stamp when
 * it goes on.  So releasing costs one load while nobody waits.  The table is in the arena: a
 * semaphore in memory that two processes share is released by one and waited for by the other.
 *
 * A releaser that looked just before the waiter said so leaves no stamp: the waker is then
 * unknown, for a wait that is mostly shorter than a microsecond.
 */
#ifndef RUNTIME_RELEASERS_H
#define RUNTIME_RELEASERS_H

#include <stdbool.h>
#include <stdint.h>
#include "runtime/process.h"

/* An object that only this process sees, by its address.  An address alone names an object that
 * all processes of the run may share. */
static inline uint64_t releasers_private(uint64_t address)
{
	return address ^ (uint64_t)process.pid << 40;
}

static inline uint32_t *releasers_waiters(uint64_t object)
{
	return &process.arena.waiters[arena_hash(object) % ARENA_WAITERS];
}

void releasers_expect(uint64_t object);		/* a waiter comes */
void releasers_forget(uint64_t object);		/* ... and goes */

void releasers_leave_stamp(uint64_t object, bool held);

/* Before the object is let go or signalled.  The thread is attached or becomes so. */
static inline void releasers_stamp(uint64_t object)
{
	if (__builtin_expect(__atomic_load_n(releasers_waiters(object), __ATOMIC_RELAXED) != 0, 0))
		releasers_leave_stamp(object, false);
}

/*
 * The same for a lock, which this thread held until now: the release is logged as well.  A lock is
 * not handed to who waits longest, others may take it in between; a waiter's time is explained by
 * all who held it meanwhile, not by the last alone.
 */
static inline void releasers_stamp_lock(uint64_t object)
{
	if (__builtin_expect(__atomic_load_n(releasers_waiters(object), __ATOMIC_RELAXED) != 0, 0))
		releasers_leave_stamp(object, true);
}

/* The latest stamp in (start, end]; false if there is none. */
bool releasers_find(uint64_t object, uint64_t start, uint64_t end, uint64_t *ret_serial,
		    uint64_t *ret_ticks);

#endif
