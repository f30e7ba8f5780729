/* SPDX-License-Identifier: Apache-2.0 */
/*
 * note.h - reads a unit's note about its build (instrumenter/insert/unit_note.h), when units register and
 * when a recording begins.
 */
#ifndef RUNTIME_NOTE_H
#define RUNTIME_NOTE_H

#include <stdbool.h>
#include "runtime/shared/arena.h"

/* False if the note's section was removed from the program. */
bool note_is_there(const char *note);

/* The enum probe_level (drainer/drainer.h) of a site's letter. */
uint32_t note_level(const struct arena_map *a, unsigned int letter);

/* Applies the note's interval names to its marks, unless the recorder has set them. */
void note_apply(const struct arena_map *a, const char *note);

/* The label under which events of this one are logged. */
static inline uint32_t note_label(const struct arena_map *a, uint32_t label)
{
	uint32_t renamed = label < ARENA_LABELS ? __atomic_load_n(&a->labels[label].renamed, __ATOMIC_ACQUIRE) : 0;

	return renamed && renamed < ARENA_LABELS ? renamed : label;
}

#endif
