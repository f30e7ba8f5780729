/* SPDX-License-Identifier: Apache-2.0 */
/*
 * releasers.h - who let an object go: the paper's table [object -> thread].
 *
 * A waiter says that it waits for an object before it blocks; a releaser looks whether anybody does, and
 * leaves a stamp (object, thread, time) only then.  The waiter finds the stamp when it goes on.
 *
 * It is said twice: for the object's place in its page, any page, and for the object by its name.  A
 * releaser looks at the place first, so that releasing costs one load and no arithmetic while nobody
 * waits; only where somebody waits for one at the same place it asks for the name.  The tables are in the arena: a
 * semaphore in memory that two processes share is released by one and waited for by the other.
 *
 * A releaser that looked just before the waiter said so leaves no stamp: the waker is then
 * unknown, for a wait that is mostly shorter than a microsecond.
 *
 * Memory that processes share may be at another address in each.  An object in it is handed over as its
 * address with a mark, and looked up (mapping.h) only once somebody waits for an object at the same place:
 *
 *	process 1 waits for the mutex at 0x7f10040: counts for ...040 and for what it is called, (inode 77, 0x40);
 *	process 2 lets 0x7fa0040 go: somebody waits at ...040; looked up it is (inode 77, 0x40), for which
 *	somebody waits: a stamp
 */
#ifndef RUNTIME_WAITS_RELEASERS_H
#define RUNTIME_WAITS_RELEASERS_H

#include <stdbool.h>
#include <stdint.h>
#include "runtime/process.h"

/* Marks of an address that is not a name yet.  No name has SHARED without the highest bit. */
#define RELEASERS_SHARED (1ULL << 62)
#define RELEASERS_OWN (1ULL << 61)	/* where no shared mapping is known it is this process' own; without:
					 * the address alone is its name */
#define RELEASERS_PLACE 0xfffULL	/* the same in every mapping of a page */

/* An object that only this process sees, by its address. */
static inline uint64_t releasers_private(uint64_t address)
{
	return address ^ (uint64_t)process.pid << 40;
}

/* An object that all processes of the run may share.  What is no address is its own name. */
static inline uint64_t releasers_shared(uint64_t address)
{
	return address > RELEASERS_PLACE && address < 1ULL << 57 ? address | RELEASERS_SHARED : address;
}

static inline bool releasers_is_unnamed(uint64_t object)
{
	return object >> 62 == 1;
}

/* Who waits for the object of that name, or one that has the same hash. */
static inline uint32_t *releasers_waiters(uint64_t name)
{
	return &process.waiters[arena_hash(name) % ARENA_WAITERS];
}

/* Who waits for an object, as it was handed over, or another at this place. */
static inline uint32_t *releasers_place(uint64_t object)
{
	return (uint32_t *)((char *)process.places + (object & RELEASERS_PLACE & ~3ULL));
}

/* What the object is called in all processes. */
uint64_t releasers_name(uint64_t object);

struct awaited {			/* an object whose releasers were told that we wait */
	uint64_t object;		/* as it was handed over; 0: none */
	uint64_t name;
	uint32_t weight;		/* as it counts at its place */
};

struct awaited releasers_expect(uint64_t object);	/* a waiter comes */
/* ... who waits for something else, and will then need this lock: when others get it meanwhile is no matter to him. */
struct awaited releasers_expect_later(uint64_t lock);
void releasers_forget(const struct awaited *a);		/* ... and goes */

/* If this thread records; event: EVENT_NONE, or what is logged as well, of the object. */
void releasers_leave_stamp(uint64_t name, enum trace_event event);

/* Somebody waits for an object at the place of this one: a stamp, if it is this one. */
void releasers_stamp_awaited(uint64_t object, enum trace_event event);

/* ... and it is a lock that this thread has just got: logged, if it is this one. */
void releasers_took_awaited(uint64_t object);

static inline bool releasers_are_awaited(uint64_t object)
{
	return __atomic_load_n(releasers_place(object), __ATOMIC_RELAXED) != 0;
}

/* By somebody who waits for nothing else. */
static inline bool releasers_are_awaited_now(uint64_t object)
{
	return (uint16_t)__atomic_load_n(releasers_place(object), __ATOMIC_RELAXED) != 0;
}

/* Before the object is let go or signalled. */
static inline void releasers_stamp(uint64_t object)
{
	if (__builtin_expect(releasers_are_awaited(object), 0))
		releasers_stamp_awaited(object, EVENT_NONE);
}

/*
 * The same for a lock, which this thread held until now: the release is logged as well.  A lock is
 * not handed to who waits longest, others may take it in between; a waiter's time is explained by
 * all who held it meanwhile, not by the last alone.
 */
static inline void releasers_stamp_event(uint64_t object, enum trace_event event)
{
	if (__builtin_expect(releasers_are_awaited(object), 0))
		releasers_stamp_awaited(object, event);
}

/* For a lock of which every taking comes by releasers_took() or wait_end(). */
static inline void releasers_stamp_lock(uint64_t object)
{
	releasers_stamp_event(object, EVENT_UNLOCK);
}

/*
 * After a lock was had without a wait: somebody else may wait for it, and waits for this thread from now on, not for what it
 * did before.  Who comes to wait later need not know when it was taken.
 */
static inline void releasers_took(uint64_t object)
{
	if (__builtin_expect(releasers_are_awaited_now(object), 0))
		releasers_took_awaited(object);
}

/*
 * Unchanged since before start: there is no stamp after it.  Counted behind the stamp, so one that was counted before
 * is older than start, and one that lets somebody go is counted before that.
 */
uint32_t releasers_written(uint64_t name);

/* The latest stamp in (start, end]; false if there is none. */
bool releasers_find(uint64_t object, uint64_t start, uint64_t end, uint64_t *ret_serial,
		    uint64_t *ret_ticks);

#endif
