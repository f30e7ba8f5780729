/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_stream.c - a trace file read in windows gives what it gives as a whole, bit for bit.
 *
 * Random programs (random_program.h).  Windows are a few records long.
 */
#include "tests/unit/trace/same_windows.h"

#include "trace/read/off_cpu.h"
#include "base/banned.h"

enum { TRACES = 1200 };

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

static void test_random_programs(void **state)
{
	uint64_t off_ns = 0;
	size_t fit = 0, windows = 0, unfinished = 0;

	(void)state;
	off_cpu_tick_ns = 40;		/* all that these programs do takes some 300 ns */
	for (unsigned int seed = 1; seed <= TRACES; seed++) {
		_cleanup_(trace_freep) struct trace *whole = NULL;
		_cleanup_(trace_stream_closep) struct trace_stream *s = NULL;
		_cleanup_(analyzer_freep) struct analyzer *a = analyzer_new();
		struct diag diag = DIAG_INIT;
		bool is_fit;

		with_takings = seed % 2;
		write_program(seed);
		write_chunks(seed);
		if (!is_cut_off)
			put_accounts();
		whole = read_trace(NULL);
		off_ns += whole->off_cpu.placed_ns + whole->off_cpu.runnable_ns;
		trace_stream_records = 1 + seed % 40;
		assert_int_equal(trace_stream_open(path, NULL, &s, &diag), 1);
		is_fit = seed % 3 ? add_windows(a, s, whole, &windows) : add_windows_ahead(a, s, SIZE_MAX);
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
	print_message("%llu ns off\n", (unsigned long long)off_ns);
	assert_true(off_ns > TRACES * 20);
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

/* The smallest windows show the trace that was written. */
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
	assert_true(add_windows(a, s, NULL, &windows));
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

/*
 * Thread 2 waits 10..90, and in it 15..30, woken at 28.  When it wakes thread 1 at 60 that is long past, and in a window
 * before; but it is still what woke thread 2.
 */
static void test_woken_long_ago(void **state)
{
	(void)state;
	begin_program(1);
	event(&actors[1], EVENT_WAIT, 15, (const uint64_t[]){ 30, WAIT_COND, 9, waker_serial(3), 28 });
	end_chunk(1);
	event(&actors[2], EVENT_RELEASE, 28, (const uint64_t[]){ 9 });
	event(&actors[2], EVENT_RELEASE, 32, (const uint64_t[]){ 5 });
	end_chunk(2);
	event(&actors[0], EVENT_RELEASE, 40, (const uint64_t[]){ 5 });
	end_chunk(0);
	event(&actors[0], EVENT_BEGIN, 50, (const uint64_t[]){ 1, 1, 0 });
	event(&actors[0], EVENT_WAIT, 55, (const uint64_t[]){ 61, WAIT_LOCK, 8, waker_serial(2), 60 });
	event(&actors[0], EVENT_END, 62, (const uint64_t[]){ 1, 1 });
	end_chunk(0);
	event(&actors[1], EVENT_WAIT, 10, (const uint64_t[]){ 90, WAIT_LOCK, 7, 0, 0 });
	end_chunk(1);
	event(&actors[0], EVENT_BEGIN, 100, (const uint64_t[]){ 1, 2, 0 });
	event(&actors[0], EVENT_END, 104, (const uint64_t[]){ 1, 2 });
	end_chunk(0);
	same_in_windows();
}

/* Whatever is under way when the recording pauses is cut, whenever it ends: such a trace is read as a whole. */
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
		cmocka_unit_test(test_woken_long_ago),
		cmocka_unit_test(test_given_up),
		cmocka_unit_test(test_unfit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
