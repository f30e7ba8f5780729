/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_by_latency.c - the order of intervals by latency is what its definition says: the slowest first, equal ones as they stand. */
#include "tests/oracle/random_trace.h"
#include "tests/unit/cmocka_all.h"

#include "analysis/findings/findings.h"
#include "base/banned.h"

static int64_t latency_ns(const struct findings *f, size_t i)
{
	return f->intervals.items[i].end_ns - f->intervals.items[i].start_ns;
}

/* Each once, and each after those that are slower, or equal and before it. */
static void check(const struct findings *f)
{
	_cleanup_(freep) size_t *order = findings_by_latency(f);
	_cleanup_(freep) bool *seen = xcalloc(f->intervals.cnt + 1, sizeof(*seen));

	for (size_t i = 0; i < f->intervals.cnt; i++) {
		assert_true(order[i] < f->intervals.cnt && !seen[order[i]]);
		seen[order[i]] = true;
		if (i == 0)
			continue;
		assert_true(latency_ns(f, order[i - 1]) >= latency_ns(f, order[i]));
		assert_true(latency_ns(f, order[i - 1]) > latency_ns(f, order[i]) || order[i - 1] < order[i]);
	}
}

static void test_order(void **state)
{
	struct random r = { 1 };

	(void)state;
	for (uint32_t turn = 0; turn < 400; turn++) {
		_cleanup_(findings_freep) struct findings *f = findings_new();
		uint32_t cnt = random_below(&r, 300), bits = turn % 63;

		for (uint32_t i = 0; i < cnt; i++) {
			uint64_t latency = ((uint64_t)random_below(&r, UINT32_MAX) << 31 | random_below(&r, UINT32_MAX)) & ((1ULL << bits) - 1);
			int64_t start_ns = random_below(&r, 1000);

			VEC_ADD(&f->intervals, (struct interval_row){ .sid = i, .start_ns = start_ns,
					.end_ns = start_ns + (int64_t)(latency >> 2) });
		}
		check(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_order) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
