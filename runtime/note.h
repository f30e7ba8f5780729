/* SPDX-License-Identifier: Apache-2.0 */
/*
 * note.h - what a unit carries of its build (instrumenter/insert/unit_note.h), as the runtime reads it: when units register, and
 * when a recording begins.
 */
#ifndef RUNTIME_NOTE_H
#define RUNTIME_NOTE_H

#include <stdbool.h>
#include "runtime/shared/arena.h"

/* Nobody took the section with it out of the program. */
bool note_is_there(const char *note);

/* enum probe_level of drainer/drainer.h; letter: a site's. */
uint32_t note_level(const struct arena_map *a, unsigned int letter);

/* Which marks belong to intervals of another name, where the recorder does not say so. */
void note_apply(const struct arena_map *a, const char *note);

/* The label under which events of this one are logged. */
static inline uint32_t note_label(const struct arena_map *a, uint32_t label)
{
	uint32_t renamed = label < ARENA_LABELS ? __atomic_load_n(&a->labels[label].renamed, __ATOMIC_ACQUIRE) : 0;

	return renamed && renamed < ARENA_LABELS ? renamed : label;
}

#endif
