/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * raw_trace.h - a trace file written record by record, for the tests of the reader; for one test
 * program each, so all of it is static.
 *
 * The clock's anchors make a tick a nanosecond.  Threads 1, 2, 3 (serials) have tids 11, 12, 13
 * and are of process 10; thread 201, with tid 211, is of process 20.
 */
#ifndef TESTS_RAW_TRACE_H
#define TESTS_RAW_TRACE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "drainer/drain.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/tuples_check.h"
#include "trace/read/reader.h"

static char path[] = "reader-XXXXXX";
static struct trace_file file;
static unsigned char chunk_data[1 << 16];
static bool is_cut_off;			/* the next trace has no end, or has one already */

static void put(struct encoder *e, uint64_t value)
{
	encode_varint(e, value);
}

static void put_text(struct encoder *e, const char *text)
{
	encode_text(e, text, strlen(text));
}

/* Anchors, functions work (1) and hold (2), labels request (1), query (2), rows (3). */
static void begin_trace(void)
{
	static const char *const labels[] = { "request", "query", "rows" };
	static const char *const functions[] = { "work", "hold" };
	unsigned char data[512];
	struct encoder e = { data, 0, sizeof(data), false };

	memcpy(path, "reader-XXXXXX", sizeof(path));
	close(mkstemp(path));
	memset(&file, 0, sizeof(file));
	assert_int_equal(trace_file_open(&file, path, TRACE_MAGIC, TRACE_VERSION), 0);
	for (uint64_t ns = 0; ns <= 4000000; ns += 2000000)
		for (int i = 0; i < 3; i++)
			put(&e, ns);
	trace_file_block(&file, BLOCK_ANCHORS, e.data, e.len);
	e.len = 0;
	for (uint64_t i = 0; i < 2; i++) {
		put(&e, i + 1);
		put(&e, 100 + i);
		put(&e, 5);
		put(&e, 1);
		put_text(&e, functions[i]);
		put_text(&e, "a.c");
	}
	trace_file_block(&file, BLOCK_FUNCTIONS, e.data, e.len);
	e.len = 0;
	for (uint64_t i = 0; i < 3; i++) {
		put(&e, i + 1);
		put_text(&e, labels[i]);
	}
	trace_file_block(&file, BLOCK_LABELS, e.data, e.len);
}

/* One record: kind 0 is an invocation { fid, start, end }, else an event { ticks, words }. */
struct rec {
	int thread;
	enum trace_event kind;
	uint64_t words[1 + EVENT_WORDS_MAX];
};

static int second_stack = -1;		/* that one is a stack of thread 1 */

static void __attribute__((unused)) put_rec(const struct rec *rec)
{
	struct encoder e = { chunk_data, 0, sizeof(chunk_data), false };

	put(&e, (uint64_t)rec->thread);
	put(&e, rec->thread < 100 ? 10 : (uint64_t)rec->thread / 10);	/* pid */
	put(&e, 10 + (uint64_t)(rec->thread == second_stack ? 1 : rec->thread));
	put(&e, 1);
	if (rec->kind == EVENT_NONE) {
		put(&e, rec->words[0] << 1);
		put(&e, zigzag((int64_t)rec->words[1]));
		put(&e, rec->words[2] - rec->words[1]);
	} else {
		put(&e, (uint64_t)rec->kind << 1 | 1);
		put(&e, zigzag((int64_t)rec->words[0]));
		for (unsigned int i = 0; i < event_words(rec->kind); i++)
			put(&e, rec->words[1 + i]);
	}
	trace_file_block(&file, BLOCK_CHUNKS, e.data, e.len);
}

/* lost records without a thread, since when */
static void end_trace(uint64_t lost, uint64_t since)
{
	struct encoder e = { chunk_data, 0, sizeof(chunk_data), false };

	put(&e, lost);
	put(&e, since);
	trace_file_block(&file, BLOCK_END, e.data, e.len);
}

static __attribute__((unused)) struct trace *read_trace(const struct reader_options *o)
{
	struct diag diag = DIAG_INIT;
	struct trace *t = NULL;

	if (!is_cut_off)
		end_trace(0, 0);
	is_cut_off = false;
	trace_file_close(&file);
	if (trace_read(path, o, &t, &diag))
		fail_msg("%s", diag.text);
	return t;
}

/* The trace of these records. */
static __attribute__((unused)) struct trace *read_recs(const struct rec *recs, size_t cnt, const struct reader_options *o)
{
	begin_trace();
	for (size_t i = 0; i < cnt; i++)
		put_rec(&recs[i]);
	return read_trace(o);
}

#define RECS(...) (const struct rec[]){ __VA_ARGS__ }, sizeof((const struct rec[]){ __VA_ARGS__ }) / sizeof(struct rec)
#define READ(...) read_recs(RECS(__VA_ARGS__), NULL)

/* Frees t, and removes the file. */
static __attribute__((unused)) void assert_tuples(struct trace *t, const char *expected)
{
	assert_trace_is(t, expected);
	trace_free(t);
	unlink(path);
}

#endif
