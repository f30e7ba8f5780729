/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects.h - the locks of a recording that notes all of them (record --order), so that those can be named that are variables.
 *
 *	ORDER 0x7b00404040, take, of process 123 -> OBJECT 0x7b00404040, label "object:log_lock"
 */
#ifndef DRAINER_OBJECTS_H
#define DRAINER_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/alloc.h"
#include "base/map.h"

struct arena_chunk;
struct drainer;

struct drain_object {			/* and the thread that had it first */
	uint64_t object, serial;
	uint32_t pid, tid;
};

struct drain_objects {
	bool is_wanted;
	struct map *seen;
	VEC(struct drain_object) list;
};

/* words: of an ORDER in the chunk. */
void objects_note(struct drainer *d, const struct arena_chunk *chunk, const uint64_t *words);
void objects_release(struct drain_objects *o);

#endif
