/* SPDX-License-Identifier: Apache-2.0 */
/*
 * units.c - a list of arrays of sites, in blocks of a page; a place of a unit that was unloaded is free.
 *
 * Units come and go under the loader's lock, or before main(); a switch comes from any thread at an event.
 * That one never waits for the others: it is tried again at the next event.
 *
 * A probe whose gate is 2 calls the runtime to learn that its thread is in no interval, or in one that is
 * root-only. With one transaction in 100 recorded, PostgreSQL's 17,000 calls a transaction cost 4 ns each for
 * that.  So gates are closed in between:
 *
 *	BEGIN, root-only	quiet: the gates of all these sites are 0
 *	BEGIN, in full		loud: 2
 *	END			quiet
 *
 * quiet says that some gates may be 0: it is set before the first gate closes, and cleared after the last one
 * is open again.  So a signal handler, or the child of a fork, that comes in between and continues an
 * interval opens all of them.
 */
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "runtime/causal/causal.h"
#include "runtime/note.h"
#include "runtime/process.h"
#include "runtime/rules/permit.h"
#include "runtime/thread.h"
#include "runtime/units.h"

enum {
	BLOCK_UNITS = 170,
	INSIDE_SITES = 4096,		/* with more sites than this, gates are never closed */
	FLIP_YIELDS = 100,		/* a change of gates takes microseconds... */
	FLIP_SLEEPS = 1000,		/* ...or milliseconds, if its thread lost its CPU meanwhile; for ever, if it left by longjmp() */
	SLEEP_NS = 1000000,
};

struct unit {
	struct vprof_site *sites;	/* NULL: free */
	unsigned int cnt;
	const char *note;
};

struct block {
	struct unit units[BLOCK_UNITS];
	struct block *next;
};

static struct block first;
static struct block *full_until = &first;	/* blocks before it are full, ... */
static unsigned int full_cnt;			/* ... and that many places of it */
static struct unit *likely, *likely_begin;	/* the unit that is probably unloaded next, or NULL; where its
						 * block begins */
static uint64_t missed;				/* sites of units without memory for an entry: off for ever */
static uint32_t busy;
static bool are_on;

/* Those with GATE_INSIDE. */
static struct vprof_site *inside[INSIDE_SITES];
static unsigned int inside_cnt;
static bool is_list_full, quiet;
static uint32_t has_threads, flipping;

static bool try_lock(void)
{
	return !__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE);
}

static void unlock(void)
{
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

static bool is_quiet(void)
{
	return __atomic_load_n(&quiet, __ATOMIC_RELAXED);
}

static void set_quiet(bool to)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&quiet, to, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void set_inside(unsigned char gate)
{
	for (unsigned int i = 0; i < inside_cnt; i++)
		__atomic_store_n(&inside[i]->gate, gate, __ATOMIC_RELAXED);
}

/* There are too many: the list is not used from here on. */
static void add_inside(struct vprof_site *site)
{
	if (inside_cnt == INSIDE_SITES) {
		if (is_quiet())
			set_inside(GATE_INSIDE);
		set_quiet(false);
		is_list_full = true;
		return;
	}
	inside[inside_cnt] = site;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	inside_cnt++;
}

static void remove_inside(const struct vprof_site *sites, unsigned int cnt)
{
	for (unsigned int i = 0; i < inside_cnt; )
		if (inside[i] >= sites && inside[i] < sites + cnt) {
			inside[i] = inside[inside_cnt - 1];
			__atomic_signal_fence(__ATOMIC_SEQ_CST);
			inside_cnt--;
		} else {
			i++;
		}
}

/* Sites go with their unit.  Waits while another thread, the only one that takes part so far, changes their gates. */
static void wait_for_flips(void)
{
	const struct timespec moment = { 0, SLEEP_NS };

	if (!inside_cnt || thread_tid() == process_own_pid())
		return;
	__atomic_store_n(&has_threads, 1, __ATOMIC_SEQ_CST);
	for (unsigned int i = 0; i < FLIP_YIELDS + FLIP_SLEEPS && __atomic_load_n(&flipping, __ATOMIC_ACQUIRE); i++) {
		if (i < FLIP_YIELDS || !permitted(PERMIT_SLEEP))
			permit_yield();
		else
			syscall(SYS_nanosleep, &moment, NULL);	/* by its number: this is not a wait of the program */
	}
}

/*
 * The order matters to probes that run meanwhile in other threads: gate last.  Sites that are dormant already
 * are not written: at the end of a forked process that would copy all their pages.  A dormant function has no
 * number.
 */
static void set_gates(const struct unit *u, bool on)
{
	bool is_noted = on && note_is_there(u->note);
	unsigned int unknown = 0;

	if (on)
		note_apply(process.arena, u->note);
	for (unsigned int i = 0; i < u->cnt; i++) {
		struct vprof_site *site = &u->sites[i];
		uint32_t level = on ? arena_level(process.arena, site->key) : 0;
		unsigned char gate;

		if (level == LEVEL_AS_BUILT) {
			unknown += !is_noted;
			level = is_noted ? note_level(process.arena, site->level) : 0;
		}
		if (level)
			set_site_fid(site, arena_function(process.arena, site, level));
		gate = level && site_fid(site) ? gate_of_level(level) : 0;
		if (site->gate != gate)
			__atomic_store_n(&site->gate, gate, __ATOMIC_RELEASE);
		if (gate == GATE_INSIDE)
			add_inside(site);
	}
	if (causal_on)
		causal_sites_changed();
	if (on)
		__atomic_fetch_add(&process.arena->control->site_cnt, u->cnt, __ATOMIC_RELAXED);
	if (unknown)
		__atomic_fetch_add(&process.arena->control->unnamed_cnt, unknown, __ATOMIC_RELAXED);
}

/* NULL: there is no memory for more. */
static struct unit *free_place(void)
{
	struct block *b = full_until;

	for (;; b = b->next) {
		for (; full_cnt < BLOCK_UNITS; full_cnt++)
			if (!b->units[full_cnt].sites)
				return &b->units[full_cnt];
		if (!b->next) {
			struct block *more = !permitted(PERMIT_MMAP) ? MAP_FAILED : mmap(NULL, sizeof(*more), PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			if (more == MAP_FAILED)
				return NULL;
			b->next = more;
		}
		full_until = b->next;
		full_cnt = 0;
	}
}

static void count_missed(uint64_t cnt)
{
	if (are_on && cnt)
		__atomic_fetch_add(&process.arena->control->dropped[TABLE_UNITS], cnt, __ATOMIC_RELAXED);
}

/* A unit without a place stays off: its functions' numbers could not be taken back when the next recording
 * gives others. */
void units_add(struct vprof_site *sites, unsigned int cnt, const char *note)
{
	struct unit *place, unit = { sites, cnt, note };

	while (!try_lock())
		permit_yield();
	place = cnt ? free_place() : NULL;
	if (place) {
		*place = unit;
		if (are_on)
			set_gates(&unit, true);
	} else {
		missed += cnt;
		count_missed(cnt);
	}
	unlock();
}

/* Destructors run in the reverse order of constructors: mostly it is the unit before. */
static struct unit *find_unit(const struct vprof_site *sites)
{
	if (likely && likely->sites == sites)
		return likely;
	for (struct block *b = &first; b; b = b->next)
		for (unsigned int i = 0; i < BLOCK_UNITS; i++)
			if (b->units[i].sites == sites) {
				likely_begin = b->units;
				return &b->units[i];
			}
	return NULL;
}

void units_remove(struct vprof_site *sites, unsigned int cnt)
{
	struct unit *place;

	wait_for_flips();
	if (causal_on)
		causal_sites_gone(sites, cnt);
	while (!try_lock())
		permit_yield();
	set_gates(&(struct unit){ sites, cnt, NULL }, false);
	remove_inside(sites, cnt);
	place = find_unit(sites);
	if (place) {
		place->sites = NULL;
		full_until = &first;
		full_cnt = 0;
		likely = place > likely_begin ? place - 1 : NULL;
	} else {
		missed -= cnt < missed ? cnt : missed;
	}
	unlock();
}

bool units_switch(bool on)
{
	if (!try_lock())
		return false;
	are_on = on;
	count_missed(missed);
	inside_cnt = 0;
	is_list_full = false;
	set_quiet(false);
	for (struct block *b = &first; b; b = b->next)
		for (unsigned int i = 0; i < BLOCK_UNITS; i++)
			if (b->units[i].sites)
				set_gates(&b->units[i], on);
	unlock();
	return true;
}

bool units_each(void (*take)(struct vprof_site *site))
{
	if (!try_lock())
		return false;
	for (struct block *b = &first; b; b = b->next)
		for (unsigned int i = 0; i < BLOCK_UNITS; i++)
			for (unsigned int k = 0; b->units[i].sites && k < b->units[i].cnt; k++)
				take(&b->units[i].sites[k]);
	unlock();
	return true;
}

void units_forked(void)
{
	likely = NULL;			/* the thread that was adding may have stopped half-way */
	unlock();
}

/*
 * Works without the lock: a signal handler may interrupt it and call exit() or longjmp(), and the lock must
 * not remain held then.  flipping signals that to other threads that unload units, for a moment.
 */
static void flip(unsigned char gate)
{
	__atomic_store_n(&flipping, 1, __ATOMIC_SEQ_CST);
	set_inside(gate);
	__atomic_store_n(&flipping, 0, __ATOMIC_RELEASE);
}

void units_quiet(void)
{
	if (is_quiet() || is_list_full || __atomic_load_n(&has_threads, __ATOMIC_RELAXED))
		return;
	set_quiet(true);
	flip(0);
	/* A thread that came in between did not know all sites.  Adds nothing, but orders this after the gates. */
	if (__atomic_fetch_add(&has_threads, 0, __ATOMIC_SEQ_CST) || vprof_self.gate == GATE_INSIDE)
		units_loud();
}

void units_loud(void)
{
	if (!is_quiet())
		return;
	flip(GATE_INSIDE);
	set_quiet(false);
}

void units_have_threads(void)
{
	__atomic_store_n(&has_threads, 1, __ATOMIC_SEQ_CST);
	units_loud();
}
