/* SPDX-License-Identifier: Apache-2.0 */
/* opened.c - passes to threads the calls that they were found in (found.h). */
#include "drainer/drain.h"

void drainer_forget_opened(struct drainer *d)
{
	__atomic_store_n(&d->arena.control->opened_cnt, 0, __ATOMIC_RELEASE);
}

bool drainer_note_opened(struct drainer *d, const struct drainer_opened *o)
{
	struct vprof_site site = { .key = o->key, .name = o->name, .file = o->file, .line = o->line };
	uint32_t cnt = d->arena.control->opened_cnt, level = arena_level(&d->arena, o->key);

	if (cnt >= ARENA_OPENED || (!level && !o->anyway))
		return false;
	d->arena.opened[cnt] = (struct arena_opened){ .address = o->address, .caller = o->caller, .pid = o->pid,
		.tid = o->tid, .fid = arena_function(&d->arena, &site, level ? level : PROBE_ALWAYS) };
	__atomic_store_n(&d->arena.control->opened_cnt, cnt + 1, __ATOMIC_RELEASE);
	return true;
}
