/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_open_calls.c - drainer/drain.c: the calls that are open when a recording ends.
 *
 * Threads go on meanwhile.  A stack is written as it was when the drainer came to it, whatever returns while it empties the
 * thread's chunks: the same bytes.
 */
#include <stdlib.h>
#include <string.h>
#include "drainer/drain.h"
#include "tests/unit/cmocka_all.h"

enum { SERIAL = 7, CHUNKS = 1 };

static struct drainer d;
static struct vprof_frame *stack;
static bool returns;

size_t __real_encode_calls(struct encoder *e, struct encoded_calls *c, const uint64_t *words, size_t cnt);
size_t __wrap_encode_calls(struct encoder *e, struct encoded_calls *c, const uint64_t *words, size_t cnt);

/* A chunk is being emptied. */
size_t __wrap_encode_calls(struct encoder *e, struct encoded_calls *c, const uint64_t *words, size_t cnt)
{
	if (returns)
		stack[1].start = stack[2].start = 0;
	return __real_encode_calls(e, c, words, cnt);
}

static size_t drain(bool some_return, uint64_t open_cnt, unsigned char ret[static 1000])
{
	struct arena_control control = { .chunk_cnt = CHUNKS };
	char *memory = aligned_alloc(VPROF_CHUNK_BYTES, VPROF_CHUNK_BYTES), drained[CHUNKS + 1];
	struct arena_slot *slots = calloc(ARENA_SLOTS + 1, sizeof(*slots));
	struct arena_chunk *chunk = (void *)memory;
	size_t len;

	memset(memory, 0, VPROF_CHUNK_BYTES);
	*chunk = (struct arena_chunk){ .state = CHUNK_OWNED, .slot = 1, .pid = 10, .tid = 11, .serial = SERIAL };
	slots[1] = (struct arena_slot){ .used = 1, .pid = 10, .tid = 11, .serial = SERIAL };
	stack = aligned_alloc(VPROF_STACK_BYTES, VPROF_STACK_BYTES);
	memset(stack, 0, VPROF_STACK_BYTES);
	stack[0].start = 1;
	for (uint64_t i = 1; i <= open_cnt; i++)
		stack[i] = (struct vprof_frame){ .start = 1000000 * i, .function = i << 8 | 1 };
	d = (struct drainer){ .arena = { .control = &control, .slots = slots, .chunks = memory, .chunk_cnt = CHUNKS, .stacks = (char *)stack },
			      .drained = drained, .records = { ret, 0, 1000, false } };
	returns = some_return;
	drain_left(&d);
	len = d.records.len;
	assert_false(d.records.full);
	free(slots);
	free(stack);
	free(memory);
	return len;
}

static void test_returned_meanwhile(void **state)
{
	unsigned char one[1000], two[1000], none[1000];
	size_t len = drain(false, 2, one);

	(void)state;
	assert_true(len > drain(false, 0, none));
	assert_int_equal(drain(true, 2, two), len);
	assert_memory_equal(one, two, len);
}

/* As many as a stack has room for. */
static void test_full(void **state)
{
	unsigned char one[1000], two[1000];
	size_t len = drain(false, VPROF_STACK_FRAMES - 1, one);

	(void)state;
	assert_true(len > VPROF_STACK_FRAMES - 1);
	assert_int_equal(drain(true, VPROF_STACK_FRAMES - 1, two), len);
	assert_memory_equal(one, two, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_returned_meanwhile),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
