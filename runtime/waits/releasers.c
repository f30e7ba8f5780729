/* SPDX-License-Identifier: Apache-2.0 */
/*
 * releasers.c - stamps in rings, without locks.
 *
 * An object hashes to a bucket, which keeps the last eight stamps of all its objects.  A stamp's
 * time is zero while it is written and is read before and after the rest, so half of a stamp is
 * never believed.
 *
 *	mutex m, waited for from 100 to 180; stamps (m, T4, 90) (q, T2, 150) (m, T3, 170):
 *	T3 let it go at 170; from 170 to 180 the waiter was on its way back to a processor
 */
#include "runtime/causal/causal.h"
#include "runtime/thread.h"
#include "runtime/waits/mapping.h"
#include "runtime/waits/order.h"
#include "runtime/waits/releasers.h"

#define GET(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define PUT(p, value) __atomic_store_n(p, value, __ATOMIC_RELEASE)

static uint32_t everybody_waits[ARENA_PLACES];

static struct arena_bucket *bucket_of(uint64_t object)
{
	return &process.arena->releasers[arena_hash(object) % ARENA_BUCKETS];
}

uint64_t releasers_name(uint64_t object)
{
	uint64_t address = object & ~(RELEASERS_SHARED | RELEASERS_OWN), name;

	if (!releasers_is_unnamed(object))
		return object;
	name = mapping_name(address);
	if (name)
		return name;
	return object & RELEASERS_OWN ? releasers_private(address) : address;
}

/* Threads that wait now count in the lower half of a place. */
enum { NOW = 1, LATER = 1 << 16 };

void releasers_watch_all(bool all)
{
	for (unsigned int i = 0; all && i < ARENA_PLACES; i++)
		everybody_waits[i] = LATER | NOW;
	__atomic_store_n(&process.places, all ? everybody_waits : process.arena->places, __ATOMIC_RELEASE);
}

/* In the arena, wherever releases look. */
static uint32_t *own_place(uint64_t object)
{
	return (uint32_t *)((char *)process.arena->places + (object & RELEASERS_PLACE & ~3ULL));
}

static struct awaited expect(uint64_t object, uint32_t weight)
{
	struct awaited a = { object, releasers_name(object), weight };

	__atomic_fetch_add(releasers_waiters(a.name), 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(own_place(object), weight, __ATOMIC_SEQ_CST);
	return a;
}

struct awaited releasers_expect(uint64_t object)
{
	return expect(object, NOW);
}

struct awaited releasers_expect_later(uint64_t lock)
{
	return expect(lock, LATER);
}

void releasers_forget(const struct awaited *a)
{
	__atomic_fetch_sub(own_place(a->object), a->weight, __ATOMIC_RELAXED);
	__atomic_fetch_sub(releasers_waiters(a->name), 1, __ATOMIC_RELAXED);
}

static void write_stamp(uint64_t name, enum trace_event event)
{
	struct arena_bucket *bucket = bucket_of(name);
	uint32_t at = __atomic_fetch_add(&bucket->next, 1, __ATOMIC_RELAXED) % ARENA_STAMPS;
	struct arena_stamp *stamp = &bucket->stamps[at];
	uint64_t now;

	if (causal_on)
		PUT(&process.arena->stamp_maxima[bucket - process.arena->releasers][at], causal_max());
	PUT(&stamp->ticks, 0);
	PUT(&stamp->object, name);
	PUT(&stamp->serial, thread_self.serial);
	now = clock_ticks();
	PUT(&stamp->ticks, now);
	__atomic_fetch_add(&bucket->written, 1, __ATOMIC_RELEASE);
	if (event)
		THREAD_LOG(event, now, name);
}

void releasers_leave_stamp(uint64_t name, enum trace_event event)
{
	if (thread_ready())
		write_stamp(name, event);
}

void releasers_stamp_awaited(uint64_t object, enum trace_event event)
{
	uint64_t name = releasers_name(object);

	if (causal_on) {
		causal_let_go(object);
		causal_settle();
		if (event == EVENT_UNLOCK)
			causal_order(object);
	}
	if (__atomic_load_n(releasers_waiters(name), __ATOMIC_RELAXED))
		releasers_leave_stamp(name, event);
	if (order_on && (event == EVENT_UNLOCK || event == EVENT_POST))
		order_note(name, event == EVENT_POST ? ORDER_POST : ORDER_GIVE, clock_ticks(), 0);
}

void releasers_took_awaited(uint64_t object)
{
	uint64_t name = releasers_name(object);

	if (__atomic_load_n(releasers_waiters(name), __ATOMIC_RELAXED) && thread_ready())
		THREAD_LOG(EVENT_TAKEN, clock_ticks(), name);
}

uint32_t releasers_written(uint64_t name)
{
	return GET(&bucket_of(name)->written);
}

bool releasers_find(uint64_t object, uint64_t start, uint64_t end, uint64_t *ret_serial,
		    uint64_t *ret_ticks)
{
	struct arena_bucket *bucket = bucket_of(object);
	uint64_t latest = 0;

	for (unsigned int i = 0; i < ARENA_STAMPS; i++) {
		struct arena_stamp *stamp = &bucket->stamps[i];
		uint64_t ticks = GET(&stamp->ticks), serial = GET(&stamp->serial);

		if (GET(&stamp->object) != object || ticks <= start || ticks > end ||
		    ticks <= latest || GET(&stamp->ticks) != ticks)
			continue;
		latest = ticks;
		*ret_serial = serial;
		*ret_ticks = ticks;
	}
	return latest;
}
