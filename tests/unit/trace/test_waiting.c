/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_waiting.c - calls in order of time, whatever the order of their chunks; a moment by two multiplications is that
 * by a division.
 */
#include <stdlib.h>
#include <string.h>
#include "tests/unit/cmocka_all.h"
#include "tests/oracle/random_trace.h"
#include "trace/windows/pending_calls.h"
#include "base/banned.h"

enum { CALLS = 600, CHUNKS_MAX = 40 };

static struct raw_invocation calls[CALLS], expected[CALLS];
static size_t call_cnt;

/* A call and those in it, in order of their ends; many begin at once, and take no time. */
static void call(struct random *r, int64_t *now, int depth)
{
	int64_t start_ns = *now;

	*now += random_below(r, 3);
	for (uint32_t i = random_below(r, 3); i > 0 && depth < 5 && call_cnt < CALLS - 10; i--)
		call(r, now, depth + 1);
	*now += random_below(r, 2);
	calls[call_cnt] = (struct raw_invocation){ start_ns, *now, 0, 1, (uint32_t)call_cnt };
	call_cnt++;
}

static void make_calls(struct random *r)
{
	int64_t now = 0;

	call_cnt = 0;
	while (call_cnt < CALLS - 10)
		call(r, &now, 0);
	memcpy(expected, calls, call_cnt * sizeof(*calls));
	qsort(expected, call_cnt, sizeof(*expected), compare_raw_invocations);
}

/* Adds the chunks, mixed: 0 in order, 1 the last first, 2 anyhow; settled now and then. */
static void add_chunks(struct waiting *w, struct random *r, int mixed)
{
	size_t first[CHUNKS_MAX + 1] = { 0 }, cnt = 2 + random_below(r, CHUNKS_MAX - 2);

	for (size_t i = 0; i < cnt; i++)
		first[i] = i * call_cnt / cnt;
	first[cnt] = call_cnt;
	for (size_t i = 0; i < cnt; i++) {
		size_t k = mixed == 0 ? i : mixed == 1 ? cnt - 1 - i : i * 7 % cnt;

		if (mixed == 2 && cnt % 7 == 0)
			k = i ^ (i + 1 < cnt || i % 2 ? 1 : 0);
		waiting_add(w, calls + first[k], first[k + 1] - first[k]);
		if (random_below(r, 4) == 0)
			waiting_settle(w);
	}
	waiting_settle(w);
}

static void test_order(void **state)
{
	struct random r = { 7 };

	(void)state;
	for (int round = 0; round < 900; round++) {
		struct waiting w = { .first = 0 };

		make_calls(&r);
		add_chunks(&w, &r, round % 3);
		assert_int_equal(w.calls.cnt - w.first, call_cnt);
		for (size_t i = 0; i < call_cnt; i++)
			assert_int_equal(w.calls.items[w.first + i].order, expected[i].order);
		w.first += 5;
		waiting_forget(&w);
		assert_int_equal(w.first, 0);
		assert_int_equal(w.calls.cnt, call_cnt - 5);
		assert_int_equal(w.calls.items[0].order, expected[5].order);
		waiting_release(&w);
	}
}

/* Any two or three records out of order, in one chunk or in two: too few to be noticed otherwise. */
static void test_few(void **state)
{
	(void)state;
	for (unsigned int n = 0; n < 6 * 6 * 6 * 4; n++) {
		struct waiting w = { .first = 0 };
		size_t cnt = 2 + n % 2, split = n / 2 % 2 ? 1 : cnt;

		for (size_t i = 0; i < cnt; i++) {
			unsigned int span = n / 4 / (i == 0 ? 1 : i == 1 ? 6 : 36) % 6;

			calls[i] = (struct raw_invocation){ span / 2, span / 2 + span % 2 * 2, 0, 1, (uint32_t)i };
		}
		memcpy(expected, calls, cnt * sizeof(*calls));
		qsort(expected, cnt, sizeof(*expected), compare_raw_invocations);
		waiting_add(&w, calls, split);
		waiting_add(&w, calls + split, cnt - split);
		waiting_settle(&w);
		assert_int_equal(w.calls.cnt, cnt);
		for (size_t i = 0; i < cnt; i++)
			assert_int_equal(w.calls.items[i].order, expected[i].order);
		waiting_release(&w);
	}
}

static int64_t by_division(const struct raw_anchor *a, uint64_t ticks)
{
	__int128 ns = a[0].mono_ns + ((__int128)ticks - a[0].ticks) * (a[1].mono_ns - a[0].mono_ns) /
					    (__int128)(a[1].ticks - a[0].ticks);

	return ns < 0 ? 0 : (int64_t)ns;
}

/* Powers of two and their neighbours are where a quotient is cut. */
static void test_ruler(void **state)
{
	static const uint64_t rates[] = { 1, 2, 3, 1000, 4096, 1999999999, 2000000001, (uint64_t)1 << 31, (uint64_t)1 << 40 };
	static const uint64_t times_ns[] = { 0, 1, 2, 999999999, 1000000000, 1000000007, (uint64_t)1 << 40 };
	struct random r = { 3 };

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates) * 7; i++) {
		struct raw_anchor anchors[] = { { 5000, 7 }, { 5000 + rates[i / 7], 7 + times_ns[i % 7] } };
		struct ruler ruler = { .anchors = anchors, .cnt = 2 };
		uint64_t apart = rates[i / 7];

		for (uint64_t k = 0; k < 4000; k++) {
			uint64_t offset = k < 40 ? k : k < 80 ? apart - (k - 40) : ((uint64_t)random_below(&r, UINT32_MAX) << 9) % (apart + 9);

			assert_true(ruler_ns(&ruler, 5000 + offset) == by_division(anchors, 5000 + offset));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_ruler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
