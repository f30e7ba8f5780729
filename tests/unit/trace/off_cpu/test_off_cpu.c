/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_off_cpu.c - what a thread's accounts say of its time outside of waits (trace/read/off_cpu.h).
 *
 * Thread 1 (tid 11) calls work (1) and hold (2).  Times are in microseconds here.
 */
#include "tests/unit/trace/off_cpu/looks.h"
#include "base/banned.h"

/* hold sleeps from 1,000 to 19,000; three looks found it asleep. */
static void test_slept_through(void **state)
{
	_cleanup_(trace_freep) struct trace *t = NULL;

	(void)state;
	begin();
	own_look(0, 0);
	call(1, 100, 1000);
	call(2, 1000, 20000);
	for (uint64_t us = 5000; us < 19000; us += 5000)
		look(us, 1000, 0, 7, true);
	own_look(20000, 2000);
	t = end(NULL);
	assert_int_equal(told(t, NULL, STATE_OTHER), 18000);
	assert_int_equal(told(t, "hold", STATE_OTHER), 18000);
	assert_int_equal(told(t, NULL, STATE_RUNNING), 2000);
	assert_int_equal(t->off_cpu.placed_ns, 18000000);
	assert_int_equal(t->off_cpu.unplaced_ns, 0);
}

/* 40 times work for 2,900, then hold, asleep, for 3,100; looks every 5,000.  Both in most stretches between looks. */
static void test_two_functions(void **state)
{
	_cleanup_(trace_freep) struct trace *t = NULL;
	uint64_t looks = 0;

	(void)state;
	begin();
	own_look(0, 0);
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t at = i * 6000;

		call(1, at, at + 2900);
		call(2, at + 2900, at + 6000);
		for (; looks * 5000 + 1000 < at + 6000; looks++) {
			uint64_t us = looks * 5000 + 1000 - at;

			look(at + us, i * 2900 + (us < 2900 ? us : 2900), 0, i + 1, us >= 2900);
		}
	}
	own_look(240000, 40 * 2900);
	t = end(NULL);
	assert_in_range(told(t, NULL, STATE_OTHER), 40 * 3000, 40 * 3100);
	assert_in_range(told(t, "hold", STATE_OTHER), 40 * 2850, 40 * 3100);
	assert_in_range(told(t, "work", STATE_OTHER), 0, 40 * 150);
}

/* As before, but work and hold take 500 and 400 each: several of both between any two looks.  How often a look found
 * which of them asleep tells them apart. */
static void test_many_between_looks(void **state)
{
	_cleanup_(trace_freep) struct trace *t = NULL;
	uint64_t looks = 0;

	(void)state;
	begin();
	own_look(0, 0);
	for (uint64_t i = 0; i < 400; i++) {
		uint64_t at = i * 900;

		call(1, at, at + 500);
		call(2, at + 500, at + 900);
		for (; looks * 5000 + 1037 < at + 900; looks++) {
			uint64_t us = looks * 5000 + 1037 - at;

			look(at + us, i * 500 + (us < 500 ? us : 500), 0, i + 1, us >= 500);
		}
	}
	own_look(400 * 900, 400 * 500);
	t = end(NULL);
	assert_in_range(told(t, NULL, STATE_OTHER), 400 * 390, 400 * 400);
	assert_true(told(t, "hold", STATE_OTHER) > 9 * told(t, "work", STATE_OTHER));
}

/* Looks at a thread that computes are late by up to a tick: nothing is wrong with it. */
static void test_computes(void **state)
{
	_cleanup_(trace_freep) struct trace *t = NULL;

	(void)state;
	begin();
	own_look(0, 0);
	call(1, 0, 100000);
	for (uint64_t us = 5000; us < 100000; us += 5000)
		look(us, us / 4000 * 4000, 0, 3, false);
	own_look(100000, 100000);
	t = end(NULL);
	assert_int_equal(told(t, NULL, STATE_RUNNING), 100000);
	assert_int_equal(t->off_cpu.placed_ns + t->off_cpu.runnable_ns + t->off_cpu.unplaced_ns, 0);
}

/* A recorded wait is time off the CPU, too, and includes its time in the run queue. */
static void test_known_waits(void **state)
{
	_cleanup_(trace_freep) struct trace *t = NULL;

	(void)state;
	begin();
	own_look(0, 0);
	for (uint64_t i = 0; i < 20; i++) {
		put_rec(&(struct rec){ 1, EVENT_WAIT, { (i * 5000 + 1000) * 1000, (i * 5000 + 4500) * 1000, WAIT_LOCK, 9, 0, 0 } });
		call(1, i * 5000, i * 5000 + 5000);
		look(i * 5000 + 2000, i * 1500 + 1000, i * 400, i + 1, true);
	}
	own_look(100000, 20 * 1500);
	t = end(NULL);
	assert_int_equal(told(t, NULL, STATE_LOCK), 20 * 3500);
	assert_int_equal(told(t, NULL, STATE_RUNNING), 20 * 1500);
}

/* work was driven from the CPU from 30,000 to 42,000 and wanted to run: no wait, and no unknown reason. */
static void test_run_queue(void **state)
{
	_cleanup_(trace_freep) struct trace *t = NULL;

	(void)state;
	begin();
	own_look(0, 0);
	call(1, 0, 29000);
	call(2, 29000, 45000);
	call(1, 45000, 60000);
	for (uint64_t us = 5000; us < 60000; us += 5000)
		look(us, us < 30000 ? us : us < 42000 ? 30000 : us - 12000, us < 42000 ? 0 : 12000, us < 42000 ? 3 : 4, false);
	own_look(60000, 48000);
	t = end(NULL);
	assert_int_equal(told(t, NULL, STATE_OTHER), 0);
	assert_in_range(told(t, NULL, STATE_RUNNABLE), 11990, 12000);
	assert_in_range(told(t, "hold", STATE_RUNNABLE), 11990, 12000);
}

/* It computes for 1,000, 500 and 1,000, and is in the run queue for 18,000 and 20,500: more than the time since the look before. */
static void test_queued_since_earlier(void **state)
{
	_cleanup_(trace_freep) struct trace *t = NULL;

	(void)state;
	begin();
	own_look(0, 0);
	call(1, 100, 41000);
	look(5000, 1000, 0, 1, false);
	look(18000, 1000, 0, 1, false);
	look(30000, 1500, 18000, 2, false);
	look(40500, 2000, 38500, 3, false);
	own_look(41000, 2500);
	t = end(NULL);
	assert_in_range(told(t, NULL, STATE_RUNNING), 2300, 2900);
	assert_in_range(told(t, NULL, STATE_RUNNABLE), 38000, 38700);
}

/* Ready to run at three looks, but it does not: in the run queue, though no account says so before the thread ends. */
static void test_queued_to_the_end(void **state)
{
	_cleanup_(trace_freep) struct trace *t = NULL;

	(void)state;
	begin();
	own_look(0, 0);
	call(1, 100, 40000);
	look(5000, 3000, 0, 2, false);
	look(10000, 3000, 0, 2, false);
	look(30000, 3000, 0, 2, false);
	own_look(40000, 5000);
	t = end(NULL);
	assert_in_range(told(t, NULL, STATE_RUNNING), 4700, 5400);
	assert_in_range(told(t, NULL, STATE_RUNNABLE), 24700, 25300);
	assert_int_equal(t->off_cpu.unplaced_ns, 0);
}

/* The first look comes late, and finds it ready to run though it computed for 1,000 only: all before is off the CPU, too. */
static void test_looked_at_late(void **state)
{
	_cleanup_(trace_freep) struct trace *t = NULL;

	(void)state;
	begin();
	own_look(0, 0);
	call(1, 100, 58000);
	look(48000, 1000, 0, 2, false);
	own_look(58000, 2000);
	t = end(NULL);
	assert_in_range(told(t, NULL, STATE_RUNNING), 1800, 2400);
	assert_int_equal(t->off_cpu.unplaced_ns, 0);
}

/* No look at it between 5,000 and its end: it was in the run queue as long as before, for the same work. */
static void test_hardly_looked_at(void **state)
{
	_cleanup_(trace_freep) struct trace *t = NULL;

	(void)state;
	begin();
	own_look(0, 0);
	call(1, 100, 30000);
	look(1000, 500, 0, 1, false);
	look(5000, 1000, 3500, 2, false);
	own_look(30000, 3000);
	t = end(NULL);
	assert_in_range(told(t, NULL, STATE_RUNNING), 2800, 3400);
	assert_in_range(told(t, NULL, STATE_RUNNABLE), 10300, 10700);
}

/* Only the accounts at its start and end: they give the time off the CPU, which can only be in a long segment. */
static void test_short_thread(void **state)
{
	_cleanup_(trace_freep) struct trace *t = NULL;

	(void)state;
	begin();
	own_look(0, 0);
	for (uint64_t i = 0; i < 100; i++)
		call(1, i * 10, i * 10 + 10);
	call(2, 1000, 9000);
	own_look(9000, 1200);
	t = end(NULL);
	assert_in_range(told(t, "hold", STATE_OTHER), 7790, 7800);
	assert_int_equal(told(t, "work", STATE_OTHER), 0);
}

/* Thread i begins at i * 10,000, computes for 2,900 in work and sleeps for 3,000 of 3,100 in hold; every third has one look. */
static void test_many_short_threads(void **state)
{
	_cleanup_(trace_freep) struct trace *t = NULL;

	(void)state;
	begin();
	for (int i = 1; i <= 60; i++) {
		uint64_t at = (uint64_t)i * 10000, us = at + (uint64_t)i * 97 % 6000;
		bool sleeps = us - at >= 2900;

		own_look_of(i, at, 0);
		call_of(i, 1, at, at + 2900);
		call_of(i, 2, at + 2900, at + 6000);
		if (i % 3 == 0)
			put_look(i, us, sleeps ? 2900 : us - at, 0, 1, sleeps);
		own_look_of(i, at + 6000, 3000);
	}
	t = end(NULL);
	assert_in_range(told(t, NULL, STATE_OTHER), 60 * 2950, 60 * 3000);
	assert_int_equal(told(t, "work", STATE_OTHER), 0);
	assert_int_equal(t->off_cpu.unplaced_ns, 0);
}

/* Calls of 7,000 and 3,000, off for 8,000, and nobody looked: 5,000 and 1,000 have no other place, 2,000 may be in either. */
static void test_nobody_looked(void **state)
{
	_cleanup_(trace_freep) struct trace *t = NULL;

	(void)state;
	begin();
	own_look(0, 0);
	call(1, 0, 7000);
	call(2, 7000, 10000);
	own_look(10000, 2000);
	t = end(NULL);
	assert_in_range(told(t, "work", STATE_OTHER), 4990, 5000);
	assert_in_range(told(t, "hold", STATE_OTHER), 990, 1000);
	assert_in_range(t->off_cpu.unplaced_ns, 2000000, 2020000);
}

/* No look at a thread of 9,000 that ran for 3,000 and never left its CPU to wait: it was in the run queue for the rest. */
static void test_never_slept(void **state)
{
	(void)state;
	for (uint64_t left = 0; left < 2; left++) {
		_cleanup_(trace_freep) struct trace *t = NULL;

		begin();
		whole_look(0, 0, 4);
		call(1, 0, 9000);
		whole_look(9000, 3000, 4 + left);
		t = end(NULL);
		assert_in_range(told(t, "work", STATE_RUNNABLE), left ? 0 : 5950, left ? 0 : 6000);
		assert_in_range(told(t, "work", STATE_OTHER), left ? 5950 : 0, left ? 6000 : 0);
		assert_in_range(told(t, "work", STATE_RUNNING), 3000, 3050);
	}
}

/* The same, and at 5,000 somebody found it ready to run, having had 2,000 and waited for 2,500, as far as the kernel said. */
static void test_never_slept_seen(void **state)
{
	_cleanup_(trace_freep) struct trace *t = NULL;

	(void)state;
	begin();
	whole_look(0, 0, 0);
	call(1, 0, 9000);
	look(5000, 2000, 2500, 3, false);
	whole_look(9000, 3000, 0);
	t = end(NULL);
	assert_in_range(told(t, "work", STATE_RUNNABLE), 5400, 6000);
	assert_int_equal(told(t, "work", STATE_OTHER), 0);
}

/* The kernel's side has these times: none is reported twice. */
static void test_kernel_knows(void **state)
{
	static const struct reader_options options = { .kernel_knows = true };
	_cleanup_(trace_freep) struct trace *t = NULL;

	(void)state;
	begin();
	own_look(0, 0);
	call(2, 0, 20000);
	own_look(20000, 2000);
	t = end(&options);
	assert_int_equal(told(t, NULL, STATE_RUNNING), 20000);
}

/* Accounts that make no sense (going back, enormous, of nobody) change nothing. */
static void test_damaged(void **state)
{
	_cleanup_(trace_freep) struct trace *t = NULL;

	(void)state;
	begin();
	call(1, 0, 20000);
	look(5000, 4000, 0, 9, true);
	look(6000, UINT64_MAX / 1000, 0, 9, true);
	look(7000, 1000, 0, 1, true);
	look(UINT64_MAX / 1000, 4000, 0, 9, true);
	for (int i = 0; i < 6; i++)
		put(&accounts, UINT64_MAX);
	t = end(NULL);
	assert_int_equal(told(t, NULL, STATE_RUNNING) + told(t, NULL, STATE_OTHER), 20000);
}

static void second_call(uint64_t fid, uint64_t start_us, uint64_t end_us)
{
	put_rec(&(struct rec){ 2, EVENT_NONE, { fid, start_us * 1000, end_us * 1000 } });
}

static void away(int stack, uint64_t start_us, uint64_t end_us, uint64_t back_on)
{
	put_rec(&(struct rec){ stack, EVENT_WAIT, { start_us * 1000, end_us * 1000, WAIT_QUEUE, back_on, 0, 0 } });
}

/* Thread 1's own stack is in work, a second one in hold, in turns of 10,000; in each turn of hold it sleeps 8,000. */
static struct trace *take_turns(uint64_t back_on)
{
	begin();
	second_stack = 2;
	call(1, 0, 80000);
	own_look(0, 0);
	second_call(2, 10000, 80000);
	for (uint64_t us = 10000; us < 70000; us += 20000) {
		away(1, us, us + 10000, 11);
		away(2, us + 10000, us + 20000, back_on);
		for (uint64_t at = 2000; at <= 8000; at += 2000)
			look(us + at, us / 20000 * 12000 + 11000, 0, us, true);
	}
	second_call(1, 79000, 79500);
	own_look(80000, 56000);
	second_stack = -1;
	return end(NULL);
}

/* The thread's account is that of the stack that was on. */
static void test_two_stacks(void **state)
{
	_cleanup_(trace_freep) struct trace *t = NULL, *moved = NULL;

	(void)state;
	t = take_turns(11);
	assert_in_range(told(t, "hold", STATE_OTHER), 20000, 24000);
	assert_int_equal(told(t, "work", STATE_OTHER), 0);
	moved = take_turns(12);			/* is back on another thread: whose time it was is not known */
	assert_int_equal(told(moved, NULL, STATE_OTHER), 0);
	assert_int_equal(moved->off_cpu.unplaced_ns, 24000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slept_through),
		cmocka_unit_test(test_two_functions),
		cmocka_unit_test(test_many_between_looks),
		cmocka_unit_test(test_computes),
		cmocka_unit_test(test_known_waits), cmocka_unit_test(test_never_slept), cmocka_unit_test(test_never_slept_seen),
		cmocka_unit_test(test_run_queue),
		cmocka_unit_test(test_short_thread),
		cmocka_unit_test(test_many_short_threads),
		cmocka_unit_test(test_nobody_looked),
		cmocka_unit_test(test_queued_since_earlier),
		cmocka_unit_test(test_queued_to_the_end),
		cmocka_unit_test(test_looked_at_late),
		cmocka_unit_test(test_hardly_looked_at),
		cmocka_unit_test(test_kernel_knows),
		cmocka_unit_test(test_two_stacks),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
