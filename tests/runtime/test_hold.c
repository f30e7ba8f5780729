/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_hold.c - home-made locks: which thread learns that another one waits, and what is logged.
 *
 * runtime/waits/hold.c is part of this file; the table of releasers is a few variables, and so is the time.
 */
#include <stdint.h>
#include "runtime/shared/clock.h"
static uint64_t now;
#define clock_ticks() (now)
#include "runtime/waits/hold.c"
#include "tests/unit/cmocka_all.h"

enum { LOCK = 77, SEMAPHORE = 88, OWN_SERIAL = 1, THREAD = 3, LONG = 2 * HOLD_TICKS_MIN };

static uint32_t places[1024];
struct process process = { .places = places };
__thread struct vprof_self vprof_self __attribute__((tls_model("initial-exec")));
__thread struct thread thread_self __attribute__((tls_model("initial-exec"))) = { .serial = OWN_SERIAL };

uint32_t causal_on;

void causal_took(uint64_t object)
{
	(void)object;
}

static int told[100], taken[100];		/* by object */
static struct { uint64_t object, serial, ticks; } stamp;
static uint32_t stamp_cnt;
static uint64_t logged[8][5];			/* start, end, object, waker, woken */
static unsigned int logged_cnt;

struct awaited releasers_expect(uint64_t object)
{
	told[object]++;
	return (struct awaited){ object, object, 1 };
}

void releasers_took_awaited(uint64_t object)
{
	taken[object]++;
}

void releasers_forget(const struct awaited *a)
{
	told[a->object]--;
}

uint32_t releasers_written(uint64_t name)
{
	return stamp.object == name ? stamp_cnt : 0;
}

bool releasers_find(uint64_t object, uint64_t start, uint64_t end, uint64_t *ret_serial, uint64_t *ret_ticks)
{
	*ret_serial = stamp.serial;
	*ret_ticks = stamp.ticks;
	return stamp.object == object && stamp.ticks > start && stamp.ticks <= end;
}

void thread_log(enum trace_event kind, uint64_t ticks, const uint64_t *words)
{
	uint64_t *to = logged[logged_cnt++];

	assert_int_equal(kind, EVENT_WAIT);
	to[0] = ticks;
	to[1] = words[0];
	to[2] = words[2];
	to[3] = words[3];
	to[4] = words[4];
}

static void leave_stamp(uint64_t object, uint64_t serial)
{
	assert_int_not_equal(told[object], 0);		/* else a releaser leaves none */
	stamp.object = object;
	stamp.serial = serial;
	stamp.ticks = now;
	stamp_cnt++;
}

static int set_up(void **state)
{
	(void)state;
	now = 1000;
	stamp_cnt = logged_cnt = 0;
	stamp.object = 0;
	assert_int_equal(thread_self.hold_cnt, 0);
	return 0;
}

static void assert_logged(unsigned int at, uint64_t start, uint64_t object, uint64_t waker, uint64_t woken)
{
	assert_true(at < logged_cnt);
	assert_int_equal(logged[at][0], start);
	assert_int_equal(logged[at][2], object);
	assert_int_equal(logged[at][3], waker);
	assert_int_equal(logged[at][4], woken);
}

/* No thread hears of a free lock whose function never spins; of another one all do. */
static void test_free_lock(void **state)
{
	(void)state;
	hold_begin(LOCK, true);
	assert_int_equal(told[LOCK], 0);
	now += LONG;					/* it computed */
	hold_end(LOCK, WAIT_LOCK);
	hold_begin(LOCK, false);
	assert_int_equal(told[LOCK], 1);
	now += HOLD_TICKS_MIN - 1;
	hold_end(LOCK, WAIT_LOCK);
	assert_int_equal(told[LOCK], 0);
	assert_int_equal(logged_cnt, 0);
	assert_int_equal(thread_self.hold_cnt, 0);
}

/* From where it says so until it is left it waits. */
static void test_wait(void **state)
{
	(void)state;
	hold_begin(LOCK, true);
	now += 10;
	holds_wait();
	holds_wait();					/* in vain, and once more */
	assert_int_equal(told[LOCK], 1);
	now += LONG;
	leave_stamp(LOCK, THREAD);
	now += 10;
	hold_end(LOCK, WAIT_LOCK);
	assert_int_equal(logged_cnt, 1);
	assert_logged(0, 1010, LOCK, waker_serial(THREAD), 1010 + LONG);
	assert_int_equal(logged[0][1], 1020 + LONG);
	assert_int_equal(told[LOCK], 0);
}

/* The thread that let it go did not know; the one that posted the semaphore inside is the waker, if it cannot have been another one. */
static void test_inner_waker(void **state)
{
	(void)state;
	for (int never_spins = 0; never_spins < 2; never_spins++) {
		set_up(state);
		hold_begin(LOCK, never_spins);
		hold_begin(SEMAPHORE, false);
		assert_int_equal(told[LOCK], 1);
		assert_int_equal(told[SEMAPHORE], 1);
		now += LONG;
		leave_stamp(SEMAPHORE, THREAD);
		now += 10;
		hold_end(SEMAPHORE, WAIT_LOCK);
		hold_end(LOCK, WAIT_LOCK);
		assert_int_equal(logged_cnt, 2);
		assert_logged(0, 1000, SEMAPHORE, waker_serial(THREAD), 1000 + LONG);
		assert_logged(1, 1000, LOCK, never_spins ? waker_serial(THREAD) : 0, never_spins ? 1000 + LONG : 0);
	}
}

/* The wait that it ended with had no waker that is known. */
static void test_last_waker(void **state)
{
	(void)state;
	hold_begin(LOCK, true);
	holds_wait();
	now += LONG;
	holds_woken(waker_serial(THREAD), now);
	holds_woken(0, 0);
	hold_end(LOCK, WAIT_LOCK);
	assert_logged(0, 1000, LOCK, 0, 0);
}

/* A lock that another thread waits for was taken at once, or without ACQUIRE: that is logged.  Other objects are not logged. */
static void test_taken(void **state)
{
	(void)state;
	*releasers_place(LOCK) = 1;
	hold_begin(LOCK, true);
	hold_end(LOCK, WAIT_LOCK);
	assert_int_equal(taken[LOCK], 1);
	hold_end(LOCK, WAIT_LOCK);
	assert_int_equal(taken[LOCK], 2);
	hold_end(LOCK, WAIT_COND);
	assert_int_equal(taken[LOCK], 2);
	*releasers_place(LOCK) = 0;
	hold_end(LOCK, WAIT_LOCK);
	assert_int_equal(taken[LOCK], 2);
	assert_int_equal(logged_cnt, 0);
}

/* Left behind by longjmp(), announced or not, and more than there is room for. */
static void test_left(void **state)
{
	(void)state;
	for (int never_spins = 0; never_spins < 2; never_spins++) {
		hold_begin(LOCK, never_spins);
		for (int i = 0; i < THREAD_HOLDS - 1; i++)
			hold_begin(SEMAPHORE, i % 2);
		hold_end(LOCK, WAIT_LOCK);
		assert_int_equal(thread_self.hold_cnt, 0);
		for (int i = 0; i < THREAD_HOLDS + 3; i++)
			hold_begin(i, never_spins);
		hold_end(1, WAIT_LOCK);			/* forgotten */
		assert_int_equal(thread_self.hold_cnt, THREAD_HOLDS);
		hold_end(3, WAIT_LOCK);
		assert_int_equal(thread_self.hold_cnt, 0);
	}
	for (int i = 0; i < 100; i++)
		assert_int_equal(told[i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_free_lock, set_up),
		cmocka_unit_test_setup(test_wait, set_up),
		cmocka_unit_test_setup(test_inner_waker, set_up),
		cmocka_unit_test_setup(test_last_waker, set_up),
		cmocka_unit_test_setup(test_taken, set_up),
		cmocka_unit_test_setup(test_left, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
