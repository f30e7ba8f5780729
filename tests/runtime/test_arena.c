/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_arena.c - an arena's tables while several register at once, and a control block that lies.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "drainer/drain.h"
#include "tests/unit/cmocka_all.h"

enum { THREADS = 2, FUNCTIONS = 20000, LABELS = 1000, ARENAS = 5, SPINS = 20000 };

static char trace_path[] = "test-arena-XXXXXX";
static unsigned int there;		/* threads, at all functions so far */
static uint32_t numbers[THREADS][FUNCTIONS];

static struct drainer *open_arena(void)
{
	struct drainer_options o = { .trace_path = trace_path, .arena_bytes = 1 << 20, .default_level = 1 };
	struct diag diag = DIAG_INIT;
	struct drainer *d = NULL;

	memcpy(trace_path + strlen(trace_path) - 6, "XXXXXX", 6);
	close(mkstemp(trace_path));
	if (drainer_open(&o, &d, &diag))
		fail_msg("%s", diag.text);
	return d;
}

static void close_arena(struct drainer *d)
{
	drainer_close(d, NULL, &(struct diag)DIAG_INIT);
	unlink(trace_path);
}

struct registering {
	const struct arena_map *arena;
	unsigned int thread;
};

/* Together, as far as there are two processors just now. */
static void wait_for_others(unsigned int round)
{
	__atomic_fetch_add(&there, 1, __ATOMIC_ACQ_REL);
	for (int k = 0; k < SPINS && __atomic_load_n(&there, __ATOMIC_ACQUIRE) < THREADS * (round + 1); k++)
		;
}

static void *register_all(void *arg)
{
	const struct registering *r = arg;

	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		char name[32];
		struct vprof_site site = { .key = (i + 1) * 77ULL, .name = name, .file = "a.c", .line = 1 };

		snprintf(name, sizeof(name), "f%u", i);
		wait_for_others(i);
		numbers[r->thread][i] = arena_function(r->arena, &site, 1);
	}
	return NULL;
}

static void *register_labels(void *arg)
{
	const struct registering *r = arg;

	for (unsigned int i = 0; i < LABELS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "label %u", i);
		wait_for_others(i);
		numbers[r->thread][i] = arena_label(r->arena, name);
	}
	return NULL;
}

static void run_threads(const struct arena_map *a, void *(*run)(void *))
{
	struct registering r[THREADS];
	pthread_t threads[THREADS];

	__atomic_store_n(&there, 0, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < THREADS; i++) {
		r[i] = (struct registering){ a, i };
		assert_int_equal(pthread_create(&threads[i], NULL, run, &r[i]), 0);
	}
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* One number for one label, and all of them in order, for the drainer to take. */
static void test_labels_at_once(void **state)
{
	(void)state;
	for (int round = 0; round < ARENAS; round++) {
		struct drainer *d = open_arena();
		const struct arena_map *a = &d->arena;

		run_threads(a, register_labels);
		assert_int_equal(a->control->label_cnt, LABELS);
		for (unsigned int i = 0; i < LABELS; i++) {
			assert_int_equal(numbers[0][i], i + 1);
			assert_int_equal(numbers[1][i], i + 1);
			assert_int_equal(a->labels[i + 1].ready, 1);
		}
		close_arena(d);
	}
}

/* Everybody gets the same number, and no name is there twice: it would stand for two functions in the trace. */
static void test_at_once(void **state)
{
	struct drainer *d = open_arena();
	const struct arena_map *a = &d->arena;
	unsigned int named = 0;

	(void)state;
	run_threads(a, register_all);
	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		assert_true(numbers[0][i] > 0);
		for (unsigned int k = 1; k < THREADS; k++)
			assert_int_equal(numbers[k][i], numbers[0][i]);
		assert_true(a->functions[numbers[0][i]].key == (i + 1) * 77ULL);
	}
	for (uint32_t fid = 1; fid <= a->control->function_cnt; fid++) {
		assert_int_equal(a->functions[fid].ready, 1);	/* or no later one would be in the trace */
		named += a->functions[fid].name != 0;
	}
	assert_int_equal(named, FUNCTIONS);
	close_arena(d);
}

/* More than there is memory for from the start: each has a number and its name; those for which there is no number are counted. */
static void test_many_functions(void **state)
{
	enum { MANY = 200000, TOO_MANY = 7 };
	struct drainer *d = open_arena();
	const struct arena_map *a = &d->arena;
	struct vprof_site site = { .name = "", .file = "many.c" };
	char name[64];

	(void)state;
	site.name = name;
	for (uint64_t i = 1; i <= MANY; i++) {
		snprintf(name, sizeof(name), "function_of_a_program_with_very_many_of_them_%u", (unsigned int)i);
		site.key = i * 77;
		assert_int_equal(arena_function(a, &site, 1), i);
	}
	drain_tables(d);
	assert_int_equal(d->functions_written, MANY);
	site.key = 77ULL * 123456;
	assert_int_equal(arena_function(a, &site, 1), 123456);
	assert_string_equal(a->text + a->functions[123456].name, "function_of_a_program_with_very_many_of_them_123456");
	assert_int_equal(a->functions[MANY].file, a->functions[1].file);
	assert_true(a->control->text_used > ARENA_TEXT_FIRST);
	a->control->function_cnt = ARENA_FUNCTIONS - 2;
	for (uint64_t i = 0; i <= TOO_MANY; i++) {
		site.key = i + 1;
		assert_int_equal(!!arena_function(a, &site, 1), !i);
	}
	assert_int_equal(a->control->dropped[TABLE_FUNCTIONS], TOO_MANY);
	a->control->function_cnt = MANY;
	close_arena(d);
}

/* Each has one number, also when it is asked for again. */
static void test_many_labels(void **state)
{
	enum { MANY = 100000 };
	struct drainer *d = open_arena();
	const struct arena_map *a = &d->arena;

	(void)state;
	for (int round = 0; round < 2; round++)
		for (unsigned int i = 1; i <= MANY; i++) {
			char name[32];

			snprintf(name, sizeof(name), "kind %u", i);
			assert_int_equal(arena_label(a, name), i);
		}
	assert_int_equal(a->control->dropped[TABLE_LABELS], 0);
	a->control->label_cnt = ARENA_LABELS - 1;
	assert_int_equal(arena_label(a, "one too many"), 0);
	assert_int_equal(arena_label(a, "kind 7"), 7);
	assert_int_equal(a->control->dropped[TABLE_LABELS], 1);
	a->control->label_cnt = MANY;
	close_arena(d);
}

/* A process of the run can write anything there; no reader leaves the mapping for it. */
static void test_liar(void **state)
{
	struct drainer *d = open_arena();
	struct arena_map map = d->arena;
	struct arena_control *c = map.control;

	(void)state;
	c->chunks = c->stacks = 1ULL << 40;
	c->chunk_cnt = c->plan_mask = UINT32_MAX;
	c->text_used = 1ULL << 50;
	c->label_cnt = UINT32_MAX;
	assert_false(arena_open_map(&(struct arena_map){ .base = NULL }, map.base, d->arena_bytes));
	arena_fill_chunk(&map, map.chunk_cnt);
	assert_true(drain_full(d));
	assert_int_equal(arena_label(&map, "request"), 0);
	assert_int_equal(arena_level(&map, 12345), 1);
	c->free_chunks = c->free_slots = UINT32_MAX;
	assert_int_equal(arena_take_chunk(&map), 0);
	assert_int_equal(arena_take_slot(&map), 0);
	drain_live(d);
	drain_rest(d);
	close_arena(d);
}

/* Among mappings of any number of pages; a chunk is full where an address says so. */
static void test_alignment(void **state)
{
	struct drainer *d = open_arena();
	void *pages[16], *bases[16];

	(void)state;
	assert_int_equal(((uintptr_t)d->arena.chunks) % VPROF_CHUNK_BYTES, 0);
	for (size_t i = 0; i < 16; i++) {
		char *base = bases[i] = arena_map_file(d->arena_fd, d->arena_bytes);

		assert_ptr_not_equal(base, MAP_FAILED);
		assert_int_equal((uintptr_t)base % VPROF_CHUNK_BYTES, 0);
		assert_memory_equal(base, d->arena.base, d->arena_bytes);
		pages[i] = mmap(NULL, i % 3 * 4096 + 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	for (size_t i = 0; i < 16; i++) {
		assert_int_equal(munmap(bases[i], d->arena_bytes), 0);
		munmap(pages[i], i % 3 * 4096 + 1);
	}
	assert_ptr_equal(arena_map_file(-1, d->arena_bytes), MAP_FAILED);
	assert_int_equal(errno, EBADF);
	close_arena(d);
}

static uint32_t taken_chunk(struct drainer *d, uint32_t slot, uint64_t start)
{
	uint32_t number = arena_take_chunk(&d->arena);
	struct arena_chunk *chunk = arena_chunk(&d->arena, number);
	uint64_t *words = (uint64_t *)(chunk + 1);

	assert_true(number);
	chunk->slot = slot;
	chunk->serial = d->arena.slots[slot].serial;
	chunk->pid = chunk->tid = 1;
	chunk->state = CHUNK_OWNED;
	words[0] = start;
	words[1] = 10ULL << 32 | 1 << 8 | 1;
	return number;
}

/* A thread goes on while the drainer comes to its end: what it fills behind the last look at full chunks is taken, once. */
static void test_filled_meanwhile(void **state)
{
	struct drainer *d = open_arena();
	uint32_t slot = arena_take_slot(&d->arena);

	(void)state;
	assert_true(slot);
	d->arena.slots[slot].serial = 7;
	d->arena.slots[slot].used = 1;
	arena_fill_chunk(&d->arena, taken_chunk(d, slot, 100));
	assert_int_equal(drain_full(d), 1);
	assert_int_equal(d->record_cnt, 1);
	arena_fill_chunk(&d->arena, taken_chunk(d, slot, 200));
	taken_chunk(d, slot, 300);
	drain_rest(d);
	assert_int_equal(d->record_cnt, 3);
	d->arena.slots[slot].used = 0;
	close_arena(d);
}

static uint64_t *add_event(uint64_t *words, enum trace_event kind, uint64_t ticks)
{
	words[0] = ticks;
	words[1] = (uint64_t)kind << 8;
	return words + 2 + (event_words(kind) + 1) / 2 * 2;
}

/* The drainer takes no interval's end that a thread records after the last look: some of its calls may be missing. */
static void test_ends_meanwhile(void **state)
{
	struct drainer *d = open_arena();
	uint32_t slot = arena_take_slot(&d->arena);
	uint64_t *words, late = clock_ticks() * 2;

	(void)state;
	d->arena.slots[slot].serial = 7;
	d->arena.slots[slot].used = 1;
	words = (uint64_t *)(arena_chunk(&d->arena, taken_chunk(d, slot, 100)) + 1) + 2;
	words = add_event(words, EVENT_BEGIN, 110);
	words = add_event(words, EVENT_END, 120);
	words = add_event(words, EVENT_BEGIN, 130);
	words = add_event(words, EVENT_END, late);
	words[0] = late;
	words[1] = 10ULL << 32 | 1 << 8 | 1;
	drain_rest(d);
	assert_int_equal(d->stats.begins, 2);
	assert_int_equal(d->stats.ends, 1);
	assert_int_equal(d->record_cnt, 5);
	d->arena.slots[slot].used = 0;
	close_arena(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_at_once), cmocka_unit_test(test_labels_at_once), cmocka_unit_test(test_many_functions),
		cmocka_unit_test(test_many_labels), cmocka_unit_test(test_liar),
		cmocka_unit_test(test_alignment),
		cmocka_unit_test(test_filled_meanwhile), cmocka_unit_test(test_ends_meanwhile)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
