/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.c - sets the gates of targets.
 *
 * Every block changes the gates of all functions that the experiment may ask for.  So the calls of C cost the same in each block,
 * and cancel when blocks are compared.
 *
 *	targets parse, log_flush; block 1 begins: parse's site: gate 2 -> 0x82, log_flush's: 0 -> 0x80
 */
#include "runtime/causal/causal.h"
#include "runtime/causal/target.h"
#include "runtime/rules/permit.h"
#include "runtime/thread.h"
#include "runtime/units.h"

enum { SITES = 4096 };			/* an inline function has one in each unit */

static struct vprof_site *sites[SITES];
static uint32_t site_cnt, seen_block, busy, changed = 1;

static const struct arena_experiment *experiment(void)
{
	return &process.arena->control->experiment;
}

static bool is_asked(uint64_t key, bool now)
{
	const struct arena_experiment *e = experiment();
	uint32_t cnt = e->key_cnt < EXPERIMENT_KEYS ? e->key_cnt : EXPERIMENT_KEYS;

	for (uint32_t i = 0; i < cnt; i++)
		if (e->keys[i].key == key && (!now || e->keys[i].target == __atomic_load_n(&e->target, __ATOMIC_RELAXED)))
			return true;
	return false;
}

bool target_has(uint32_t fid)
{
	return fid && fid < ARENA_FUNCTIONS && is_asked(process.arena->functions[fid].key, true);
}

bool target_is_open(void)
{
	if (!vprof_self.top || !thread_self.slot)
		return false;
	for (const struct vprof_frame *f = vprof_self.top - 1; f > arena_stack(thread_self.arena, thread_self.slot_number); f--)
		if (target_has(frame_fid(f)))
			return true;
	return false;
}

bool target_is_innermost(void)
{
	const struct vprof_frame *f = vprof_self.top - 1;

	return vprof_self.top && thread_self.slot && f > arena_stack(thread_self.arena, thread_self.slot_number) &&
	       target_has(frame_fid(f));
}

static void take(struct vprof_site *site)
{
	if (site_cnt < SITES && is_asked(site->key, false))
		sites[site_cnt++] = site;
}

/* A function that the plan leaves out has no number yet. */
static void set_gate(struct vprof_site *site, bool is_target)
{
	unsigned char gate = site->gate & (CAUSAL_GATE - 1);

	if (is_target && !site_fid(site))
		set_site_fid(site, arena_function(process.arena, site, 1));
	if (is_target && site_fid(site))
		gate |= CAUSAL_GATE;
	if (gate != site->gate)
		__atomic_store_n(&site->gate, gate, __ATOMIC_RELEASE);
}

static bool try_lock(void)
{
	return !__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE);
}

static void unlock(void)
{
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

void target_turn(uint32_t block)
{
	if ((!__atomic_load_n(&seen_block, __ATOMIC_RELAXED) == !block && !__atomic_load_n(&changed, __ATOMIC_RELAXED)) || !try_lock())
		return;
	if (__atomic_exchange_n(&changed, 0, __ATOMIC_ACQUIRE)) {
		site_cnt = 0;
		if (!units_each(take))
			__atomic_store_n(&changed, 1, __ATOMIC_RELAXED);
	}
	for (uint32_t i = 0; i < site_cnt; i++)
		set_gate(sites[i], block);
	__atomic_store_n(&seen_block, block, __ATOMIC_RELAXED);
	unlock();
}

void target_forked(void)
{
	unlock();
	__atomic_store_n(&changed, 1, __ATOMIC_RELAXED);
}

void causal_sites_changed(void)
{
	__atomic_store_n(&changed, 1, __ATOMIC_RELEASE);
}

void causal_sites_gone(const struct vprof_site *gone, unsigned int cnt)
{
	while (!try_lock())
		permit_yield();
	for (uint32_t i = 0; i < site_cnt; )
		if (sites[i] >= gone && sites[i] < gone + cnt)
			sites[i] = sites[--site_cnt];
		else
			i++;
	unlock();
}
