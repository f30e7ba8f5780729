/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * big_trace.c - requests of 16 threads, written as the drainer writes them: chunks of about a thousand records,
 * in the order in which they became full, so that threads are not in step.
 *
 *	serve [ parse lookup { read compare compare ... } ... reply ]	58 calls, five deep
 */
#include "tests/bench/big_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "trace/encode.h"
#include "trace/file.h"
#include "trace/format.h"
#include "base/banned.h"

enum {
	THREADS = 16, FUNCTIONS = 40, CHUNK_RECORDS = 1000, BLOCK_BYTES = 1 << 18,
	TICKS_PER_US = 2000, SECOND_US = 1000000, CALLS_MAX = 64
};

struct thread {
	uint64_t now;			/* ticks */
	uint64_t before;		/* start of the record before */
	uint64_t record_cnt;
	unsigned char data[CHUNK_RECORDS * 24 + 4096];
	struct encoder e;
};

struct writer {
	struct trace_file file;
	struct encoder block;
	struct thread threads[THREADS];
	uint64_t seed, invocation_cnt;
};

static uint64_t draw(struct writer *w, uint64_t below)
{
	w->seed = w->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (w->seed >> 33) % below;
}

static void flush_block(struct writer *w)
{
	if (w->block.len)
		trace_file_block(&w->file, BLOCK_CHUNKS, w->block.data, w->block.len);
	w->block.len = 0;
}

static void flush_chunk(struct writer *w, size_t number)
{
	struct thread *t = &w->threads[number];

	encode_varint(&w->block, number + 1);
	encode_varint(&w->block, 10);
	encode_varint(&w->block, 11 + number);
	encode_varint(&w->block, t->record_cnt);
	memcpy(w->block.data + w->block.len, t->data, t->e.len);
	w->block.len += t->e.len;
	t->e.len = t->record_cnt = t->before = 0;
	if (w->block.len > BLOCK_BYTES)
		flush_block(w);
}

static void put_head(struct thread *t, uint64_t head, uint64_t ticks)
{
	encode_varint(&t->e, head);
	encode_varint(&t->e, zigzag((int64_t)(ticks - t->before)));
	t->before = ticks;
	t->record_cnt++;
}

static void put_call(struct writer *w, struct thread *t, uint64_t fid, uint64_t start)
{
	put_head(t, fid << 1, start);
	encode_varint(&t->e, t->now - start);
	w->invocation_cnt++;
}

static void put_event(struct thread *t, enum trace_event kind, uint64_t ticks, const uint64_t *words)
{
	put_head(t, (uint64_t)kind << 1 | 1, ticks);
	for (unsigned int i = 0; i < event_words(kind); i++)
		encode_varint(&t->e, words[i]);
}

/* A call and all below it; fid f calls some of the next ones. */
static void call(struct writer *w, struct thread *t, uint64_t fid, int depth)
{
	uint64_t start = t->now;

	t->now += 100 + draw(w, 400);
	for (uint64_t i = 0; depth < 4 && i < 3; i++) {
		call(w, t, 1 + (fid * 3 + i) % (FUNCTIONS - 1), depth + 1 + (i == 2));
		t->now += 50;
	}
	put_call(w, t, fid, start);
}

static void request(struct writer *w, size_t number)
{
	struct thread *t = &w->threads[number];
	uint64_t start = t->now, key = number, waker = waker_serial((number + 1) % THREADS + 1);

	put_event(t, EVENT_BEGIN, start, (const uint64_t[]){ 1, key, 0 });
	t->now += 200;
	for (uint64_t i = 0; i < 3; i++)
		call(w, t, 1 + i * 7, 1);
	if (draw(w, 8) == 0) {
		uint64_t from = t->now;

		t->now += 2000 + draw(w, 60000);
		put_event(t, EVENT_WAIT, from, (const uint64_t[]){ t->now, WAIT_LOCK, 99, waker, t->now - 50 });
		put_call(w, t, 5, from - 10);
	}
	t->now += draw(w, 5) ? 300 : draw(w, 30000);
	put_call(w, t, FUNCTIONS, start);
	put_event(t, EVENT_END, t->now, (const uint64_t[]){ 1, key });
	t->now += 2000 + draw(w, 4000);
}

static void put_names(struct writer *w, uint64_t fid, const char *name)
{
	encode_varint(&w->block, fid);
	encode_varint(&w->block, 1000 + fid);
	encode_varint(&w->block, 10);
	encode_varint(&w->block, 1);
	encode_text(&w->block, name, strlen(name));
	encode_text(&w->block, "server.c", 8);
}

static void write_tables(struct writer *w)
{
	char name[32];

	for (uint64_t fid = 1; fid <= FUNCTIONS; fid++) {
		snprintf(name, sizeof(name), fid == FUNCTIONS ? "serve" : "work_%u", (unsigned int)fid);
		put_names(w, fid, name);
	}
	trace_file_block(&w->file, BLOCK_FUNCTIONS, w->block.data, w->block.len);
	w->block.len = 0;
	encode_varint(&w->block, 1);
	encode_text(&w->block, "request", 7);
	trace_file_block(&w->file, BLOCK_LABELS, w->block.data, w->block.len);
	w->block.len = 0;
}

/* One a second, up to the end. */
static void write_anchors(struct writer *w)
{
	uint64_t end = 0;

	for (size_t i = 0; i < THREADS; i++)
		end = w->threads[i].now > end ? w->threads[i].now : end;
	for (uint64_t us = 0; us <= end / TICKS_PER_US + SECOND_US; us += SECOND_US) {
		encode_varint(&w->block, us * TICKS_PER_US);
		encode_varint(&w->block, us * 1000);
		encode_varint(&w->block, us * 1000);
		if (w->block.len > BLOCK_BYTES || us + SECOND_US > end / TICKS_PER_US + SECOND_US) {
			trace_file_block(&w->file, BLOCK_ANCHORS, w->block.data, w->block.len);
			w->block.len = 0;
		}
	}
}

uint64_t big_trace_write(const char *path, uint64_t invocation_cnt)
{
	return big_trace_write_seeded(path, invocation_cnt, 1);
}

uint64_t big_trace_write_seeded(const char *path, uint64_t invocation_cnt, uint64_t seed)
{
	struct writer *w = calloc(1, sizeof(*w));
	unsigned char *data = malloc(2 * BLOCK_BYTES);
	uint64_t written = 0;

	if (w && data && trace_file_open(&w->file, path, TRACE_MAGIC, TRACE_VERSION) == 0) {
		w->seed = seed;
		w->block = (struct encoder){ data, 0, 2 * BLOCK_BYTES, false };
		for (size_t i = 0; i < THREADS; i++) {
			w->threads[i].e = (struct encoder){ w->threads[i].data, 0, sizeof(w->threads[i].data), false };
			w->threads[i].now = 1000 + 100 * i;
		}
		write_tables(w);
		for (size_t i = 0; w->invocation_cnt < invocation_cnt; i = (i + 1) % THREADS) {
			request(w, i);
			if (w->threads[i].record_cnt > CHUNK_RECORDS - CALLS_MAX)
				flush_chunk(w, i);
		}
		for (size_t i = 0; i < THREADS; i++)
			flush_chunk(w, i);
		flush_block(w);
		write_anchors(w);
		trace_file_block(&w->file, BLOCK_END, (const unsigned char[]){ 0, 0 }, 2);
		written = w->file.full ? 0 : w->invocation_cnt;
		trace_file_close(&w->file);
	}
	free(w);
	free(data);
	return written;
}
