/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sync_ops.c - what threads did with locks, semaphores and barriers, in a run that noted all of it (record --order).
 *
 * An object is called as the variable that it is, or is in, where the recorder found one (EVENT_OBJECT); else by its number.
 */
#include <inttypes.h>
#include <string.h>
#include "base/banned.h"
#include "base/map.h"
#include "trace/read/replay.h"

static bool kind_of(uint64_t what, enum sync_kind *ret)
{
	static const enum sync_kind kinds[] = {
		[ORDER_TAKE] = SYNC_TAKE, [ORDER_SHARE] = SYNC_SHARE, [ORDER_GIVE] = SYNC_GIVE, [ORDER_POST] = SYNC_POST,
		[ORDER_MEET] = SYNC_MEET,
	};

	if (what < ORDER_TAKE || what > ORDER_MEET)
		return false;
	*ret = kinds[what];
	return true;
}

/* object -> label + 1 */
static struct map *find_names(const struct raw *r)
{
	struct map *names = map_new();

	for (size_t i = 0; i < r->events.cnt; i++) {
		const struct raw_event *e = &r->events.items[i];

		if (e->kind == EVENT_OBJECT && e->words[1] < r->labels.cnt && r->labels.items[e->words[1]])
			map_set(names, e->words[0], e->words[1] + 1);
	}
	return names;
}

static const char *name_of(const struct reading *rd, const struct map *names, uint64_t object)
{
	size_t prefix = strlen(TRACE_OBJECT_LABEL);
	uint64_t label = 0;

	if (map_get(names, object, &label) && strncmp(rd->raw.labels.items[label - 1], TRACE_OBJECT_LABEL, prefix) == 0)
		return rd->raw.labels.items[label - 1] + prefix;
	return arena_printf(rd->t->arena, "0x%" PRIx64, object);
}

void build_sync_ops(struct reading *rd)
{
	_cleanup_(map_freep) struct map *names = find_names(&rd->raw), *numbers = map_new();
	struct trace *t = rd->t;

	for (size_t i = 0; i < rd->raw.events.cnt; i++) {
		const struct raw_event *e = &rd->raw.events.items[i];
		struct sync_op op = { .tid = rd->raw.threads.items[e->thread].tid, .ns = e->ns, .order = e->order };
		uint64_t *number;

		if (e->kind != EVENT_ORDER || !kind_of(e->words[1], &op.kind))
			continue;
		op.since_ns = (int64_t)e->words[2] < e->ns ? (int64_t)e->words[2] : e->ns;
		number = map_slot(numbers, e->words[0]);
		if (!*number) {
			VEC_ADD(&t->sync_objects, name_of(rd, names, e->words[0]));
			*number = t->sync_objects.cnt;
		}
		op.object = (uint32_t)(*number - 1);
		VEC_ADD(&t->sync_ops, op);
	}
}
