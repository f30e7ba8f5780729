/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.c - VPROF_SCOPE: a named block, recorded as if it were a function.
 *
 * No constructor registers such a block; it registers itself when it is first entered.  Two
 * threads that do so at once find the same number for the same key.
 */
#include "runtime/process.h"
#include "runtime/scope.h"
#include "runtime/thread.h"

/* Which arena knows the site; 0: none. */
static unsigned char known_mark(void)
{
	return (unsigned char)(process.epoch % 255 + 1);
}

static uint64_t add_to_hash(uint64_t hash, const char *text)
{
	do
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL;
	while (*text++);
	return hash;
}

static void introduce(struct vprof_site *site)
{
	uint64_t hash = add_to_hash(add_to_hash(0xcbf29ce484222325ULL, site->file), site->name);
	uint32_t level;

	site->key = (hash ^ site->line) * 0x100000001b3ULL;
	level = arena_level(process.arena, site->key);
	if (level < 1 || level == LEVEL_AS_BUILT)
		level = 1;		/* written by hand: it is wanted */
	site->fid = (unsigned short)arena_function(process.arena, site, level);
	__atomic_store_n(&site->gate, site->fid ? gate_of_level(level) : 0, __ATOMIC_RELAXED);
	__atomic_store_n(&site->flags, known_mark(), __ATOMIC_RELEASE);
}

void vprof_scope_in(struct vprof_site *site, struct vprof_span *span, void *address, void *caller)
{
	if (__atomic_load_n(&site->flags, __ATOMIC_ACQUIRE) != known_mark()) {
		if (!process_attach())
			return;
		introduce(site);
	}
	if (site->gate <= vprof_self.gate)
		span->call = thread_enter(site_word(site), (unsigned long)address, (unsigned long)caller);
}

void vprof_scope_out(struct vprof_span *span)
{
	thread_leave(span->call, vprof_ticks());
}
