/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_virtual.c - intervals in virtual time, computed by hand: across threads, across blocks, nested, late; and shift.c.
 */
#include <stdlib.h>
#include "runtime/shared/shift.h"
#include "tests/unit/cmocka_all.h"
#include "trace/causal/in_virtual_time.h"
#include "trace/causal/virtual.h"

enum { REQUEST = 3, RECORDER = 99 };

static virtual_events events;

static void put(int64_t ns, uint64_t thread, enum trace_event kind, uint64_t a, uint64_t b, uint64_t c)
{
	VEC_ADD(&events, (struct virtual_event){ ns, thread, kind, { a, b, c }, (uint32_t)events.cnt });
}

static void block(uint32_t number, uint32_t speed, const int64_t at[4], const uint64_t g[4])
{
	for (int phase = BLOCK_SET; phase <= BLOCK_OVER; phase++)
		put(at[phase - 1], RECORDER, EVENT_BLOCK, (uint64_t)number << 8 | (uint64_t)phase,
		    block_what(speed ? 0 : BLOCK_NO_TARGET, speed, 5), g[phase - 1]);
}

static void begin(int64_t ns, uint64_t thread, uint64_t key, uint64_t marks)
{
	put(ns, thread, EVENT_BEGIN, REQUEST, key, marks);
}

static void end(int64_t ns, uint64_t thread, uint64_t key)
{
	put(ns, thread, EVENT_END, REQUEST, key, 0);
}

static struct virtual_trace join(void)
{
	struct virtual_trace v = { .blocks = { NULL, 0, 0 } };

	virtual_join(&events, REQUEST, &v);
	VEC_RELEASE(&events);
	return v;
}

/* T1 begins at 120, 10 behind; T2 ends it at 130, 14 behind: 10 ns, of which 4 are T2's standing still. */
static void test_across_threads(void **state)
{
	struct virtual_trace v;

	(void)state;
	block(1, 500, (const int64_t[]){ 80, 100, 250, 270 }, (const uint64_t[]){ 0, 6, 56, 60 });
	put(119, 1, EVENT_SHIFT, 10, 1, 0);
	begin(120, 1, 7, 0);
	put(129, 2, EVENT_SHIFT, 14, 1, 0);
	end(130, 2, 7);
	v = join();
	assert_int_equal(v.blocks.cnt, 1);
	assert_int_equal(v.blocks.items[0].growth_ns, 50);
	assert_int_equal(v.blocks.items[0].round, 5);
	assert_int_equal(v.blocks.items[0].speed, 500);
	assert_int_equal(v.intervals.cnt, 1);
	assert_int_equal(v.intervals.items[0].real_ns, 10);
	assert_int_equal(v.intervals.items[0].virtual_ns, 6);
	assert_true(v.intervals.items[0].counts);
	virtual_release(&v);
}

/* A thread without a record in a block starts it with everybody's shift, whatever it recorded before. */
static void test_next_block(void **state)
{
	struct virtual_trace v;

	(void)state;
	block(1, 500, (const int64_t[]){ 10, 20, 50, 60 }, (const uint64_t[]){ 0, 0, 20, 25 });
	put(30, 1, EVENT_SHIFT, 18, 1, 0);
	block(2, 0, (const int64_t[]){ 60, 70, 100, 110 }, (const uint64_t[]){ 25, 25, 25, 25 });
	begin(80, 1, 7, 0);
	put(89, 1, EVENT_SHIFT, 25, 2, 0);
	end(90, 1, 7);
	v = join();
	assert_int_equal(v.blocks.cnt, 2);
	assert_int_equal(v.blocks.items[1].target, BLOCK_NO_TARGET);
	assert_int_equal(v.intervals.cnt, 1);
	assert_int_equal(v.intervals.items[0].block, 1);
	assert_int_equal(v.intervals.items[0].virtual_ns, 10);
	virtual_release(&v);
}

/* Before it counts, after; not in time; never; aborted; nested. */
static void test_which_count(void **state)
{
	struct virtual_trace v;

	(void)state;
	begin(5, 1, 1, 0);
	block(1, 500, (const int64_t[]){ 10, 20, 50, 60 }, (const uint64_t[]){ 0, 0, 0, 0 });
	end(12, 1, 1);			/* began before any block */
	begin(15, 1, 2, 0);
	end(30, 1, 2);			/* before it counts */
	begin(31, 1, 3, 0);
	begin(32, 1, 3, BEGIN_AGAIN);
	end(33, 1, 3);
	end(34, 1, 3);			/* 3 ns */
	begin(40, 1, 4, 0);
	end(58, 1, 4);			/* 18 ns, ends behind the end, in time */
	begin(49, 2, 5, 0);
	end(61, 2, 5);			/* late */
	begin(45, 3, 6, 0);		/* never ends */
	begin(44, 4, 8, 0);
	put(46, 4, EVENT_DROP, REQUEST, 8, 0);
	begin(55, 1, 9, 0);
	end(57, 1, 9);			/* began behind the end */
	v = join();
	assert_int_equal(v.intervals.cnt, 4);
	assert_false(v.intervals.items[0].counts);
	assert_true(v.intervals.items[1].counts);
	assert_int_equal(v.intervals.items[1].virtual_ns, 3);
	assert_true(v.intervals.items[2].counts);
	assert_int_equal(v.intervals.items[2].virtual_ns, 18);
	assert_false(v.intervals.items[3].counts);
	assert_int_equal(v.blocks.items[0].late_cnt, 2);
	virtual_release(&v);
}

/* The program ended before the block was over: nothing of it counts. */
static void test_cut(void **state)
{
	struct virtual_trace v;

	(void)state;
	put(10, RECORDER, EVENT_BLOCK, 1 << 8 | BLOCK_SET, block_what(0, 500, 1), 0);
	put(20, RECORDER, EVENT_BLOCK, 1 << 8 | BLOCK_OPEN, block_what(0, 500, 1), 0);
	begin(30, 1, 1, 0);
	end(31, 1, 1);
	v = join();
	assert_int_equal(v.intervals.cnt, 1);
	assert_false(v.intervals.items[0].counts);
	virtual_release(&v);
}

/* The example of shift.h: T1 in the target 100..200 at 50 %, T2 pays from 160 to 210. */
static void test_shift(void **state)
{
	struct shift_all all = { .block = 1, .speed = 500 };
	struct shift shifts[2] = { { .block = 1 }, { .block = 1 } };
	struct shift_table t = { .all = &all, .first = (char *)shifts, .cnt = 2, .stride = sizeof(shifts[0]) };

	(void)state;
	shift_begin(&shifts[0], 100, UINT64_MAX);
	assert_int_equal(shift_max(&t, 160), 30);
	shift_paid(&shifts[1], 30);
	assert_int_equal(shift_max(&t, 190), 45);
	shift_end(&all, &shifts[0], 100);
	assert_int_equal(shift_max(&t, 210), 50);
	assert_int_equal(shift_ns(&all, &shifts[1], 210), 30);
	shift_woken(&shifts[1], 195, 205, 50);	/* blocked for 10: it cannot have stood still for longer */
	assert_int_equal(shifts[1].ns, 40);
	shift_woken(&shifts[1], 195, 300, 45);
	assert_int_equal(shifts[1].ns, 45);
	shift_begin(&shifts[1], 300, 310);	/* not heard of for long: believed until 310 */
	assert_int_equal(shift_max(&t, 400), 50);
	assert_int_equal(shift_ns(&all, &shifts[1], 400), 50);
	all.base = 50;
	all.block = 2;
	assert_int_equal(shift_ns(&all, &shifts[1], 400), 50);
	shift_join(&all, &shifts[1]);
	assert_int_equal(shifts[1].ns, 50);
	assert_int_equal(shifts[1].since, 0);
}

/* The example of device_wait.h at 50 %, the table's clock 1000 ahead: the wait is worth 40, whoever asks, and is added once. */
static void test_table(void **state)
{
	struct shift_all all = { .block = 1, .speed = 500 };
	struct shift shifts[2] = { { .block = 1, .wait = 1, .seen = 7 }, { .block = 1 } };
	struct device_wait waits[2] = { { .number = 9 }, { .since = 1100, .total = 7 } };
	struct shift_table t = { &all, (char *)shifts, 2, sizeof(shifts[0]), waits, 1000 };

	(void)state;
	assert_int_equal(shift_max(&t, 90), 0);
	assert_int_equal(shift_max(&t, 140), 20);
	waits[1].since = 0;
	waits[1].total += 80;
	assert_int_equal(shift_max(&t, 300), 40);
	assert_int_equal(shifts[0].ns, 0);
	assert_int_equal(shift_waited(&all, &shifts[0], waits), 80);
	assert_int_equal(shift_waited(&all, &shifts[0], waits), 0);
	assert_int_equal(shifts[0].ns, 40);
	assert_int_equal(shift_max(&t, 300), 40);
	t.waits = NULL;				/* none counts in this block */
	waits[1].total += 80;
	assert_int_equal(shift_max(&t, 300), 40);
	t.waits = waits;
	shift_begin(&shifts[0], 300, UINT64_MAX);	/* a stretch of its own: what the table saw of it is not added */
	assert_int_equal(shift_max(&t, 400), 90);
	assert_int_equal(shift_waited(&all, &shifts[0], waits), 0);
	shift_end(&all, &shifts[0], 100);
	assert_int_equal(shift_max(&t, 500), 90);
	shifts[0].wait = DEVICE_WAITS;		/* the arena may hold anything */
	assert_int_equal(shift_max(&t, 500), 90);
	all.base = 90;
	all.block = 2;
	shift_join(&all, &shifts[0]);
	assert_int_equal(shifts[0].wait, 0);
}

static void add_interval(struct trace *t, uint64_t sid, int64_t start_ns, int64_t end_ns)
{
	VEC_ADD(&t->intervals, (struct interval){ .sid = sid, .status = INTERVAL_COMPLETED, .start_tid = 1, .end_tid = 2,
						  .start_ns = start_ns, .end_ns = end_ns });
}

/* T1 is in the target from 100 to 200, 50 % faster; T2 stands still from 160 to 210.  By hand. */
static void test_trace(void **state)
{
	struct trace *t = trace_new();

	(void)state;
	VEC_ADD(&t->blocks, (struct faster_block){ 1, 0, 500, 20, 60, 80, 1 });		/* round 1 began again */
	VEC_ADD(&t->blocks, (struct faster_block){ 2, 0, 500, 90, 150, 300, 1 });
	VEC_ADD(&t->blocks, (struct faster_block){ 3, 1, 500, 310, 400, 500, 1 });
	VEC_ADD(&t->blocks, (struct faster_block){ 4, 0, 500, 510, 600, INT64_MAX, 2 });
	VEC_ADD(&t->shifts, (struct trace_shift){ 2, 210, 50 });
	VEC_ADD(&t->shifts, (struct trace_shift){ 1, 100, 0 });
	VEC_ADD(&t->shifts, (struct trace_shift){ 1, 200, 50 });
	VEC_ADD(&t->shifts, (struct trace_shift){ 2, 160, 0 });
	VEC_ADD(&t->shifts, (struct trace_shift){ 2, 250, 100 });	/* too large a shift: its clock stands still */
	add_interval(t, 7, 110, 210);	/* 105 .. 160 */
	add_interval(t, 6, 30, 70);	/* in a block that was repeated */
	add_interval(t, 8, 155, 220);	/* began too late */
	add_interval(t, 9, 120, 301);	/* ended too late */
	add_interval(t, 10, 320, 330);	/* another target's */
	add_interval(t, 11, 520, 530);	/* its block never was over */
	VEC_ADD(&t->segments, (struct segment){ 1, 7, 100, 200, STATE_RUNNING, 0 });
	VEC_ADD(&t->segments, (struct segment){ 2, 7, 170, 200, STATE_RUNNING, 0 });	/* nothing is left of it */
	VEC_ADD(&t->segments, (struct segment){ 2, 7, 100, 210, STATE_LOCK, 0 });
	VEC_ADD(&t->segments, (struct segment){ 3, 7, 100, 210, STATE_LOCK, 0 });	/* of a thread without a record */
	VEC_ADD(&t->invocations, (struct invocation){ 1, 7, 0, CALL_SITE_NONE, 50, 250, 0 });
	VEC_ADD(&t->wakeups, (struct wakeup){ 2, 1, 210 });
	assert_int_equal(trace_put_in_virtual_time(t, 0, 500), 1);
	assert_int_equal(t->intervals.items[0].sid, 7);
	assert_int_equal(t->intervals.items[0].start_ns, 105);
	assert_int_equal(t->intervals.items[0].end_ns, 160);
	assert_int_equal(t->segments.cnt, 3);
	assert_int_equal(t->segments.items[0].end_ns, 150);
	assert_int_equal(t->segments.items[1].start_ns, 100);
	assert_int_equal(t->segments.items[1].end_ns, 160);
	assert_int_equal(t->segments.items[2].end_ns, 210);
	assert_int_equal(t->invocations.items[0].start_ns, 50);
	assert_int_equal(t->invocations.items[0].end_ns, 200);
	assert_int_equal(t->wakeups.items[0].time_ns, 160);
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace),
		cmocka_unit_test(test_across_threads), cmocka_unit_test(test_next_block), cmocka_unit_test(test_which_count),
		cmocka_unit_test(test_cut), cmocka_unit_test(test_shift), cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
