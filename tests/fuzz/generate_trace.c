/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * generate_trace.c - a trace file from any bytes, as a recorder writes it: blocks, a clock, functions, threads, and what they
 * did one after the other.
 *
 * Text has its times as they are.  Here they are ticks, and two anchors say what a tick is: a nanosecond, or a length such that a few
 * of them are all the time there is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "tests/fuzz/generate.h"
#include "trace/encode.h"
#include "trace/file.h"

enum { THREADS = 4, FUNCTIONS = 3, LABELS = 2, STEPS = 200, ROOM = 1 << 14, PID = 10, TID = 100 };

struct making {
	struct choices c;
	struct trace_file file;
	unsigned char data[ROOM];
	struct encoder e;
	uint64_t now[THREADS];		/* ticks */
	uint64_t most;			/* no tick is later: the clock ends there */
};

static void put(struct making *m, uint64_t value)
{
	encode_varint(&m->e, value);
}

static void put_text(struct making *m, const char *text)
{
	encode_text(&m->e, text, strlen(text));
}

static void end_block(struct making *m, uint32_t kind)
{
	trace_file_block(&m->file, kind, m->data, m->e.len);
	m->e.len = 0;
}

/* A tick is 1 << scale ns.  Anchors reach to half of the time there is, and records to the end of it. */
static void put_clock(struct making *m)
{
	static const unsigned int scales[] = { 0, 0, 0, 8, 24, 40, 54 };
	unsigned int scale = scales[choose(&m->c, sizeof(scales) / sizeof(*scales))];
	uint64_t last = (uint64_t)INT64_MAX / 2 >> scale, first = choose(&m->c, 3) ? 0 : last / 2, step;

	m->most = (uint64_t)(INT64_MAX - 1) >> scale;
	step = choose(&m->c, 4) ? (last < 4000000 ? last / 2 : 2000000) : (last - first) / 2;
	for (uint64_t i = 0; i < 3; i++) {
		put(m, first + i * step);
		put(m, (first + i * step) << scale);
		put(m, (first + i * step) << scale);
	}
	end_block(m, BLOCK_ANCHORS);
	for (size_t i = 0; i < THREADS; i++)
		m->now[i] = first + choose_byte(&m->c);
}

static void put_names(struct making *m)
{
	static const char *const functions[FUNCTIONS] = { "work", "hold", "ns::wait(int)" }, *const labels[LABELS] = { "request", "query" };

	for (uint64_t i = 0; i < FUNCTIONS; i++) {
		put(m, i + 1);
		put(m, 100 + i);
		put(m, 5 + i);
		put(m, 1);
		put_text(m, functions[i]);
		put_text(m, "a.c");
	}
	end_block(m, BLOCK_FUNCTIONS);
	for (uint64_t i = 0; i < LABELS; i++) {
		put(m, i + 1);
		put_text(m, labels[i]);
	}
	end_block(m, BLOCK_LABELS);
}

static void begin_record(struct making *m, unsigned int thread)
{
	put(m, thread + 1);
	put(m, PID);
	put(m, TID + thread);
	put(m, 1);
}

static void put_event(struct making *m, unsigned int thread, enum trace_event kind, const uint64_t *words)
{
	begin_record(m, thread);
	put(m, (uint64_t)kind << 1 | 1);
	put(m, zigzag((int64_t)m->now[thread]));
	for (unsigned int i = 0; i < event_words(kind); i++)
		put(m, words[i]);
	end_block(m, BLOCK_CHUNKS);
}

static uint64_t choose_ticks(struct making *m, unsigned int thread)
{
	uint64_t ticks = (uint64_t)choose_ns(&m->c), left = m->most - m->now[thread];

	return ticks < left ? ticks : choose(&m->c, 8) ? left / 2 : left;
}

static void put_wait(struct making *m, unsigned int thread, uint64_t until)
{
	uint64_t words[EVENT_WORDS_MAX] = { until, 1 + choose(&m->c, WAIT_CLASS_CNT - 1), 7 + choose(&m->c, 3) };

	words[3] = choose(&m->c, 3) ? waker_serial(1 + choose(&m->c, THREADS)) : choose(&m->c, 2) ? WAKER_TIME_OUT : 0;
	words[4] = until - (choose(&m->c, 2) ? (until - m->now[thread]) / 4 : 0);
	put_event(m, thread, EVENT_WAIT, words);
}

static void put_account(struct making *m, unsigned int thread, uint64_t ran)
{
	put(m, thread + 1);
	put(m, m->now[thread]);
	put(m, ran);
	put(m, (uint64_t)choose_ns(&m->c));
	put(m, 2 + choose_byte(&m->c));
	put(m, 1);
	end_block(m, BLOCK_ACCOUNTS);
}

static void put_users(struct making *m)
{
	const uint64_t numbers[] = { (uint64_t)choose_ns(&m->c), 2, choose(&m->c, 3), (uint64_t)choose_ns(&m->c) % 100000, choose(&m->c, 2),
		(uint64_t)choose_ns(&m->c), (uint64_t)choose_ns(&m->c), (uint64_t)choose_ns(&m->c), (uint64_t)choose_ns(&m->c),
		(uint64_t)choose_ns(&m->c), 1, (uint64_t)choose_ns(&m->c) };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		put(m, numbers[i]);
	put_text(m, "make");
	end_block(m, BLOCK_CPU_USE);
}

/* An interval of one thread, or one that another ends. */
static void put_interval(struct making *m, unsigned int thread)
{
	uint64_t words[EVENT_WORDS_MAX] = { 1 + choose(&m->c, LABELS), choose(&m->c, 4), choose(&m->c, 4) ? 0 : BEGIN_ROOT_ONLY };
	unsigned int other = choose(&m->c, 4) ? thread : choose(&m->c, THREADS);
	uint64_t middle;

	put_event(m, thread, EVENT_BEGIN, words);
	m->now[thread] += choose_ticks(m, thread);
	middle = m->now[thread] + choose_ticks(m, thread);
	if (choose(&m->c, 2))
		put_wait(m, thread, middle);
	begin_record(m, thread);
	put(m, (1 + choose(&m->c, FUNCTIONS)) << 1);
	put(m, zigzag((int64_t)m->now[thread]));
	put(m, middle - m->now[thread]);
	end_block(m, BLOCK_CHUNKS);
	m->now[thread] = middle;
	if (other != thread && m->now[other] < middle)
		m->now[other] = middle;
	put_event(m, other, choose(&m->c, 16) ? EVENT_END : EVENT_DROP, words);
}

static void put_step(struct making *m, unsigned int thread)
{
	uint64_t words[EVENT_WORDS_MAX] = { 1 + choose(&m->c, LABELS), (uint64_t)choose_ns(&m->c), 0, 0, 0 };

	switch (choose(&m->c, 8)) {
	case 0:
		put_account(m, thread, (uint64_t)choose_ns(&m->c));
		break;
	case 1:
		put_event(m, thread, EVENT_WORK, words);
		break;
	case 2:
		put_event(m, thread, choose(&m->c, 2) ? EVENT_RELEASE : EVENT_FALSE_WAKEUP, &(uint64_t){ 7 + choose(&m->c, 3) });
		break;
	case 3:
		words[0] = m->now[thread];
		put_event(m, thread, EVENT_ACCOUNT, &words[1]);
		put_event(m, thread, EVENT_SWITCHES, &(uint64_t){ choose(&m->c, 2) });
		break;
	case 4:
		put_users(m);
		break;
	case 5:
		put_event(m, thread, choose(&m->c, 8) ? EVENT_ORDER : EVENT_OBJECT,
			  (const uint64_t[]){ 7 + choose(&m->c, 3), order_word((enum order_what)choose(&m->c, 8), choose_ticks(m, thread)) });
		break;
	default:
		put_interval(m, thread);
	}
	m->now[thread] += choose_ticks(m, thread) / (1 + choose_byte(&m->c));
}

bool generate_trace(const uint8_t *data, size_t len, const char *path)
{
	struct making m = { .c = { data, len, 0 }, .e = { m.data, 0, ROOM, false } };

	if (trace_file_open(&m.file, path, TRACE_MAGIC, TRACE_VERSION))
		return false;
	put_clock(&m);
	put_names(&m);
	for (unsigned int i = 0; i < STEPS && m.c.at < m.c.len; i++)
		put_step(&m, choose(&m.c, THREADS));
	put(&m, 0);
	put(&m, 0);
	end_block(&m, BLOCK_END);
	return trace_file_close(&m.file) == 0;
}
