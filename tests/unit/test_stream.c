/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_stream.c - a trace file read in windows gives what it gives as a whole, bit for bit.
 *
 * Random programs of four threads: calls, nested waits, locks passed around, tasks, intervals that threads hand
 * to each other, false wake-ups, records lost, frames open at the end; in chunks of a few records, some of them
 * written after later ones, and of some traces the end is missing.  Windows are a few records long.
 */
#include "tests/unit/raw_trace.h"

#include "analysis/analyze.h"
#include "tests/oracle/random_trace.h"
#include "tests/unit/same_findings.h"
#include "trace/stream.h"
#include "base/banned.h"

enum { TRACES = 1200, THREADS = 4, STEPS = 400, DEPTH = 5, CHUNK_BYTES = 4096 };

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
	put_start(a, fid << 1, start);
	put(&a->e, (uint64_t)a->now_ns - start);
}

static void wait(struct actor *a, int depth)
{
	static const uint64_t classes[] = { WAIT_LOCK, WAIT_LOCK, WAIT_LOCK, WAIT_COND, WAIT_IO, WAIT_QUEUE, WAIT_SLEEP };
	uint64_t from = (uint64_t)a->now_ns, waker = random_below(&r, 6), end, woken;

	a->now_ns += 1 + random_below(&r, 12);
	while (depth < 2 && random_below(&r, 9) == 0) {
		wait(a, depth + 1);
		a->now_ns += random_below(&r, 5);
	}
	end = (uint64_t)a->now_ns;
	woken = random_below(&r, 10) ? end - random_below(&r, (uint32_t)(end - from)) : from;
	waker = waker == 0 ? 0 : waker == 5 ? waker_tid(11 + random_below(&r, 6)) : waker_serial(waker);
	event(a, EVENT_WAIT, from, (const uint64_t[]){ end, classes[random_below(&r, 7)], 1 + random_below(&r, 2),
						       waker, woken });
	if (random_below(&r, 8) == 0)
		event(a, EVENT_FALSE_WAKEUP, end, NULL);
}

static void mark(struct actor *a)
{
	static const enum trace_event kinds[] = { EVENT_BEGIN, EVENT_BEGIN, EVENT_BEGIN, EVENT_END, EVENT_END,
						  EVENT_END, EVENT_RESUME, EVENT_RESUME, EVENT_LEAVE, EVENT_DROP };
	enum trace_event kind = kinds[random_below(&r, 10)];
	uint64_t label = 1 + (random_below(&r, 4) == 0);

	if (random_below(&r, 10) == 0) {
		event(a, EVENT_PAUSE, (uint64_t)a->now_ns, NULL);
		return;
	}
	event(a, kind, (uint64_t)a->now_ns, (const uint64_t[]){ label, 1 + random_below(&r, 3),
								random_below(&r, 15) ? 0 : random_below(&r, 3) });
}

static void other(struct actor *a)
{
	uint64_t ns = (uint64_t)a->now_ns;

	switch (random_below(&r, 13)) {
	case 0: case 1: case 2: case 3:
		event(a, EVENT_RELEASE, ns, (const uint64_t[]){ 1 + random_below(&r, 2) });
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

/* What is open at the end, then the end itself. */
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

/* Several chunks a block.  Nobody ended the recording of one in four: up to a third of it is missing. */
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

/* false: not fit for it. */
static bool add_windows(struct analyzer *a, struct trace_stream *s, size_t *windows)
{
	struct trace_window w = { .t = NULL };
	struct diag diag = DIAG_INIT;
	int e;

	while ((e = trace_stream_next(s, &w, &diag)) > 0) {
		analyzer_add(a, &(struct analysis_window){ w.t, w.before_ns, w.until_ns });
		++*windows;
	}
	trace_window_release(&w);
	assert_true(e == 0 || e == TRACE_STREAM_UNFIT);
	return e == 0;
}

/* By two threads; may end early. */
static bool add_windows_ahead(struct analyzer *a, struct trace_stream *s, size_t most)
{
	_cleanup_(trace_ahead_freep) struct trace_ahead *ahead = trace_ahead_new(s);
	const struct trace_window *w;
	struct diag diag = DIAG_INIT;
	int e;

	assert_non_null(ahead);
	while ((e = most-- ? trace_ahead_next(ahead, &w, &diag) : 0) > 0)
		analyzer_add(a, &(struct analysis_window){ w->t, w->before_ns, w->until_ns });
	assert_true(e == 0 || e == TRACE_STREAM_UNFIT);
	return e == 0;
}

static void same(struct trace *whole, const struct trace *names, struct analyzer *a)
{
	assert_int_equal(whole->interval_names.cnt, names->interval_names.cnt);
	assert_memory_equal(&whole->losses, &names->losses, sizeof(whole->losses));
	assert_int_equal(whole->functions.cnt, names->functions.cnt);
	for (size_t i = 0; i < whole->interval_names.cnt; i++) {
		_cleanup_(findings_freep) struct findings *x = NULL, *y = NULL;
		struct analyze_options o = { .interval = whole->interval_names.items[i], .quantile = .6 };

		assert_int_equal(analyze(whole, &o, &x), 0);
		assert_int_equal(analyzer_finish(a, names, &o, &y), 0);
		x->clamped = y->clamped = 0;
		same_findings(x, y);
		assert_int_equal(x->observed.cnt, y->observed.cnt);
	}
}

static void test_random_programs(void **state)
{
	size_t fit = 0, windows = 0, unfinished = 0;

	(void)state;
	for (unsigned int seed = 1; seed <= TRACES; seed++) {
		_cleanup_(trace_freep) struct trace *whole = NULL;
		_cleanup_(trace_stream_closep) struct trace_stream *s = NULL;
		_cleanup_(analyzer_freep) struct analyzer *a = analyzer_new();
		struct diag diag = DIAG_INIT;
		bool is_fit;

		write_program(seed);
		write_chunks(seed);
		whole = read_trace(NULL);
		trace_stream_records = 1 + seed % 40;
		assert_int_equal(trace_stream_open(path, NULL, &s, &diag), 1);
		is_fit = seed % 3 ? add_windows(a, s, &windows) : add_windows_ahead(a, s, SIZE_MAX);
		if (is_fit)
			same(whole, trace_stream_names(s), a);
		unfinished += is_fit && whole->losses.cut_off && !with_losses && whole->losses.intervals;
		fit += is_fit;
		unlink(path);
	}
	print_message("%zu of %d fit, %zu windows\n", fit, TRACES, windows);
	assert_true(fit > TRACES * 3 / 5);
	assert_true(unfinished > TRACES / 10);
	assert_true(windows > 6 * fit);
	VEC_RELEASE(&chunks);
}

/* The reader is somewhere in the trace, or waits, when nobody wants more of it. */
static void test_given_up(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 60; seed++) {
		_cleanup_(trace_stream_closep) struct trace_stream *s = NULL;
		_cleanup_(analyzer_freep) struct analyzer *a = analyzer_new();
		struct diag diag = DIAG_INIT;

		write_program(seed);
		write_chunks(0);
		end_trace(0, 0);
		trace_file_close(&file);
		trace_stream_records = 20;
		assert_int_equal(trace_stream_open(path, NULL, &s, &diag), 1);
		add_windows_ahead(a, s, seed % 5);
		unlink(path);
	}
	VEC_RELEASE(&chunks);
}

/* What was written, in the smallest windows. */
static void same_in_windows(void)
{
	_cleanup_(trace_freep) struct trace *whole = NULL;
	_cleanup_(trace_stream_closep) struct trace_stream *s = NULL;
	_cleanup_(analyzer_freep) struct analyzer *a = analyzer_new();
	struct diag diag = DIAG_INIT;
	size_t windows = 0;

	write_chunks(0);
	whole = read_trace(NULL);
	trace_stream_records = 1;
	assert_int_equal(trace_stream_open(path, NULL, &s, &diag), 1);
	assert_true(add_windows(a, s, &windows));
	assert_true(windows > 3);
	same(whole, trace_stream_names(s), a);
	unlink(path);
	VEC_RELEASE(&chunks);
}

/*
 * Thread 2 starves from 10 to 900: a hundred times others let go of the lock before it gets it.  It wakes thread
 * 1 while it waits, so what explained its wait until then counts for request 1.
 */
static void test_starved(void **state)
{
	(void)state;
	begin_program(1);
	event(&actors[0], EVENT_BEGIN, 12, (const uint64_t[]){ 1, 1, 0 });
	event(&actors[0], EVENT_WAIT, 20, (const uint64_t[]){ 54, WAIT_LOCK, 8, waker_serial(2), 53 });
	event(&actors[0], EVENT_END, 54, (const uint64_t[]){ 1, 1 });
	end_chunk(0);
	event(&actors[1], EVENT_WAIT, 10, (const uint64_t[]){ 900, WAIT_LOCK, 7, waker_serial(3), 850 });
	end_chunk(1);
	for (uint64_t i = 0; i < 100; i++) {
		actors[2].now_ns = 18 + 8 * (int64_t)i;
		actors[2].frames[actors[2].depth] = 14 + 8 * i;
		actors[2].fids[actors[2].depth++] = 1 + i % 2;
		call_ends(&actors[2]);
		event(&actors[2], EVENT_RELEASE, 18 + 8 * i, (const uint64_t[]){ 7 });
		end_chunk(2);
	}
	event(&actors[2], EVENT_RELEASE, 850, (const uint64_t[]){ 7 });
	end_chunk(2);
	event(&actors[0], EVENT_BEGIN, 1000, (const uint64_t[]){ 1, 2, 0 });
	event(&actors[0], EVENT_END, 1004, (const uint64_t[]){ 1, 2 });
	end_chunk(0);
	same_in_windows();
}

/*
 * Thread 2 waits 10..90 and is woken in it at 28, to no end, and at 80.  When it wakes thread 1 at 33 it has
 * not been woken yet, so request 1 waits for a lock of thread 2's, not for what thread 3 does.
 *
 * sooner: the second wait inside stands in a chunk that the first window has no other reason to load.
 */
static void woken_again(bool sooner)
{
	begin_program(1);
	event(&actors[0], EVENT_BEGIN, 12, (const uint64_t[]){ 1, 1, 0 });
	event(&actors[0], EVENT_WAIT, 20, (const uint64_t[]){ 34, WAIT_LOCK, 8, waker_serial(2), 33 });
	event(&actors[0], EVENT_END, 34, (const uint64_t[]){ 1, 1 });
	end_chunk(0);
	event(&actors[1], EVENT_WAIT, 15, (const uint64_t[]){ 30, WAIT_COND, 9, waker_serial(3), 28 });
	end_chunk(1);
	if (sooner)
		event(&actors[1], EVENT_RELEASE, 38, (const uint64_t[]){ 5 });
	event(&actors[1], EVENT_WAIT, 40, (const uint64_t[]){ 85, WAIT_COND, 9, waker_serial(3), 80 });
	end_chunk(1);
	event(&actors[1], EVENT_WAIT, 10, (const uint64_t[]){ 90, WAIT_LOCK, 7, 0, 0 });
	end_chunk(1);
	actors[2].now_ns = 95;
	actors[2].frames[actors[2].depth] = 5;
	actors[2].fids[actors[2].depth++] = 1;
	call_ends(&actors[2]);
	end_chunk(2);
	event(&actors[0], EVENT_BEGIN, 100, (const uint64_t[]){ 1, 2, 0 });
	event(&actors[0], EVENT_END, 104, (const uint64_t[]){ 1, 2 });
	end_chunk(0);
	same_in_windows();
}

static void test_woken_again(void **state)
{
	(void)state;
	woken_again(false);
	woken_again(true);
}

/* What was under way when the recording paused is cut, whenever it ends: such a trace is read as a whole. */
static void test_unfit(void **state)
{
	struct trace_stream *s = NULL;
	struct diag diag = DIAG_INIT;

	(void)state;
	begin_trace();
	put_rec(&(struct rec){ 1, EVENT_REOPEN, { 100, 50 } });
	end_trace(0, 0);
	trace_file_close(&file);
	assert_int_equal(trace_stream_open(path, NULL, &s, &diag), TRACE_STREAM_UNFIT);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_programs),
		cmocka_unit_test(test_starved),
		cmocka_unit_test(test_woken_again),
		cmocka_unit_test(test_given_up),
		cmocka_unit_test(test_unfit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
