/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_record_progress.c - what the progress line of a recording says: by hand, and of random latencies against all of them, sorted. */
#include <stdlib.h>
#include "tests/unit/cmocka_all.h"
#include "base/cleanup.h"
#include "project/record/record_progress.h"

static struct record_progress p;

static void event(uint64_t serial, enum trace_event kind, uint64_t ticks, uint64_t label, uint64_t key)
{
	const uint64_t words[] = { label, key, 0 };

	p.watch.take(p.watch.arg, serial, kind, ticks, words);
}

static void assert_text(int64_t now_ns, double ns_per_tick, const char *expected)
{
	_cleanup_(freep) char *text = record_progress_text(&p, now_ns, ns_per_tick);

	assert_string_equal(text, expected);
}

static void test_by_hand(void **state)
{
	(void)state;
	record_progress_init(&p, 5000000000);
	assert_true(p.watch.only_watches && p.watch.turn);
	assert_text(17000000000, 1, "recording 12 s");
	event(1, EVENT_BEGIN, 100, 1, 7);
	event(1, EVENT_BEGIN, 110, 1, 7);	/* inside itself */
	event(1, EVENT_END, 120, 1, 7);
	assert_text(17000000000, 1, "recording 12 s");
	event(2, EVENT_END, 100 + (9 << 20), 1, 7);	/* on another thread */
	assert_text(17000000000, 0, "recording 12 s, 1 interval");
	assert_text(17000000000, 1, "recording 12 s, 1 interval, p99 9.44 ms");
	event(1, EVENT_BEGIN, 200, 1, 8);
	event(1, EVENT_DROP, 210, 1, 8);
	event(1, EVENT_BEGIN, 300, 1, UINT64_MAX);	/* of its thread */
	event(2, EVENT_BEGIN, 400, 1, UINT64_MAX);
	event(1, EVENT_END, 310, 1, UINT64_MAX);
	event(2, EVENT_END, 410, 1, UINT64_MAX);
	assert_int_equal(p.timed_cnt, 3);
	event(3, EVENT_END, 500, 2, 9);		/* began before, or is no longer in the table */
	assert_text(17000000000, 1, "recording 12 s, 4 intervals, p99 9.44 ms");
	for (uint64_t i = 0; i < 4096; i++) {
		event(1, EVENT_BEGIN, 1000 + i, 3, i);
		event(1, EVENT_END, 1000 + i, 3, i);
	}
	assert_text(17000000000, 1, "recording 12 s, 4,100 intervals, p99 0 ns");
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void test_random(void **state)
{
	enum { CNT = 3000 };
	static uint64_t all[CNT];

	(void)state;
	for (unsigned seed = 1; seed <= 50; seed++) {
		uint64_t exact, told, now = 1;

		srand(seed);
		record_progress_init(&p, 0);
		for (size_t i = 0; i < CNT; i++) {
			all[i] = (uint64_t)rand() >> rand() % 31;
			event(1, EVENT_BEGIN, now, 1, i);
			event(1, EVENT_END, now += all[i], 1, i);
		}
		qsort(all, CNT, sizeof(*all), compare);
		exact = all[(CNT * 99 + 99) / 100 - 1];
		told = record_progress_p99(&p);
		assert_int_equal(p.ended_cnt, CNT);
		assert_int_equal(p.timed_cnt, CNT);
		assert_true(told <= exact && exact <= told + told / 16);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_by_hand), cmocka_unit_test(test_random) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
