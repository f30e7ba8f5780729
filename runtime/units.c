/* SPDX-License-Identifier: Apache-2.0 */
/*
 * units.c - a list of arrays of sites, in blocks of a page; a place of a unit that was unloaded is free.
 *
 * Units come and go under the loader's lock, or before main(); a switch comes from any thread at an event.
 * That one never waits for the others: it is tried again at the next event.
 */
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include "runtime/process.h"
#include "runtime/units.h"

enum { BLOCK_UNITS = 255 };

struct unit {
	struct vprof_site *sites;	/* NULL: free */
	unsigned int cnt;
};

struct block {
	struct unit units[BLOCK_UNITS];
	struct block *next;
};

static struct block first;
static uint32_t busy;
static bool are_on;

static bool try_lock(void)
{
	return !__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE);
}

static void unlock(void)
{
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

/* The order matters to probes that run meanwhile in other threads: level last. */
static void set_levels(const struct unit *u, bool on)
{
	for (unsigned int i = 0; i < u->cnt; i++) {
		struct vprof_site *site = &u->sites[i];
		uint32_t level = on ? arena_level(process.arena, site->key) : 0;

		if (on)
			site->fid = (unsigned short)arena_function(process.arena, site, level);
		__atomic_store_n(&site->level, on && site->fid ? level : 0, __ATOMIC_RELEASE);
	}
	if (on)
		__atomic_fetch_add(&process.arena->control->site_cnt, u->cnt, __ATOMIC_RELAXED);
}

/* NULL: there is no memory for more. */
static struct unit *free_place(void)
{
	struct block *b = &first;

	for (;; b = b->next) {
		for (unsigned int i = 0; i < BLOCK_UNITS; i++)
			if (!b->units[i].sites)
				return &b->units[i];
		if (!b->next) {
			struct block *more = mmap(NULL, sizeof(*more), PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			if (more == MAP_FAILED)
				return NULL;
			b->next = more;
		}
	}
}

void units_add(struct vprof_site *sites, unsigned int cnt)
{
	struct unit *place, unit = { sites, cnt };

	while (!try_lock())
		sched_yield();
	place = free_place();
	if (place)
		*place = unit;
	if (are_on)
		set_levels(&unit, true);
	unlock();
}

void units_remove(struct vprof_site *sites, unsigned int cnt)
{
	while (!try_lock())
		sched_yield();
	set_levels(&(struct unit){ sites, cnt }, false);
	for (struct block *b = &first; b; b = b->next)
		for (unsigned int i = 0; i < BLOCK_UNITS; i++)
			if (b->units[i].sites == sites)
				b->units[i].sites = NULL;
	unlock();
}

bool units_switch(bool on)
{
	if (!try_lock())
		return false;
	are_on = on;
	for (struct block *b = &first; b; b = b->next)
		for (unsigned int i = 0; i < BLOCK_UNITS; i++)
			if (b->units[i].sites)
				set_levels(&b->units[i], on);
	unlock();
	return true;
}

void units_forked(void)
{
	unlock();
}
