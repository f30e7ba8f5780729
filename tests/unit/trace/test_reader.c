/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_reader.c - traces written record by record, read back as tuples worked out by hand.
 *
 * raw_trace.h says which threads there are.  A trace is compared in the text form of the tuples.
 */
#include "tests/unit/raw_trace.h"
#include "tests/unit/tuples_check.h"
#include "trace/blocks.h"

/* tests/golden/lock.tuples and woken_late.tuples: blocked from 20 to 50, let go at 45, by thread 2. */
static void test_lock(void **state)
{
	(void)state;
	assert_tuples(READ({ 1, EVENT_BEGIN, { 10, 1, 7, 0 } },
			   { 1, EVENT_WAIT, { 20, 50, WAIT_LOCK, 99, waker_serial(2), 45 } },
			   { 1, EVENT_NONE, { 1, 18, 52 } },
			   { 1, EVENT_END, { 70, 1, 7 } },
			   { 2, EVENT_NONE, { 2, 5, 47 } }),
		"vprof-tuples 1\n"
		"interval 1 request 11 10 11 70\n"
		"segment 11 1 10 20 running\n"
		"segment 11 1 20 50 lock\n"
		"segment 11 1 50 70 running\n"
		"segment 12 - 5 47 running\n"
		"invocation 11 1 work 18 52\n"
		"invocation 12 - hold 5 47\n"
		"wakeup 11 12 45\n");
}

/* T3 lets the lock go at 38, T2 takes it before the waiter is back and lets it go at 45: two waits.
 * Releases of another lock, and after the wake-up, change nothing. */
static void test_taken_between(void **state)
{
	(void)state;
	assert_tuples(READ({ 1, EVENT_WAIT, { 30, 50, WAIT_LOCK, 99, waker_serial(2), 45 } },
			   { 3, EVENT_RELEASE, { 38, 99 } },
			   { 3, EVENT_RELEASE, { 40, 98 } },
			   { 2, EVENT_RELEASE, { 45, 99 } },
			   { 2, EVENT_RELEASE, { 55, 99 } }),
		"vprof-tuples 1\n"
		"segment 11 - 30 38 lock\n"
		"segment 11 - 38 50 lock\n"
		"segment 12 - 45 55 running\n"
		"segment 13 - 38 40 running\n"
		"wakeup 11 13 38\n"
		"wakeup 11 12 45\n");
}

/* A hundred times others were quicker: the first 64 hold-ups are recorded one by one, the rest counts as the last one's. */
static void test_starved(void **state)
{
	struct trace *t;

	(void)state;
	begin_trace();
	put_rec(&(struct rec){ 1, EVENT_WAIT, { 10, 1200, WAIT_LOCK, 99, waker_serial(2), 1150 } });
	for (uint64_t i = 0; i < 100; i++)
		put_rec(&(struct rec){ i % 2 ? 2 : 3, EVENT_RELEASE, { 20 + 10 * i, 99 } });
	t = read_trace(NULL);
	assert_int_equal(t->wakeups.cnt, 65);
	assert_true(t->wakeups.items[0].time_ns == 20 && t->wakeups.items[0].waker_tid == 13);
	assert_true(t->wakeups.items[63].time_ns == 650 && t->wakeups.items[63].waker_tid == 12);
	assert_true(t->wakeups.items[64].time_ns == 1150 && t->wakeups.items[64].waker_tid == 12);
	trace_free(t);
	unlink(path);
}

/* The waker logged nothing after 30, but was awake at 45; named by the kernel's number. */
static void test_waker_by_tid(void **state)
{
	(void)state;
	assert_tuples(READ({ 1, EVENT_WAIT, { 20, 50, WAIT_COND, 99, waker_tid(12), 45 } },
			   { 2, EVENT_PAUSE, { 5 } },
			   { 2, EVENT_PAUSE, { 30 } }),
		"vprof-tuples 1\n"
		"segment 11 - 20 50 cond\n"
		"segment 12 - 5 45 running\n"
		"wakeup 11 12 45\n");
	/* No thread wakes itself. */
	assert_tuples(READ({ 1, EVENT_WAIT, { 20, 50, WAIT_LOCK, 99, waker_serial(1), 45 } },
			   { 1, EVENT_WAIT, { 50, 70, WAIT_COND, 98, waker_tid(11), 66 } }),
		"vprof-tuples 1\nsegment 11 - 20 50 lock\nsegment 11 - 50 70 cond\n");
}

/* A wait that its own time-out ended: the timer is its waker.  A home-made lock that polls: its releaser at 45 is the outer
 * wait's waker, whatever times out inside. */
static void test_time_out(void **state)
{
	(void)state;
	assert_tuples(READ({ 1, EVENT_WAIT, { 20, 50, WAIT_COND, 99, WAKER_TIME_OUT, 50 } },
			   { 1, EVENT_WAIT, { 61, 69, WAIT_COND, 98, WAKER_TIME_OUT, 69 } },
			   { 1, EVENT_WAIT, { 60, 70, WAIT_LOCK, 97, waker_serial(2), 66 } },
			   { 2, EVENT_PAUSE, { 5 } },
			   { 2, EVENT_PAUSE, { 67 } }),
		"vprof-tuples 1\n"
		"segment 11 - 20 50 cond\n"
		"segment 11 - 50 60 running\n"
		"segment 11 - 60 70 lock\n"
		"segment 12 - 5 67 running\n"
		"wakeup 11 284773511593984 50\n"
		"wakeup 11 12 66\n"
		"thread 284773511593984 timer timer\n");
}

/* tests/golden/queue.tuples; and the hand-over by PAUSE and RESUME. */
static void test_queue(void **state)
{
	(void)state;
	assert_tuples(READ({ 1, EVENT_BEGIN, { 0, 1, 7, 0 } },
			   { 1, EVENT_ENQUEUE, { 15, 500, 600 } },
			   { 1, EVENT_PAUSE, { 17 } },
			   { 1, EVENT_STOP, { 20, 0, 0 } },
			   { 2, EVENT_DEQUEUE, { 25, 500, 600 } },
			   { 2, EVENT_RESUME, { 26, 1, 7 } },
			   { 2, EVENT_END, { 60, 1, 7 } }),
		"vprof-tuples 1\n"
		"interval 1 request 11 0 12 60\n"
		"segment 11 1 0 17 running\n"
		"segment 11 - 17 20 running\n"
		"segment 12 - 25 26 running\n"
		"segment 12 1 26 60 running\n"
		"creation 11 15 12 25\n"
		"creation 11 17 12 26\n"
		"thread 12 thread - open\n");
}

/* A task is found by queue and task; a second dequeue of it finds nothing. */
static void test_queue_mismatch(void **state)
{
	(void)state;
	assert_tuples(READ({ 1, EVENT_ENQUEUE, { 10, 500, 600 } },
			   { 2, EVENT_DEQUEUE, { 20, 501, 600 } },
			   { 2, EVENT_DEQUEUE, { 25, 500, 601 } },
			   { 2, EVENT_DEQUEUE, { 30, 500, 600 } },
			   { 3, EVENT_DEQUEUE, { 40, 500, 600 } }),
		"vprof-tuples 1\n"
		"segment 12 - 20 30 running\n"
		"creation 11 10 12 30\n"
		"thread 12 thread - open\n");
}

static void test_false_wakeup(void **state)
{
	(void)state;
	assert_tuples(READ({ 2, EVENT_PAUSE, { 1 } },
			   { 1, EVENT_WAIT, { 20, 60, WAIT_COND, 9, waker_serial(2), 30 } },
			   { 1, EVENT_FALSE_WAKEUP, { 61 } }),
		"vprof-tuples 1\n"
		"segment 11 - 20 60 cond\n"
		"segment 11 - 60 61 running\n"
		"false-wakeup 11 61\n");
}

/* A query in a request; END takes its own interval away wherever it is. */
static void test_nested_intervals(void **state)
{
	(void)state;
	assert_tuples(READ({ 1, EVENT_BEGIN, { 10, 1, 7, 0 } },
			   { 1, EVENT_BEGIN, { 20, 2, 8, 0 } },
			   { 1, EVENT_WORK, { 25, 3, 5 } },
			   { 1, EVENT_END, { 30, 1, 7 } },
			   { 1, EVENT_END, { 40, 2, 8 } },
			   { 1, EVENT_PAUSE, { 50 } }),
		"vprof-tuples 1\n"
		"interval 1 request 11 10 11 30\n"
		"interval 2 query 11 20 11 40\n"
		"segment 11 1 10 20 running\n"
		"segment 11 2 20 40 running\n"
		"segment 11 - 40 50 running\n"
		"work 2 rows 5\n");
}

/* BEGIN again, when no thread works on the older interval: the older one is aborted.  END twice: the second is ignored, counted.  One stays
 * open.  Nested intervals are in test_nesting.c. */
static void test_pairs(void **state)
{
	struct trace *t = READ({ 1, EVENT_BEGIN, { 10, 1, 7, 0 } },
			       { 1, EVENT_PAUSE, { 15 } },
			       { 1, EVENT_BEGIN, { 20, 1, 7, 0 } },
			       { 1, EVENT_END, { 30, 1, 7 } },
			       { 1, EVENT_END, { 35, 1, 7 } },
			       { 1, EVENT_BEGIN, { 40, 1, 9, 0 } },
			       { 1, EVENT_BEGIN, { 42, 1, 8, 0 } },
			       { 1, EVENT_DROP, { 45, 1, 8 } });

	(void)state;
	assert_int_equal(t->losses.stray_events, 1);
	assert_tuples(t,
		"vprof-tuples 1\n"
		"interval 1 request 11 10 11 20 aborted\n"
		"interval 2 request 11 20 11 30\n"
		"interval 3 request 11 40 - -\n"
		"interval 4 request 11 42 11 45 aborted\n"
		"segment 11 1 10 15 running\n"
		"segment 11 - 15 20 running\n"
		"segment 11 2 20 30 running\n"
		"segment 11 - 30 40 running\n"
		"segment 11 3 40 42 running\n"
		"segment 11 4 42 45 running\n");
}

/* Two workers forked by one parent have a request each, both at address 7: two intervals.  The
 * parent's interval goes on in its child 20, and is no interval of process 30. */
static void test_processes(void **state)
{
	struct trace *t = READ({ 1, EVENT_BEGIN, { 10, 1, 5, 0 } },
			       { 1, EVENT_CREATE, { 12, 201 } },
			       { 201, EVENT_RESUME, { 15, 1, 5 } },
			       { 301, EVENT_END, { 18, 1, 5 } },
			       { 201, EVENT_END, { 20, 1, 5 } },
			       { 201, EVENT_BEGIN, { 30, 1, 7, 0 } },
			       { 301, EVENT_BEGIN, { 40, 1, 7, 0 } },
			       { 201, EVENT_END, { 50, 1, 7 } },
			       { 301, EVENT_END, { 60, 1, 7 } });

	(void)state;
	assert_int_equal(t->losses.stray_events, 1);
	assert_tuples(t,
		"vprof-tuples 1\n"
		"interval 1 request 11 10 211 20\n"
		"interval 2 request 211 30 211 50\n"
		"interval 3 request 311 40 311 60\n"
		"segment 11 1 10 12 running\n"
		"segment 211 1 15 20 running\n"
		"segment 211 - 20 30 running\n"
		"segment 211 2 30 50 running\n"
		"segment 311 - 18 40 running\n"
		"segment 311 3 40 60 running\n"
		"creation 11 12 211 15\n"
		"creation 11 15 211 15\n"
		"thread 211 thread - open\n");
}

/* Records were lost from 25 to 35: intervals that touch that are not used. */
static void test_losses(void **state)
{
	struct trace *t = READ({ 1, EVENT_BEGIN, { 10, 1, 1, 0 } },
			       { 1, EVENT_END, { 20, 1, 1 } },
			       { 1, EVENT_BEGIN, { 22, 1, 2, 0 } },
			       { 1, EVENT_END, { 30, 1, 2 } },
			       { 2, EVENT_LOSS, { 35, 25, 17 } },
			       { 1, EVENT_BEGIN, { 36, 1, 3, 0 } },
			       { 1, EVENT_END, { 40, 1, 3 } },
			       { 1, EVENT_BEGIN, { 50, 1, 4, 1 } },
			       { 1, EVENT_END, { 60, 1, 4 } });
	static const bool lost[] = { false, true, false, true };

	(void)state;
	assert_int_equal(t->losses.records, 17);
	assert_int_equal(t->losses.intervals, 2);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(t->intervals.items[i].lost, lost[i]);
	trace_free(t);
	unlink(path);
}

/* Open frames end with their thread; a call closed by longjmp; one that leaves its caller is cut;
 * equal spans nest as they returned; the root function has the label of what begins inside it. */
static void test_invocations(void **state)
{
	(void)state;
	assert_tuples(READ({ 1, EVENT_OPEN_FRAME, { 5, 1 } },
			   { 1, EVENT_FRAME, { 10, 20, 2 } },
			   { 1, EVENT_NONE, { 1, 15, 30 } },
			   { 1, EVENT_BEGIN, { 41, 1, 1, 0 } },
			   { 1, EVENT_NONE, { 2, 40, 50 } },
			   { 1, EVENT_NONE, { 1, 40, 50 } },
			   { 1, EVENT_END, { 60, 1, 1 } }),
		"vprof-tuples 1\n"
		"interval 1 request 11 41 11 60\n"
		"segment 11 - 5 41 running\n"
		"segment 11 1 41 60 running\n"
		"invocation 11 1 work 5 60\n"
		"invocation 11 - hold 10 20\n"
		"invocation 11 - work 15 20\n"
		"invocation 11 1 work 40 50\n"
		"invocation 11 1 hold 40 50\n");
}

/* Inside a wait nothing is executed; what begins before it or ends behind it stays, and so does what
 * runs between two waits. */
static void test_inside_waits(void **state)
{
	(void)state;
	assert_tuples(READ({ 1, EVENT_NONE, { 1, 10, 60 } },
			   { 1, EVENT_WAIT, { 12, 30, WAIT_LOCK, 9, 0, 0 } },
			   { 1, EVENT_NONE, { 2, 13, 30 } },
			   { 1, EVENT_NONE, { 2, 29, 31 } },
			   { 1, EVENT_NONE, { 2, 34, 36 } },
			   { 1, EVENT_WAIT, { 40, 58, WAIT_IO, 0, 0, 0 } },
			   { 1, EVENT_NONE, { 2, 40, 41 } },
			   { 1, EVENT_NONE, { 2, 42, 43 } },
			   { 1, EVENT_NONE, { 2, 58, 59 } }),
		"vprof-tuples 1\n"
		"segment 11 - 10 12 running\n"
		"segment 11 - 12 30 lock\n"
		"segment 11 - 30 40 running\n"
		"segment 11 - 40 58 io\n"
		"segment 11 - 58 60 running\n"
		"invocation 11 - work 10 60\n"
		"invocation 11 - hold 29 31\n"
		"invocation 11 - hold 34 36\n"
		"invocation 11 - hold 40 41\n"
		"invocation 11 - hold 58 59\n");
}

/* The kernel gave tid 77 out twice; the child's life begins with its parent's CREATE. */
static void test_threads(void **state)
{
	struct encoder e = { chunk_data, 0, sizeof(chunk_data), false };
	static const uint64_t numbers[][6] = { { 4, 10, 77, 1, 0, 5 }, { 5, 10, 77, 1, 0, 9 } };

	(void)state;
	begin_trace();
	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < 4; k++)
			put(&e, numbers[i][k]);
		put(&e, 1 << 1);
		put(&e, zigzag((int64_t)numbers[i][5]));
		put(&e, 2);
	}
	trace_file_block(&file, BLOCK_CHUNKS, e.data, e.len);
	put_rec(&(struct rec){ 1, EVENT_CREATE, { 3, 4 } });
	assert_tuples(read_trace(NULL),
		"vprof-tuples 1\n"
		"segment 77 - 5 7 running\n"
		"segment 4294967373 - 9 11 running\n"
		"invocation 77 - work 5 7\n"
		"invocation 4294967373 - work 9 11\n"
		"creation 11 3 77 5\n"
		"thread 77 thread - open\n");
}

/* Thread 2 ended; nobody saw the end of 3. */
static void test_open_end(void **state)
{
	(void)state;
	assert_tuples(READ({ 1, EVENT_CREATE, { 5, 2 } }, { 1, EVENT_CREATE, { 6, 3 } },
			   { 2, EVENT_PAUSE, { 10 } }, { 2, EVENT_STOP, { 20, 0, 0 } },
			   { 3, EVENT_PAUSE, { 15 } }, { 1, EVENT_PAUSE, { 30 } }),
		"vprof-tuples 1\n"
		"segment 11 - 5 30 running\n"
		"segment 12 - 10 20 running\n"
		"creation 11 5 12 10\n"
		"creation 11 6 13 15\n"
		"thread 13 thread - open\n");
}

static void test_alias(void **state)
{
	static const struct name_alias alias = { "query", "request" };
	const struct reader_options o = { .aliases = &alias, .alias_cnt = 1 };

	(void)state;
	begin_trace();
	put_rec(&(struct rec){ 1, EVENT_BEGIN, { 10, 2, 7, 0 } });
	put_rec(&(struct rec){ 2, EVENT_END, { 20, 1, 7 } });
	assert_tuples(read_trace(&o),
		"vprof-tuples 1\n"
		"interval 1 request 11 10 12 20\n");
}

/* A clock at 2 ticks a ns from 0 to 2 ms, then 4 ticks a ns. */
static void test_clock(void **state)
{
	unsigned char data[64];
	struct encoder e = { data, 0, sizeof(data), false };
	static const uint64_t anchors[] = { 0, 0, 0, 4000000, 2000000, 0, 12000000, 4000000, 0 };

	(void)state;
	memcpy(path, "reader-XXXXXX", sizeof(path));
	close(mkstemp(path));
	memset(&file, 0, sizeof(file));
	assert_int_equal(trace_file_open(&file, path, TRACE_MAGIC, TRACE_VERSION), 0);
	for (size_t i = 0; i < 9; i++)
		put(&e, anchors[i]);
	trace_file_block(&file, BLOCK_ANCHORS, e.data, e.len);
	put_rec(&(struct rec){ 1, EVENT_NONE, { 1, 2000, 4000400 } });
	put_rec(&(struct rec){ 2, EVENT_NONE, { 1, 12000400, 12000800 } });
	assert_tuples(read_trace(NULL),
		"vprof-tuples 1\n"
		"segment 11 - 1000 2000100 running\n"
		"segment 12 - 4000100 4000200 running\n"
		"invocation 11 - function-1 1000 2000100\n"
		"invocation 12 - function-1 4000100 4000200\n");
}

/* 300,000 bytes are three of zstd's blocks; their reader cannot see that they were never compressed. */
static void test_in_haste(void **state)
{
	static unsigned char data[300000];
	static const size_t lens[] = { 1, 100, 131072, 131073, sizeof(data) };
	struct diag diag = DIAG_INIT;
	struct blocks b;
	uint64_t before;
	int r;

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * i >> 7);
	memcpy(path, "reader-XXXXXX", sizeof(path));
	close(mkstemp(path));
	memset(&file, 0, sizeof(file));
	assert_int_equal(trace_file_open(&file, path, TRACE_MAGIC, TRACE_VERSION), 0);
	for (size_t i = 0; i < 2 * ARRAY_SIZE(lens); i++) {
		file.in_haste = i % 2;
		before = file.bytes;
		assert_true(trace_file_block(&file, BLOCK_CHUNKS, data, lens[i / 2]));
		if (i % 2)
			assert_int_equal(file.bytes - before, sizeof(struct trace_block) + sizeof(struct trace_place) + lens[i / 2] + 9 + 3 * ((lens[i / 2] + 131071) / 131072));
	}
	trace_file_close(&file);
	r = blocks_open(&b, path, TRACE_MAGIC, TRACE_VERSION, &diag);
	for (size_t i = 0; i < 2 * ARRAY_SIZE(lens); i++) {
		assert_true(r == 0 && blocks_next(&b, &r, &diag));
		assert_int_equal(b.len, lens[i / 2]);
		assert_memory_equal(b.plain, data, b.len);
	}
	assert_false(blocks_next(&b, &r, &diag));
	assert_int_equal(r, 0);
	blocks_close(&b);
	unlink(path);
}

/* The recorder was killed: what thread 1 did for request 7 after its BEGIN may be missing; request 8 has all. */
static void test_cut_off(void **state)
{
	(void)state;
	is_cut_off = true;
	assert_tuples(READ({ 1, EVENT_BEGIN, { 10, 1, 8, 0 } },
			   { 1, EVENT_PAUSE, { 12 } },
			   { 2, EVENT_RESUME, { 15, 1, 8 } },
			   { 2, EVENT_END, { 20, 1, 8 } },
			   { 1, EVENT_BEGIN, { 30, 1, 7, 0 } },
			   { 2, EVENT_RESUME, { 40, 1, 7 } },
			   { 2, EVENT_END, { 60, 1, 7 } }),
		"vprof-tuples 1\n"
		"interval 1 request 11 10 12 20\n"
		"interval 2 request 11 30 12 60 aborted\n"
		"segment 11 1 10 12 running\n"
		"segment 11 - 12 30 running\n"
		"segment 12 1 15 20 running\n"
		"segment 12 - 20 40 running\n"
		"segment 12 2 40 60 running\n"
		"creation 11 12 12 15\n"
		"creation 11 40 12 40\n"
		"thread 12 thread - open\n");
}

/* trace/raw/raw_window.h: request 6 began before the window, 8 ended behind it. */
static void test_window(void **state)
{
	unsigned char data[32];
	struct encoder e = { data, 0, sizeof(data), false };
	static const struct rec recs[] = {
		{ 1, EVENT_START, { 3, 10, 0, 0 } },
		{ 1, EVENT_BEGIN, { 80, 1, 6, 0 } }, { 1, EVENT_END, { 110, 1, 6 } },
		{ 1, EVENT_BEGIN, { 120, 1, 7, 0 } }, { 1, EVENT_END, { 160, 1, 7 } },
		{ 1, EVENT_BEGIN, { 170, 1, 8, 0 } }, { 1, EVENT_END, { 210, 1, 8 } },
		{ 1, EVENT_NONE, { 1, 40, 90 } }, { 1, EVENT_NONE, { 1, 60, 150 } },
		{ 1, EVENT_WAIT, { 180, 230, WAIT_SLEEP, 0, 0, 0 } },
		/* of a snapshot: open at 125, and closed in a chunk; open before, and not closed */
		{ 1, EVENT_OPEN_FRAME, { 125, 2 } }, { 1, EVENT_NONE, { 2, 125, 140 } },
		{ 2, EVENT_OPEN_FRAME, { 50, 2 } }, { 2, EVENT_PAUSE, { 190 } },
	};
	struct trace *t;

	(void)state;
	begin_trace();
	put(&e, 99);
	put(&e, 200);
	put(&e, 150);
	trace_file_block(&file, BLOCK_WINDOW, e.data, e.len);
	for (size_t i = 0; i < sizeof(recs) / sizeof(recs[0]); i++)
		put_rec(&recs[i]);
	t = read_trace(NULL);
	assert_int_equal(t->losses.before_window, 1);
	assert_int_equal(t->losses.stray_events, 0);
	assert_tuples(t,
		"vprof-tuples 1\n"
		"interval 1 request 11 120 11 160\n"
		"interval 2 request 11 170 - -\n"
		"segment 11 - 100 120 running\n"
		"segment 11 1 120 160 running\n"
		"segment 11 - 160 170 running\n"
		"segment 11 2 170 180 running\n"
		"segment 11 2 180 200 sleep\n"
		"segment 12 - 100 190 running\n"
		"invocation 11 1 work 100 150\n"
		"invocation 11 1 hold 125 140\n"
		"invocation 12 - hold 100 190\n");
}

/* The recording paused from 30 to 90: request 6 was over, 7 was not, 8 began by a thread that did not know yet, 9
 * behind it.  Thread 1 took part again at 100; thread 2 had something to say all the time. */
static void test_pause(void **state)
{
	unsigned char data[32];
	struct encoder e = { data, 0, sizeof(data), false };
	static const struct rec recs[] = {
		{ 1, EVENT_BEGIN, { 10, 1, 6, 0 } }, { 1, EVENT_END, { 20, 1, 6 } },
		{ 1, EVENT_BEGIN, { 25, 1, 7, 0 } },
		{ 2, EVENT_BEGIN, { 32, 1, 8, 0 } }, { 2, EVENT_END, { 40, 1, 8 } },
		{ 2, EVENT_WAIT, { 50, 95, WAIT_SLEEP, 0, 0, 0 } },
		{ 1, EVENT_REOPEN, { 100, 28 } }, { 1, EVENT_END, { 105, 1, 7 } },
		{ 1, EVENT_BEGIN, { 110, 1, 9, 0 } }, { 1, EVENT_NONE, { 1, 112, 115 } },
		{ 1, EVENT_END, { 120, 1, 9 } },
	};
	static const uint64_t told[] = { 30, 0, 30, 90 };
	struct trace *t;

	(void)state;
	begin_trace();
	for (size_t i = 0; i < 4; i += 2) {	/* as it began, and as it ended */
		e.len = 0;
		put(&e, told[i]);
		put(&e, told[i + 1]);
		trace_file_block(&file, BLOCK_PAUSES, e.data, e.len);
	}
	for (size_t i = 0; i < sizeof(recs) / sizeof(recs[0]); i++)
		put_rec(&recs[i]);
	t = read_trace(NULL);
	assert_int_equal(t->losses.at_pause, 2);
	assert_int_equal(t->losses.stray_events, 0);
	assert_int_equal(t->losses.records, 0);
	assert_tuples(t,
		"vprof-tuples 1\n"
		"interval 1 request 11 10 11 20\n"
		"interval 2 request 11 25 11 30 aborted\n"
		"interval 3 request 12 32 12 40 aborted\n"
		"interval 4 request 11 110 11 120\n"
		"segment 11 1 10 20 running\n"
		"segment 11 - 20 25 running\n"
		"segment 11 2 25 28 running\n"
		"segment 11 - 100 110 running\n"
		"segment 11 4 110 120 running\n"
		"segment 12 - 90 95 sleep\n"
		"invocation 11 4 work 112 115\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_off), cmocka_unit_test(test_window), cmocka_unit_test(test_pause),
		cmocka_unit_test(test_lock), cmocka_unit_test(test_taken_between),
		cmocka_unit_test(test_starved),
		cmocka_unit_test(test_waker_by_tid),
		cmocka_unit_test(test_time_out),
		cmocka_unit_test(test_queue), cmocka_unit_test(test_queue_mismatch),
		cmocka_unit_test(test_open_end),
		cmocka_unit_test(test_false_wakeup),
		cmocka_unit_test(test_nested_intervals), cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_losses), cmocka_unit_test(test_invocations),
		cmocka_unit_test(test_inside_waits),
		cmocka_unit_test(test_threads), cmocka_unit_test(test_alias),
		cmocka_unit_test(test_clock), cmocka_unit_test(test_in_haste),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
