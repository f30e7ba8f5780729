/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * target_arena.c - an arena into which another process writes arbitrary words while the drainer reads it.
 *
 * The input is a list of steps of ten bytes: what, where (of how much there is there), a word.
 *
 *	0 control  1 slots  2 chunks  3 stacks  4 functions  5 labels  6 text: the word goes there
 *	7 a chunk becomes full  8 .. 15 the drainer does one of the things it does
 *	16 from here on another thread writes all those words again and again meanwhile
 *
 * Whatever it finds, the drainer stays inside the arena and comes to an end.  The beginning of each part is as it was
 * for the next input; nothing else is written.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/banned.h"
#include "drainer/drain.h"
#include "tests/fuzz/targets.h"

enum { STEP_BYTES = 10, STEPS_MAX = 400, PARTS = 7, CHUNKS = 16, ARENA_BYTES = CHUNKS * VPROF_CHUNK_BYTES };

struct part {
	char *at;
	size_t bytes;			/* that inputs write to */
	char *pristine;
};

struct scribble {
	uint64_t *at, word;
};

static struct drainer *drainer;
static struct part parts[PARTS];
static struct scribble scribbles[STEPS_MAX];
static size_t scribble_cnt;		/* of which the other thread knows */
static char trace_path[160];

static void note_part(size_t i, void *at, size_t bytes)
{
	parts[i] = (struct part){ at, bytes, malloc(bytes) };
	if (!parts[i].pristine)
		exit(99);
	memcpy(parts[i].pristine, at, bytes);
}

static void *scribble(void *unused)
{
	for (;;) {
		size_t cnt = __atomic_load_n(&scribble_cnt, __ATOMIC_ACQUIRE);

		for (size_t i = 0; i < cnt; i++)
			__atomic_store_n(scribbles[i].at, scribbles[i].word, __ATOMIC_RELAXED);
		if (!cnt)
			usleep(50);
	}
	return unused;
}

static void remove_files(void)
{
	drain_remove_arena(drainer);
	unlink(trace_path);
}

static void prepare(void)
{
	struct drainer_options o = { .trace_path = trace_path, .arena_bytes = ARENA_BYTES, .default_level = 1,
				     .budget = 0.05 };
	struct diag diag = DIAG_INIT;
	struct arena_map *a;
	pthread_t thread;

	snprintf(trace_path, sizeof(trace_path), "%s/trace.vpt", fuzz_directory("arena"));
	if (drainer_open(&o, &drainer, &diag)) {
		fprintf(stderr, "%s\n", diag.text);
		exit(99);
	}
	atexit(remove_files);
	a = &drainer->arena;
	note_part(0, a->control, sizeof(*a->control));
	note_part(1, &a->slots[1], 64 * sizeof(a->slots[0]));
	note_part(2, a->chunks, ARENA_BYTES);
	note_part(3, a->stacks, (size_t)8 * VPROF_STACK_BYTES);
	note_part(4, a->functions, 64 * sizeof(a->functions[0]));
	note_part(5, a->labels, 64 * sizeof(a->labels[0]));
	note_part(6, a->text, 4096);
	if (pthread_create(&thread, NULL, scribble, NULL))
		exit(99);
}

static void begin_trace(void)
{
	trace_file_close(&drainer->file);
	drainer->file = (struct trace_file){ .fd = -1 };
	if (trace_file_open(&drainer->file, trace_path, TRACE_MAGIC, TRACE_VERSION))
		exit(99);
	drainer->functions_written = drainer->labels_written = 0;
	drainer->pauses.cnt = 0;
}

static void drain_step(unsigned int what, uint64_t word)
{
	static uint64_t now_ns = 1000000000;

	switch (what) {
	case 8:
		drain_full(drainer);
		break;
	case 9:
		drain_tables(drainer);
		break;
	case 10:
		drain_dead(drainer);
		break;
	case 11:
		drainer->is_head = true;
		drain_live(drainer);
		drainer->is_head = false;
		break;
	case 12:
		drain_flush(drainer);
		break;
	case 13:
		budget_turn(&drainer->budget, now_ns += 100000000);
		break;
	case 14:
		if (!drainer_pause(drainer))
			drainer_resume(drainer);
		break;
	case 15:
		arena_label(&drainer->arena, word & 1 ? "request" : "");
		arena_level(&drainer->arena, word);
		arena_take_chunk(&drainer->arena);
		arena_take_slot(&drainer->arena);
		break;
	}
}

/* Of the scribbles so far; they begin with the first one. */
static void take_step(const uint8_t *step, size_t *cnt, bool *racing)
{
	unsigned int what = step[0] % 17, where = step[1];
	uint64_t word;

	memcpy(&word, step + 2, sizeof(word));
	if (what < PARTS) {
		/* The first words are the interesting ones of all, later ones of large parts come from the word. */
		size_t at = (where + (size_t)(word >> 56) * 256) * sizeof(word) % (parts[what].bytes / 8 * 8);

		scribbles[*cnt] = (struct scribble){ (uint64_t *)(void *)(parts[what].at + at), word };
		__atomic_store_n(scribbles[*cnt].at, word, __ATOMIC_RELAXED);
		++*cnt;
		if (*racing)
			__atomic_store_n(&scribble_cnt, *cnt, __ATOMIC_RELEASE);
	} else if (what == 7) {
		arena_fill_chunk(&drainer->arena, 1 + where % CHUNKS);
	} else if (what == 16) {
		*racing = true;
		__atomic_store_n(&scribble_cnt, *cnt, __ATOMIC_RELEASE);
	} else {
		drain_step(what, word);
	}
}

void fuzz_arena(const uint8_t *data, size_t len)
{
	size_t cnt = 0;
	bool racing = false;

	if (!drainer)
		prepare();
	begin_trace();
	for (size_t at = 0; at + STEP_BYTES <= len && at / STEP_BYTES < STEPS_MAX; at += STEP_BYTES)
		take_step(data + at, &cnt, &racing);
	drain_left(drainer);
	drain_full(drainer);
	drain_rest(drainer);
	drain_flush(drainer);
	drain_end(drainer);
	__atomic_store_n(&scribble_cnt, 0, __ATOMIC_RELEASE);
	if (racing)
		usleep(200);		/* it has noticed, or its last words are the next input's first ones */
	for (size_t i = 0; i < PARTS; i++)
		memcpy(parts[i].at, parts[i].pristine, parts[i].bytes);
}
