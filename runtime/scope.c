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

static uint64_t add_to_hash(uint64_t hash, const char *text)
{
	do
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL;
	while (*text++);
	return hash;
}

static void introduce(struct vprof_scope *scope)
{
	struct vprof_site *site = &scope->site;
	uint64_t hash = add_to_hash(add_to_hash(0xcbf29ce484222325ULL, site->file), site->name);
	uint32_t level;

	site->key = (hash ^ site->line) * 0x100000001b3ULL;
	level = arena_level(process.arena, site->key);
	if (level < 1 || level == LEVEL_AS_BUILT)
		level = 1;		/* written by hand, so it is always recorded */
	set_site_fid(site, arena_function(process.arena, site, level));
	__atomic_store_n(&site->gate, site_fid(site) ? gate_of_level(level) : 0, __ATOMIC_RELAXED);
	__atomic_store_n(&scope->known, process.epoch, __ATOMIC_RELEASE);
}

void vprof_scope_in(struct vprof_scope *scope, struct vprof_span *span, void *address, void *caller)
{
	if (!process.epoch || __atomic_load_n(&scope->known, __ATOMIC_ACQUIRE) != process.epoch) {
		if (!process_attach())
			return;
		introduce(scope);
	}
	if (scope->site.gate && scope->site.gate <= vprof_self.gate)
		span->call = thread_enter(site_word(&scope->site), (unsigned long)address, (unsigned long)caller);
}

void vprof_scope_out(struct vprof_span *span)
{
	thread_leave(span->call, 0);
}
