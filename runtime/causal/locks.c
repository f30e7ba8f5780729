/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locks.c - a list of variables, and a hash table of locks by target and name, which threads fill without a lock.
 *
 *	append() takes the mutex named 77, target 2: taken[] has hash(77, 2) from now on; flush() takes it, too: it is the target's
 */
#include "runtime/causal/locks.h"
#include "runtime/causal/target.h"
#include "runtime/thread.h"
#include "runtime/waits/releasers.h"

enum { STEPS = 16 };

#define GET(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)

static struct arena_experiment *experiment(void)
{
	return &process.arena->control->experiment;
}

/* Private objects have the process in their names. */
static uint64_t address_of(uint64_t object)
{
	return releasers_is_unnamed(object) ? object & ~(RELEASERS_SHARED | RELEASERS_OWN) : releasers_private(object);
}

static bool is_in_target(const struct arena_experiment *e, uint64_t address)
{
	uint32_t cnt = GET(&e->lock_cnt), target = GET(&e->target);

	for (uint32_t i = 0; i < cnt && i < EXPERIMENT_LOCKS; i++) {
		const struct experiment_lock *l = &e->locks[i];

		if (l->target == target && l->program == process.program && address >= l->start && address < l->end)
			return true;
	}
	return false;
}

/* Finds it, or puts it there. */
static bool is_taken(struct arena_experiment *e, uint64_t object, bool puts)
{
	uint64_t key = arena_hash(releasers_name(object) ^ ((uint64_t)GET(&e->target) + 1) << 48) | 1;

	for (unsigned int step = 0; step < STEPS; step++) {
		uint64_t *at = &e->taken[(arena_hash(key) + step) % EXPERIMENT_TAKEN], is = GET(at);

		if (!is && puts && __atomic_compare_exchange_n(at, &is, key, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return true;
		if (is == key)
			return true;
		if (!is)
			return false;
	}
	if (puts)
		__atomic_fetch_add(&e->locks_lost, 1, __ATOMIC_RELAXED);
	return false;
}

/* ---- in which order locks go round ---- */

static struct experiment_order *order_of(uint64_t name, bool adds)
{
	struct experiment_order *all = experiment()->orders;
	uint64_t hash = arena_hash(name);

	for (unsigned int step = 0; step < STEPS; step++) {
		struct experiment_order *o = &all[(hash + step) % EXPERIMENT_ORDERS];
		uint64_t is = GET(&o->name);

		if (!is && adds && __atomic_compare_exchange_n(&o->name, &is, name, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return o;
		if (is == name)
			return o;
		if (!is)
			return NULL;
	}
	return NULL;
}

static bool is_waited_for(uint64_t name)
{
	return __atomic_load_n(releasers_waiters(name), __ATOMIC_RELAXED);
}

void locks_note_release(uint64_t object)
{
	uint64_t name = releasers_name(object);
	struct experiment_order *o = name && is_waited_for(name) ? order_of(name, true) : NULL;

	if (o)
		__atomic_fetch_add(&o->release_cnt, 1, __ATOMIC_RELAXED);
}

/* A release while others wait leaves a stamp: the last one is ours. */
void locks_note_taking(uint64_t object)
{
	uint64_t name = releasers_name(object), serial = 0, ticks;
	struct experiment_order *o = name && is_waited_for(name) ? order_of(name, false) : NULL;

	if (!o || !releasers_find(name, 0, UINT64_MAX, &serial, &ticks) || serial != thread_self.serial)
		return;
	__atomic_fetch_add(&o->again_cnt, 1, __ATOMIC_RELAXED);
	if (vprof_self.top && vprof_self.top - 1 > arena_stack(thread_self.arena, thread_self.slot_number))
		__atomic_store_n(&o->fid, frame_fid(vprof_self.top - 1), __ATOMIC_RELAXED);
}

bool locks_has(uint64_t object)
{
	struct arena_experiment *e = experiment();

	if (is_in_target(e, address_of(object)))
		return true;
	return GET(&e->has_keys) && is_taken(e, object, target_is_innermost());
}

bool locks_have_code(uint64_t address)
{
	return is_in_target(experiment(), address);
}
