/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_chunk_order.c - drainer/drain.c: a thread's records are written in the order in which it logged them, wherever its chunks lie.
 *
 * Each chunk has one record, and all have the same time: what is written must not depend on which chunk is which.
 */
#include <stdlib.h>
#include <string.h>
#include "drainer/drain.h"
#include "tests/unit/cmocka_all.h"

enum { SERIAL = 7, CHUNKS = 4, TICKS = 1000 };

static struct drainer d;

enum way { WAY_LEFT, WAY_LIVE, WAY_FULL };

/* The thread took chunks order[0], order[1], ...; the first are full, the last two are its own. */
static size_t drain(enum way way, const uint32_t order[CHUNKS], unsigned char ret[static 1000])
{
	struct arena_control control = { .chunk_cnt = CHUNKS };
	char *memory = aligned_alloc(VPROF_CHUNK_BYTES, CHUNKS * VPROF_CHUNK_BYTES), drained[CHUNKS + 1];
	struct arena_slot *slots = calloc(ARENA_SLOTS + 1, sizeof(*slots));
	char *stacks = aligned_alloc(VPROF_STACK_BYTES, 2 * VPROF_STACK_BYTES);
	uint64_t links[CHUNKS + 1] = { 0 };

	memset(memory, 0, CHUNKS * VPROF_CHUNK_BYTES);
	memset(stacks, 0, 2 * VPROF_STACK_BYTES);
	slots[1] = (struct arena_slot){ .used = 1, .pid = 10, .tid = 11, .serial = SERIAL };
	d = (struct drainer){ .arena = { .control = &control, .slots = slots, .chunks = memory, .chunk_cnt = CHUNKS, .stacks = stacks,
					 .links = links }, .drained = drained, .records = { ret, 0, 1000, false } };
	for (uint32_t i = 0; i < CHUNKS; i++) {
		struct arena_chunk *chunk = arena_chunk(&d.arena, order[i]);
		uint64_t *words = (uint64_t *)(chunk + 1);

		*chunk = (struct arena_chunk){ .state = i < CHUNKS - 2 ? CHUNK_FULL : CHUNK_OWNED, .slot = 1, .pid = 10, .tid = 11,
					       .serial = SERIAL, .number = i + 1 };
		words[0] = TICKS;
		words[1] = (uint64_t)EVENT_PARENT << 8;
		words[2] = 100 + i;
		words[3] = 200 + i;
		if (way == WAY_FULL)
			arena_fill_chunk(&d.arena, order[i]);
	}
	if (way == WAY_LEFT)
		drain_left(&d);
	else if (way == WAY_LIVE)
		drain_live(&d);
	else
		assert_int_equal(drain_full(&d), CHUNKS);
	assert_false(d.records.full);
	free(slots);
	free(stacks);
	free(memory);
	return d.records.len;
}

static void test_order(void **state)
{
	static const uint32_t orders[][CHUNKS] = { { 4, 3, 2, 1 }, { 2, 1, 4, 3 }, { 3, 4, 1, 2 }, { 1, 4, 2, 3 } };
	static const uint32_t sorted[CHUNKS] = { 1, 2, 3, 4 };

	(void)state;
	for (enum way way = WAY_LEFT; way <= WAY_FULL; way++) {
		unsigned char wanted[1000], found[1000];
		size_t len = drain(WAY_LEFT, sorted, wanted);

		assert_true(len > 4 * CHUNKS);
		for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
			assert_int_equal(drain(way, orders[i], found), len);
			assert_memory_equal(found, wanted, len);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
