/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_switched.c - a thread that slept is never said to have stayed on its CPU; one that computed mostly is.
 */
#include <pthread.h>
#include <time.h>
#include <unistd.h>
#include "runtime/switched.h"
#include "tests/unit/cmocka_all.h"

enum { TRIES = 1000 };

static void sleep_a_moment(void)
{
	const struct timespec moment = { 0, 1000 };

	nanosleep(&moment, NULL);
}

static void test_slept(void **state)
{
	(void)state;
	if (!switched_is_told())
		skip();
	for (int i = 0; i < 100; i++) {
		switched_mark();
		sleep_a_moment();
		assert_false(switched_was_not());
	}
}

static size_t stayed(void)
{
	size_t cnt = 0;

	for (int i = 0; i < TRIES; i++) {
		switched_mark();
		getppid();
		cnt += switched_was_not();
	}
	return cnt;
}

static void *count_stayed(void *ret)
{
	*(size_t *)ret = stayed();
	return NULL;
}

static void test_stayed(void **state)
{
	size_t wanted = switched_is_told() ? TRIES / 2 : 0, elsewhere;
	pthread_t t;

	(void)state;
	assert_in_range(stayed(), wanted, TRIES);
	assert_int_equal(pthread_create(&t, NULL, count_stayed, &elsewhere), 0);
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_in_range(elsewhere, wanted, TRIES);
}

/* What a signal handler's call leaves behind is no mark. */
static void test_marked_twice(void **state)
{
	(void)state;
	switched_mark();
	switched_mark();
	switched_was_not();
	assert_false(switched_was_not());
	assert_false(switched_was_not());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slept),
		cmocka_unit_test(test_stayed),
		cmocka_unit_test(test_marked_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
