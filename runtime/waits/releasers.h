/* SPDX-License-Identifier: Apache-2.0 */
/*
 * releasers.h - which thread released an object: the paper's table [object -> thread].
 *
 * A waiter announces its wait for an object before it blocks; a releaser checks for waiters, and
 * leaves a stamp (object, thread, time) only if there is one.  The waiter finds the stamp when it continues.
 *
 * The announcement is counted twice: for the object's place in its page, any page, and for the object's name.  A
 * releaser checks the place first, so that releasing costs one load and no arithmetic while there is no
 * waiter; only if a thread waits for an object at the same place it computes the name.  The tables are in the arena: a
 * semaphore in memory that two processes share is released by one and waited for by the other.
 *
 * A releaser that checked just before the announcement leaves no stamp: the waker is then
 * unknown, for a wait that is mostly shorter than a microsecond.
 *
 * Shared memory may have another address in each process.  An object in it is passed as its
 * address with a mark, and looked up (mapping.h) only once a thread waits for an object at the same place:
 *
 *	process 1 waits for the mutex at 0x7f10040: counts for ...040 and for its name, (inode 77, 0x40);
 *	process 2 releases 0x7fa0040: there is a waiter at ...040; the lookup gives (inode 77, 0x40), which has
 *	a waiter: a stamp
 */
#ifndef RUNTIME_WAITS_RELEASERS_H
#define RUNTIME_WAITS_RELEASERS_H

#include <stdbool.h>
#include <stdint.h>
#include "runtime/process.h"

/* Marks of an address that is not a name yet.  No name has SHARED without the highest bit. */
#define RELEASERS_SHARED (1ULL << 62)
#define RELEASERS_OWN (1ULL << 61)	/* it is private to this process if no shared mapping is known there;
					 * without this mark the address alone is its name */
#define RELEASERS_PLACE 0xfffULL	/* the part of an address that is the same in every mapping of a page */

/* An object that only this process sees, by its address. */
static inline uint64_t releasers_private(uint64_t address)
{
	return address ^ (uint64_t)process.pid << 40;
}

/* An object that all processes of the run may share.  A value that is no address is its own name. */
static inline uint64_t releasers_shared(uint64_t address)
{
	return address > RELEASERS_PLACE && address < 1ULL << 57 ? address | RELEASERS_SHARED : address;
}

static inline bool releasers_is_unnamed(uint64_t object)
{
	return object >> 62 == 1;
}

/* Number of waiters for the object of that name, or one with the same hash. */
static inline uint32_t *releasers_waiters(uint64_t name)
{
	return &process.waiters[arena_hash(name) % ARENA_WAITERS];
}

/* Number of waiters for an object, as it was passed, or for another object at this place. */
static inline uint32_t *releasers_place(uint64_t object)
{
	return (uint32_t *)((char *)process.places + (object & RELEASERS_PLACE & ~3ULL));
}

/* The object's name in all processes. */
uint64_t releasers_name(uint64_t object);

struct awaited {			/* an announced wait for an object */
	uint64_t object;		/* as it was passed; 0: none */
	uint64_t name;
	uint32_t weight;		/* its count at its place */
};

struct awaited releasers_expect(uint64_t object);	/* a waiter begins to wait */
/* ... that waits for something else, and will then need this lock: it does not matter when others get the lock meanwhile. */
struct awaited releasers_expect_later(uint64_t lock);
void releasers_forget(const struct awaited *a);		/* ... and stops */

/* All releases and takings reach releasers.c from now on, as if a thread waited for each object; or no longer. */
void releasers_watch_all(bool all);

/* Leaves a stamp if this thread records.  event: EVENT_NONE, or an event of the object to log as well. */
void releasers_leave_stamp(uint64_t name, enum trace_event event);

/* A thread waits for an object at the place of this one: leaves a stamp if it is the same object. */
void releasers_stamp_awaited(uint64_t object, enum trace_event event);

/* ... and this thread has just got that lock: logs that if it is the same object. */
void releasers_took_awaited(uint64_t object);

static inline bool releasers_are_awaited(uint64_t object)
{
	return __atomic_load_n(releasers_place(object), __ATOMIC_RELAXED) != 0;
}

/* Whether a thread waits that waits for nothing else. */
static inline bool releasers_are_awaited_now(uint64_t object)
{
	return (uint16_t)__atomic_load_n(releasers_place(object), __ATOMIC_RELAXED) != 0;
}

/* Before the object is released or signalled. */
static inline void releasers_stamp(uint64_t object)
{
	if (__builtin_expect(releasers_are_awaited(object), 0))
		releasers_stamp_awaited(object, EVENT_NONE);
}

/*
 * The same for a lock that this thread held until now: the release is logged as well.  A lock does
 * not pass to the longest waiter, others may take it in between; all holders during a wait explain
 * the waiter's time, not the last one alone.
 */
static inline void releasers_stamp_event(uint64_t object, enum trace_event event)
{
	if (__builtin_expect(releasers_are_awaited(object), 0))
		releasers_stamp_awaited(object, event);
}

/* For a lock whose every taking is reported by releasers_took() or wait_end(). */
static inline void releasers_stamp_lock(uint64_t object)
{
	releasers_stamp_event(object, EVENT_UNLOCK);
}

/*
 * After a lock was taken without a wait: another thread may wait for it, and from now on that wait is for this thread's
 * holding, not for its earlier work.  Later waiters need not know when it was taken.
 */
static inline void releasers_took(uint64_t object)
{
	if (__builtin_expect(releasers_are_awaited_now(object), 0))
		releasers_took_awaited(object);
}

/*
 * Number of stamps; if it did not change since before start, there is no stamp after start.  A stamp is counted after it is
 * written, so one counted before is older than start, and one that releases a waiter is counted before the release.
 */
uint32_t releasers_written(uint64_t name);

/* The latest stamp in (start, end]; false if there is none. */
bool releasers_find(uint64_t object, uint64_t start, uint64_t end, uint64_t *ret_serial,
		    uint64_t *ret_ticks);

#endif
