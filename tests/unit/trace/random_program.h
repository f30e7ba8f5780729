/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * random_program.h - traces of random programs, for the tests of windows; all of it is static, as in raw_trace.h.
 *
 * Four threads: calls, nested waits, locks passed around, tasks, intervals that threads hand to each other, false
 * wake-ups, records lost, frames open at the end; in chunks of a few records, some of them written after later ones, and
 * of some traces the end is missing.
 */
#ifndef TESTS_RANDOM_PROGRAM_H
#define TESTS_RANDOM_PROGRAM_H

#include "tests/oracle/random_trace.h"
#include "tests/unit/raw_trace.h"

enum { THREADS = 4, STEPS = 400, DEPTH = 5, CHUNK_BYTES = 4096 };

struct actor {
	int64_t now_ns;
	uint64_t before, frames[DEPTH], fids[DEPTH];
	size_t depth;
	unsigned char data[CHUNK_BYTES];
	struct encoder e;
	uint64_t cnt;
};

struct chunk {
	unsigned char data[CHUNK_BYTES + 64];
	size_t len;
};

static struct actor actors[THREADS];
static VEC(struct chunk) chunks;
static struct random r;
static bool with_losses;
static bool with_stacks = true;		/* waits in which a thread was on another stack */
static bool with_polls = true;		/* waits of event loops, at which they turn to other intervals (trace/read/replay_left.c) */
static bool with_crossing;		/* calls begin inside others that end sooner */
static bool with_takings;		/* of locks, and releases of all kinds */

static void end_chunk(size_t number)
{
	struct actor *a = &actors[number];
	struct chunk *c = VEC_EXTEND(&chunks);
	struct encoder e = { c->data, 0, sizeof(c->data), false };

	put(&e, number + 1);
	put(&e, number == 3 ? 20 : 10);		/* the fourth is of another process */
	put(&e, 11 + number);
	put(&e, a->cnt);
	memcpy(c->data + e.len, a->data, a->e.len);
	c->len = e.len + a->e.len;
	a->e.len = a->cnt = a->before = 0;
}

static void put_start(struct actor *a, uint64_t head, uint64_t ns)
{
	put(&a->e, head);
	put(&a->e, zigzag((int64_t)(ns - a->before)));
	a->before = ns;
	a->cnt++;
}

static void event(struct actor *a, enum trace_event kind, uint64_t ns, const uint64_t *words)
{
	put_start(a, (uint64_t)kind << 1 | 1, ns);
	for (unsigned int i = 0; i < event_words(kind); i++)
		put(&a->e, words[i]);
}

static void call_ends(struct actor *a)
{
	uint64_t start = a->frames[--a->depth], fid = a->fids[a->depth];

	if (random_below(&r, 12) == 0) {
		event(a, EVENT_FRAME, start, (const uint64_t[]){ (uint64_t)a->now_ns, fid });
		return;
	}
	if (with_crossing && random_below(&r, 4) == 0 && start > 20)
		start -= 1 + random_below(&r, 12);
	put_start(a, fid << 1, start);
	put(&a->e, (uint64_t)a->now_ns - start);
}

static void wait(struct actor *a, int depth)
{
	static const uint64_t classes[] = { WAIT_LOCK, WAIT_LOCK, WAIT_LOCK, WAIT_COND, WAIT_IO, WAIT_QUEUE, WAIT_SLEEP };
	uint64_t from = (uint64_t)a->now_ns, waker = random_below(&r, 6), end, woken, class;

	a->now_ns += 1 + random_below(&r, 12);
	while (depth < 2 && random_below(&r, 9) == 0) {
		wait(a, depth + 1);
		a->now_ns += random_below(&r, 5);
	}
	end = (uint64_t)a->now_ns;
	woken = random_below(&r, 10) ? end - random_below(&r, (uint32_t)(end - from)) : from;
	waker = waker == 0 ? 0 : waker == 5 ? waker_tid(11 + random_below(&r, 6)) : waker_serial(waker);
	class = classes[random_below(&r, 7)];
	if (class == WAIT_QUEUE && !with_stacks)
		class = WAIT_JOIN;
	event(a, EVENT_WAIT, from, (const uint64_t[]){ end, class, class == WAIT_IO && !with_polls ? 2 : 1 + random_below(&r, 2), waker, woken });
	if (random_below(&r, 8) == 0)
		event(a, EVENT_FALSE_WAKEUP, end, NULL);
}

static void mark(struct actor *a)
{
	static const enum trace_event kinds[] = { EVENT_BEGIN, EVENT_BEGIN, EVENT_BEGIN, EVENT_END, EVENT_END,
						  EVENT_END, EVENT_RESUME, EVENT_RESUME, EVENT_LEAVE, EVENT_DROP,
						  EVENT_FINISH, EVENT_HANDED, EVENT_UNWOUND, EVENT_END, EVENT_END };
	enum trace_event kind = kinds[random_below(&r, 15)];
	uint64_t label = 1 + (random_below(&r, 4) == 0);

	if (random_below(&r, 10) == 0) {
		event(a, EVENT_PAUSE, (uint64_t)a->now_ns, NULL);
		return;
	}
	event(a, kind, (uint64_t)a->now_ns, (const uint64_t[]){ label, 1 + random_below(&r, 3),
		(random_below(&r, 15) ? 0 : random_below(&r, 3)) | random_below(&r, 4) * BEGIN_IN_FRAME });
}

static void other(struct actor *a)
{
	static const enum trace_event lock_kinds[] = { EVENT_RELEASE, EVENT_RELEASE, EVENT_UNLOCK, EVENT_POST, EVENT_TAKEN,
						       EVENT_TAKEN };
	uint64_t ns = (uint64_t)a->now_ns;
	enum trace_event lock_kind = with_takings ? lock_kinds[ns % 6] : EVENT_RELEASE;

	switch (random_below(&r, 13)) {
	case 0: case 1: case 2: case 3:
		event(a, lock_kind, ns, (const uint64_t[]){ 1 + random_below(&r, 2) });
		break;
	case 4: case 5:
		event(a, EVENT_ENQUEUE, ns, (const uint64_t[]){ 1, random_below(&r, 3) });
		break;
	case 6: case 7:
		event(a, EVENT_DEQUEUE, ns, (const uint64_t[]){ 1, random_below(&r, 3) });
		break;
	case 8:
		event(a, EVENT_CREATE, ns, (const uint64_t[]){ 1 + random_below(&r, THREADS) });
		break;
	case 10:
		event(a, EVENT_FALSE_WAKEUP, ns, NULL);
		break;
	case 9:
		if (random_below(&r, 20) == 0)
			event(a, EVENT_WORK, ns, (const uint64_t[]){ 3, random_below(&r, 9) });
		break;
	default:
		if (with_losses && random_below(&r, 6) == 0)
			event(a, EVENT_LOSS, ns, (const uint64_t[]){ ns - random_below(&r, 9), 3 });
	}
}

static void step(struct actor *a)
{
	uint32_t what = random_below(&r, 10);

	if (what < 3 && a->depth < DEPTH) {
		a->fids[a->depth] = 1 + random_below(&r, 2);
		a->frames[a->depth++] = (uint64_t)a->now_ns;
	} else if (what < 6 && a->depth > (actors == a)) {	/* one has a main loop */
		call_ends(a);
	} else if (what < 7) {
		wait(a, 0);
	} else if (what < 9) {
		mark(a);
	} else {
		other(a);
	}
	a->now_ns += random_below(&r, 4);
}

/* Closes the open calls, then ends. */
static void stop(struct actor *a)
{
	for (size_t i = 0; i < a->depth; i++)
		event(a, EVENT_OPEN_FRAME, a->frames[i], (const uint64_t[]){ a->fids[i] });
	if (random_below(&r, 2))
		event(a, EVENT_STOP, (uint64_t)a->now_ns, (const uint64_t[]){ 0x61626364, 0 });
}

static void begin_program(unsigned int seed)
{
	r.state = seed;
	with_losses = seed % 5 == 0;
	chunks.cnt = 0;
	memset(actors, 0, sizeof(actors));
	for (size_t i = 0; i < THREADS; i++)
		actors[i].e = (struct encoder){ actors[i].data, 0, CHUNK_BYTES, false };
}

static void write_program(unsigned int seed)
{
	begin_program(seed);
	for (size_t i = 0; i < THREADS; i++)
		actors[i].now_ns = 10 + (int64_t)random_below(&r, 90);
	for (size_t n = 0; n < STEPS; n++) {
		size_t first = 0;

		for (size_t i = 1; i < THREADS; i++)
			first = actors[i].now_ns < actors[first].now_ns ? i : first;
		step(&actors[first]);
		if (actors[first].cnt && random_below(&r, 8) == 0)
			end_chunk(first);
	}
	for (size_t i = 0; i < THREADS; i++) {
		stop(&actors[i]);
		if (actors[i].cnt)
			end_chunk(i);
	}
	for (size_t i = 1; i < chunks.cnt; i++)		/* some are written late */
		if (random_below(&r, 6) == 0) {
			struct chunk c = chunks.items[i];

			chunks.items[i] = chunks.items[i - 1];
			chunks.items[i - 1] = c;
		}
	for (size_t i = 0; seed % 7 == 0 && i < chunks.cnt / 2; i++) {	/* some runs the latest first */
		struct chunk c = chunks.items[i];

		chunks.items[i] = chunks.items[chunks.cnt - 1 - i];
		chunks.items[chunks.cnt - 1 - i] = c;
	}
}

/* Several chunks a block.  The recording of one in four was cut off: up to a third of it is missing. */
static void write_chunks(unsigned int seed)
{
	struct encoder e = { chunk_data, 0, sizeof(chunk_data), false };
	size_t cnt = chunks.cnt;

	is_cut_off = seed % 4 == 1;
	if (is_cut_off)
		cnt -= random_below(&r, (uint32_t)cnt / 3);
	begin_trace();
	for (size_t i = 0; i < cnt; i++) {
		memcpy(chunk_data + e.len, chunks.items[i].data, chunks.items[i].len);
		e.len += chunks.items[i].len;
		if (random_below(&r, 3) && e.len < sizeof(chunk_data) / 2)
			continue;
		trace_file_block(&file, BLOCK_CHUNKS, e.data, e.len);
		e.len = 0;
	}
	if (e.len)
		trace_file_block(&file, BLOCK_CHUNKS, e.data, e.len);
	if (is_cut_off && seed % 8 == 1) {	/* in the middle of a block */
		trace_file_block(&file, BLOCK_CHUNKS, chunks.items[0].data, chunks.items[0].len);
		file.bytes -= 3;
	}
}

#endif
