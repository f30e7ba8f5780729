/* SPDX-License-Identifier: Apache-2.0 */
/* objects.c - see objects.h. */
#include <stdio.h>
#include "drainer/drain.h"
#include "drainer/objects.h"

enum { OBJECTS_MAX = 1 << 16, PID_SHIFT = 40 };		/* more locks are not those of variables */

static bool is_taking(uint64_t word)
{
	uint64_t what = word & ((1U << ORDER_WHAT_BITS) - 1);

	return what == ORDER_TAKE || what == ORDER_SHARE || what == ORDER_POST;
}

void objects_note(struct drainer *d, const struct arena_chunk *chunk, const uint64_t *words)
{
	struct drain_objects *o = &d->objects;
	uint64_t object = words[0], *number;

	if (!o->is_wanted || d->is_head || o->list.cnt >= OBJECTS_MAX || !is_taking(words[1]))
		return;
	if (!o->seen)
		o->seen = map_new();
	number = map_slot(o->seen, object);
	if (*number)
		return;
	*number = o->list.cnt + 1;
	VEC_ADD(&o->list, (struct drain_object){ object, chunk->serial, chunk->pid, chunk->tid });
}

void objects_release(struct drain_objects *o)
{
	map_free(o->seen);
	VEC_RELEASE(&o->list);
}

/* The name of a private object has the process in it (runtime/waits/releasers.h). */
void drainer_objects(struct drainer *d, void (*take)(void *arg, uint64_t object, uint64_t address), void *arg)
{
	for (size_t i = 0; i < d->objects.list.cnt; i++) {
		const struct drain_object *o = &d->objects.list.items[i];

		take(arg, o->object, o->object ^ (uint64_t)o->pid << PID_SHIFT);
	}
}

void drainer_name_object(struct drainer *d, uint64_t object, const char *name)
{
	const struct drain_object *o;
	char text[256];
	uint64_t number;
	uint32_t label;

	if (snprintf(text, sizeof(text), TRACE_OBJECT_LABEL "%s", name) >= (int)sizeof(text))
		return;
	label = d->objects.seen && map_get(d->objects.seen, object, &number) ? arena_label(&d->arena, text) : 0;
	if (!label)
		return;
	o = &d->objects.list.items[number - 1];
	drain_event(d, o->serial, o->pid, o->tid, EVENT_OBJECT, clock_ticks(), (const uint64_t[]){ object, label });
}
