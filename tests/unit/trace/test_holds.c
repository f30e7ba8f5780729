/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_holds.c - which thread a wait for a lock waited for: traces written record by record, read back as tuples worked out by hand.
 */
#include "tests/unit/raw_trace.h"
#include "tests/unit/tuples_check.h"

/* T3 lets go at 38, T2 takes it at 41: from 38 to 41 the lock is free.  T2's time before 41 explains nothing. */
static void test_taken_later(void **state)
{
	(void)state;
	assert_tuples(READ({ 1, EVENT_WAIT, { 30, 50, WAIT_LOCK, 99, waker_serial(2), 45 } },
			   { 3, EVENT_UNLOCK, { 38, 99 } },
			   { 2, EVENT_TAKEN, { 41, 99 } },
			   { 2, EVENT_UNLOCK, { 45, 99 } }),
		"vprof-tuples 1\n"
		"segment 11 - 30 41 lock\n"
		"segment 11 - 41 50 lock\n"
		"segment 12 - 41 45 running\n"
		"wakeup 11 13 38\n"
		"wakeup 11 12 45\n");
}

/* T2 had waited for it since 35 and got it at 41: all after 38 is T2's, its wake-up among it. */
static void test_taken_after_wait(void **state)
{
	(void)state;
	assert_tuples(READ({ 1, EVENT_WAIT, { 30, 50, WAIT_LOCK, 99, waker_serial(2), 45 } },
			   { 3, EVENT_UNLOCK, { 38, 99 } },
			   { 2, EVENT_WAIT, { 35, 41, WAIT_LOCK, 99, waker_serial(3), 38 } },
			   { 2, EVENT_UNLOCK, { 45, 99 } }),
		"vprof-tuples 1\n"
		"segment 11 - 30 38 lock\n"
		"segment 11 - 38 50 lock\n"
		"segment 12 - 35 41 lock\n"
		"segment 12 - 41 45 running\n"
		"wakeup 11 13 38\n"
		"wakeup 11 12 45\n"
		"wakeup 12 13 38\n");
}

/* Two readers: T2 holds it from 33 to 36, T3 from before to 40, which is charged all the time until then; T2 comes again at 44. */
static void test_taken_by_several(void **state)
{
	(void)state;
	assert_tuples(READ({ 1, EVENT_WAIT, { 30, 50, WAIT_LOCK, 99, waker_serial(2), 47 } },
			   { 2, EVENT_TAKEN, { 33, 99 } },
			   { 2, EVENT_UNLOCK, { 36, 99 } },
			   { 3, EVENT_UNLOCK, { 40, 99 } },
			   { 2, EVENT_TAKEN, { 44, 99 } },
			   { 2, EVENT_UNLOCK, { 47, 99 } }),
		"vprof-tuples 1\n"
		"segment 11 - 30 44 lock\n"
		"segment 11 - 44 50 lock\n"
		"segment 12 - 33 47 running\n"
		"wakeup 11 13 40\n"
		"wakeup 11 12 47\n");
}

/* Posts of a queue's semaphore divide nothing; those of the thread that took it do. */
static void test_posts(void **state)
{
	(void)state;
	assert_tuples(READ({ 1, EVENT_WAIT, { 30, 50, WAIT_LOCK, 99, waker_serial(2), 45 } },
			   { 3, EVENT_POST, { 38, 99 } },
			   { 2, EVENT_POST, { 45, 99 } }),
		"vprof-tuples 1\n"
		"segment 11 - 30 50 lock\n"
		"wakeup 11 12 45\n");
	assert_tuples(READ({ 1, EVENT_WAIT, { 30, 50, WAIT_LOCK, 99, waker_serial(2), 45 } },
			   { 3, EVENT_POST, { 38, 99 } },
			   { 2, EVENT_TAKEN, { 40, 99 } },
			   { 2, EVENT_POST, { 45, 99 } }),
		"vprof-tuples 1\n"
		"segment 11 - 30 40 lock\n"
		"segment 11 - 40 50 lock\n"
		"segment 12 - 40 45 running\n"
		"wakeup 11 13 38\n"
		"wakeup 11 12 45\n");
}

/* A lock of the program's own: a taking that is announced bounds its holder as any other lock's, with a wait before it or without. */
static void test_own_lock(void **state)
{
	(void)state;
	assert_tuples(READ({ 1, EVENT_WAIT, { 30, 50, WAIT_LOCK, 99, waker_serial(2), 45 } },
			   { 3, EVENT_RELEASE, { 38, 99 } },
			   { 2, EVENT_TAKEN, { 41, 99 } },
			   { 2, EVENT_RELEASE, { 45, 99 } }),
		"vprof-tuples 1\n"
		"segment 11 - 30 41 lock\n"
		"segment 11 - 41 50 lock\n"
		"segment 12 - 41 45 running\n"
		"wakeup 11 13 38\n"
		"wakeup 11 12 45\n");
	assert_tuples(READ({ 1, EVENT_WAIT, { 30, 50, WAIT_LOCK, 99, waker_serial(2), 45 } },
			   { 3, EVENT_RELEASE, { 38, 99 } },
			   { 2, EVENT_WAIT, { 40, 43, WAIT_LOCK, 99, 0, 0 } },
			   { 2, EVENT_RELEASE, { 45, 99 } }),
		"vprof-tuples 1\n"
		"segment 11 - 30 40 lock\n"
		"segment 11 - 40 50 lock\n"
		"segment 12 - 40 43 lock\n"
		"segment 12 - 43 45 running\n"
		"wakeup 11 13 38\n"
		"wakeup 11 12 45\n");
}

/* T2 lets it go at 38, 45 and 55, and takes it by a function that nobody listed: it is known to hold it up to 38, and just
 * before it lets go later; what it does from 38 to 44 and from 45 to 54 explains nothing. */
static void test_own_lock_unlisted(void **state)
{
	(void)state;
	assert_tuples(READ({ 1, EVENT_WAIT, { 30, 60, WAIT_LOCK, 99, waker_serial(2), 55 } },
			   { 2, EVENT_RELEASE, { 38, 99 } },
			   { 2, EVENT_RELEASE, { 45, 99 } },
			   { 2, EVENT_RELEASE, { 55, 99 } }),
		"vprof-tuples 1\n"
		"segment 11 - 30 38 lock\n"
		"segment 11 - 38 44 lock\n"
		"segment 11 - 44 45 lock\n"
		"segment 11 - 45 54 lock\n"
		"segment 11 - 54 60 lock\n"
		"segment 12 - 38 55 running\n"
		"wakeup 11 12 38\n"
		"wakeup 11 12 45\n"
		"wakeup 11 12 55\n");
}

/* T2 takes its own lock once more at 32 while it has it: it holds it all the time. */
static void test_own_lock_nested(void **state)
{
	(void)state;
	assert_tuples(READ({ 1, EVENT_WAIT, { 30, 50, WAIT_LOCK, 99, waker_serial(2), 45 } },
			   { 2, EVENT_TAKEN, { 32, 99 } },
			   { 2, EVENT_RELEASE, { 34, 99 } },
			   { 2, EVENT_RELEASE, { 45, 99 } }),
		"vprof-tuples 1\n"
		"segment 11 - 30 50 lock\n"
		"segment 12 - 32 45 running\n"
		"wakeup 11 12 45\n");
}

/* The number of the blocking function's caller stands above the class, and goes to all parts of the wait; an unknown number is none. */
static void test_caller(void **state)
{
	struct trace *t = READ({ 1, EVENT_WAIT, { 30, 50, wait_word(WAIT_LOCK, 8192), 99, waker_serial(2), 45 } },
			       { 3, EVENT_RELEASE, { 38, 99 } },
			       { 2, EVENT_RELEASE, { 45, 99 } },
			       { 1, EVENT_WAIT, { 60, 70, wait_word(WAIT_IO, 8193), 0, 0, 0 } });
	unsigned locks = 0, reads = 0;

	(void)state;
	for (size_t i = 0; i < t->segments.cnt; i++) {
		const struct segment *s = &t->segments.items[i];

		locks += s->state == STATE_LOCK;
		reads += s->state == STATE_IO;
		assert_int_equal(s->caller, s->state == STATE_LOCK ? 8192 : 0);
	}
	assert_true(locks > 1 && reads == 1);
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken_later), cmocka_unit_test(test_caller),
		cmocka_unit_test(test_taken_after_wait),
		cmocka_unit_test(test_taken_by_several), cmocka_unit_test(test_posts),
		cmocka_unit_test(test_own_lock), cmocka_unit_test(test_own_lock_unlisted),
		cmocka_unit_test(test_own_lock_nested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
