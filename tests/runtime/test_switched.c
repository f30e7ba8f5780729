/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_switched.c - a thread that slept is never said to have stayed on its CPU; one that computed mostly is.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/param.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "runtime/shared/switched.h"
#include "tests/unit/cmocka_all.h"

enum {
	TRIES = 1000,
	LONGEST_SLEEP_NS = 10000000,
};

/* Times that this thread gave its CPU up, by the kernel's account. */
static long switches(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
	return usage.ru_nvcsw;
}

/* A sleep of a microsecond may be over before it began (switched.c). */
static void test_slept(void **state)
{
	struct timespec moment = { 0, 1000 };
	int slept = 0;

	(void)state;
	if (!switched_is_told())
		skip();
	while (slept < 100) {
		long before = switches();
		bool stayed;

		switched_mark();
		nanosleep(&moment, NULL);
		stayed = switched_was_not();
		if (switches() == before) {
			moment.tv_nsec = MIN(2 * moment.tv_nsec, LONGEST_SLEEP_NS);
			continue;
		}
		assert_false(stayed);
		slept++;
	}
}

/* If no short sleep gives up the CPU, a longer one shows whether the kernel reports switches. */
static void test_told_anyhow(void **state)
{
	bool told = switched_is_told();
	int slack_ns = prctl(PR_GET_TIMERSLACK);

	(void)state;
	assert_return_code(prctl(PR_SET_TIMERSLACK, 1), errno);
	for (int i = 0; i < 100; i++)
		assert_int_equal(switched_is_told(), told);
	assert_return_code(prctl(PR_SET_TIMERSLACK, slack_ns), errno);
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

/* A signal handler's call leaves no mark. */
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
		cmocka_unit_test(test_told_anyhow),
		cmocka_unit_test(test_stayed),
		cmocka_unit_test(test_marked_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
