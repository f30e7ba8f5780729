/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callers.c - the arena's callers, each as a file and an address in it.
 *
 * If a file was loaded where another one had been unloaded, the address may belong to either, and is left
 * out.  Processes of the run may write to the arena meanwhile, so every value of it is checked.
 */
#include <stdlib.h>
#include <string.h>
#include "drainer/drain.h"

static bool holds(const struct arena_module *m, uint64_t entry)
{
	uint64_t address = entry & ((1ULL << CODE_ADDRESS_BITS) - 1);

	return m->program == entry >> CODE_ADDRESS_BITS && m->start <= address && address < m->end && m->base <= m->start;
}

/* NULL: none, or several. */
static const struct arena_module *find_module(const struct arena_module *all, uint32_t cnt, uint64_t entry)
{
	const struct arena_module *found = NULL;

	for (uint32_t i = 0; i < cnt; i++) {
		if (!holds(&all[i], entry))
			continue;
		if (found && (found->base != all[i].base || found->name != all[i].name))
			return NULL;
		found = &all[i];
	}
	return found;
}

/* Copies the complete entries, so that they cannot change any more. */
static struct arena_module *copy_modules(const struct arena_map *a, uint32_t *ret_cnt)
{
	uint32_t cnt = __atomic_load_n(&a->control->module_cnt, __ATOMIC_ACQUIRE);
	struct arena_module *all = calloc(ARENA_MODULES, sizeof(*all));

	*ret_cnt = 0;
	for (uint32_t i = 1; all && i <= cnt && i < ARENA_MODULES; i++)
		if (__atomic_load_n(&a->modules[i].ready, __ATOMIC_ACQUIRE) && a->modules[i].name)
			all[(*ret_cnt)++] = a->modules[i];
	return all;
}

static char *copy_text(const struct arena_map *a, uint32_t at)
{
	return at < ARENA_TEXT_BYTES ? strndup(a->text + at, ARENA_TEXT_BYTES - at) : NULL;
}

static void add_place(const struct arena_map *a, const struct arena_module *all, uint32_t cnt, uint64_t entry,
		      struct drainer_caller *to)
{
	const struct arena_module *m = entry ? find_module(all, cnt, entry) : NULL;
	char *path = m ? copy_text(a, m->name) : NULL;

	if (path)
		to->places[to->place_cnt++] = (struct drainer_place){ path, (entry & ((1ULL << CODE_ADDRESS_BITS) - 1)) - m->base };
}

void drainer_callers(const struct drainer *d, void (*take)(void *arg, const struct drainer_caller *c), void *arg)
{
	uint32_t cnt;
	struct arena_module *all = copy_modules(&d->arena, &cnt);

	for (uint32_t i = 0; i < ARENA_CALLERS && all; i++) {
		const struct arena_caller *c = &d->arena.callers[i];
		uint64_t entry = __atomic_load_n(&c->entry, __ATOMIC_ACQUIRE);
		struct drainer_caller caller = { .number = i + 1 };

		add_place(&d->arena, all, cnt, entry, &caller);
		for (int k = 0; caller.place_cnt && k < CODE_OUTER && __atomic_load_n(&c->place, __ATOMIC_ACQUIRE) && c->outer[k]; k++)
			add_place(&d->arena, all, cnt, code_entry((uint32_t)(entry >> CODE_ADDRESS_BITS), c->outer[k]), &caller);
		if (caller.place_cnt)
			take(arg, &caller);
		for (unsigned int k = 0; k < caller.place_cnt; k++)
			free(caller.places[k].path);
	}
	free(all);
}
