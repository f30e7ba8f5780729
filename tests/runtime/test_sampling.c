/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_sampling.c - one interval in K in full: all that the scenario calls in it; the others: nothing
 * but what is recorded always.  The seed is given, so the lots are the same in every run.
 */
#include <stdlib.h>
#include <string.h>
#include "tests/runtime/record.h"
#include "tests/runtime/scenarios.h"
#include "tests/unit/cmocka_all.h"

#ifndef TARGET
#define TARGET "tests/runtime/target"
#endif

enum { LOTS = 40000, RELAYED = 3 * 100, FORKS = 40, MARKS = 200 };

static struct recorded record_sampled(const char *scenario, uint32_t full, uint32_t of)
{
	static const struct drainer_alias alias = { "query", "request" };
	const struct drainer_probe always = { 1006, PROBE_ALWAYS };	/* SITE_KEY(SITE_holder) */
	struct drainer_options o = { .default_level = PROBE_IN_INTERVALS, .plan = &always,
				     .plan_cnt = 1, .sample_full = full, .sample_of = of,
				     .sample_seed = 4711 };
	struct recorded r;

	if (!strcmp(scenario, "marks")) {
		o.aliases = &alias;
		o.alias_cnt = 1;
	}
	r = record_with(TARGET, scenario, &o);
	assert_int_equal(r.exit_status, 0);
	assert_int_equal(r.stats.lost_records, 0);
	return r;
}

static size_t count_root_only(const struct trace *t)
{
	size_t cnt = 0;

	for (size_t i = 0; i < t->intervals.cnt; i++)
		cnt += t->intervals.items[i].root_only;
	return cnt;
}

/* Calls of a function on behalf of each interval; index is the sid. The caller frees it. */
static size_t *calls_by_sid(const struct trace *t, const char *function)
{
	size_t *cnt = calloc(t->intervals.cnt + 1, sizeof(*cnt));

	for (size_t i = 0; i < t->invocations.cnt; i++) {
		const struct invocation *inv = &t->invocations.items[i];

		if (inv->sid <= t->intervals.cnt &&
		    !strcmp(t->functions.items[inv->function].name, function))
			cnt[inv->sid]++;
	}
	return cnt;
}

/* Every interval of that name has that many calls of the function if it is in full, else none. */
static void check_calls(const struct trace *t, const char *name, const char *function, size_t calls)
{
	size_t *cnt = calls_by_sid(t, function);

	for (size_t i = 0; i < t->intervals.cnt; i++) {
		const struct interval *v = &t->intervals.items[i];

		if (strcmp(t->interval_names.items[v->name], name))
			continue;
		assert_int_equal(v->status, INTERVAL_COMPLETED);
		assert_int_equal(cnt[v->sid], v->root_only ? 0 : calls);
	}
	free(cnt);
}

static double in_full(const struct trace *t, size_t first, size_t step)
{
	size_t full = 0, cnt = 0;

	for (size_t i = first; i < t->intervals.cnt; i += step, cnt++)
		full += !t->intervals.items[i].root_only;
	return (double)full / (double)cnt;
}

/* 40,000 lots of 1/4: the standard error is 0.0022; of every eighth 0.0061. */
static void test_unbiased(void **state)
{
	struct recorded r = record_sampled("lots", 1, 4);
	size_t both = 0;

	(void)state;
	assert_int_equal(r.t->intervals.cnt, LOTS);
	check_calls(r.t, "request", "leaf", 1);
	assert_in_range((long)(in_full(r.t, 0, 1) * 10000), 2500 - 4 * 22, 2500 + 4 * 22);
	for (size_t phase = 0; phase < 8; phase++)
		assert_in_range((long)(in_full(r.t, phase, 8) * 10000), 2500 - 4 * 61,
				2500 + 4 * 61);
	for (size_t i = 1; i < LOTS; i++)
		both += !r.t->intervals.items[i - 1].root_only && !r.t->intervals.items[i].root_only;
	/* Two in a row: 1/16, with a standard error of 0.0014 (overlapping pairs included). */
	assert_in_range((long)((double)both / LOTS * 10000), 625 - 4 * 14, 625 + 4 * 14);
	recorded_release(&r);
	r = record_sampled("lots", 15, 16);
	assert_in_range((long)(in_full(r.t, 0, 1) * 10000), 9375 - 4 * 12, 9375 + 4 * 12);
	recorded_release(&r);
}

static void test_all_or_none(void **state)
{
	struct recorded r = record_sampled("lots", 0, 0);

	(void)state;
	assert_int_equal(count_root_only(r.t), 0);
	assert_int_equal(count_calls(r.t, "leaf"), LOTS);
	recorded_release(&r);
	r = record_sampled("lots", 1, 1);
	assert_int_equal(count_root_only(r.t), 0);
	recorded_release(&r);
	r = record_sampled("lots", 0, 1);
	assert_int_equal(count_root_only(r.t), LOTS);
	assert_int_equal(count_calls(r.t, "leaf"), 0);
	recorded_release(&r);
}

/* From thread to thread, each key again and again. */
static void test_relay(void **state)
{
	struct recorded r = record_sampled("relay", 1, 2);
	size_t root_only = count_root_only(r.t);

	(void)state;
	assert_int_equal(r.t->intervals.cnt, RELAYED);
	assert_in_range(root_only, RELAYED / 2 - 35, RELAYED / 2 + 35);	/* 4 x 8.7 */
	check_calls(r.t, "request", "leaf", 3);
	check_calls(r.t, "request", "inner", 1);
	assert_int_equal(count_calls(r.t, "holder"), RELAYED);	/* always */
	recorded_release(&r);
}

/* The parent's intervals, and the children's own under the same key. */
static void test_forks(void **state)
{
	struct recorded r = record_sampled("relay-forks", 1, 2);
	size_t *inner = calls_by_sid(r.t, "inner"), *leaf = calls_by_sid(r.t, "leaf");
	uint64_t parent = r.t->intervals.items[0].start_tid;
	size_t of_parent = 0;

	(void)state;
	assert_int_equal(r.t->intervals.cnt, 2 * FORKS);
	for (size_t i = 0; i < r.t->intervals.cnt; i++) {
		const struct interval *v = &r.t->intervals.items[i];
		bool own = v->start_tid != parent;

		assert_int_equal(v->status, INTERVAL_COMPLETED);
		assert_int_equal(inner[v->sid], v->root_only || own ? 0 : 1);
		assert_int_equal(leaf[v->sid], v->root_only ? 0 : own ? 1 : 2);
		of_parent += !own;
	}
	assert_int_equal(of_parent, FORKS);
	assert_in_range(count_root_only(r.t), FORKS - 18, FORKS + 18);	/* 4 x 4.5 */
	free(inner);
	free(leaf);
	recorded_release(&r);
}

/* Each name throws its own lot; what is innermost decides. */
static void test_nested(void **state)
{
	struct recorded r = record_sampled("sampled-nested", 1, 2);
	size_t different = 0;

	(void)state;
	assert_int_equal(r.t->intervals.cnt, 2 * MARKS);
	check_calls(r.t, "request", "leaf", 2);
	check_calls(r.t, "request", "inner", 0);
	check_calls(r.t, "query", "leaf", 2);
	check_calls(r.t, "query", "inner", 1);
	for (size_t i = 0; i < r.t->intervals.cnt; i += 2)
		different += r.t->intervals.items[i].root_only !=
			     r.t->intervals.items[i + 1].root_only;
	assert_in_range(different, MARKS / 2 - 29, MARKS / 2 + 29);	/* 4 x 7.1 */
	recorded_release(&r);
}

/* The reader does not know the alias here, so the intervals stay open; what counts is that nothing
 * was recorded for those that are root-only. */
static void test_marks(void **state)
{
	struct recorded r = record_sampled("marks", 1, 2);

	(void)state;
	assert_int_equal(r.t->intervals.cnt, MARKS);
	assert_int_equal(count_calls(r.t, "leaf"), MARKS - count_root_only(r.t));
	assert_in_range(count_root_only(r.t), MARKS / 2 - 29, MARKS / 2 + 29);
	recorded_release(&r);
}

/* Intervals in full that lie in an invocation of the function. */
static size_t count_inside(const struct trace *t, const char *function)
{
	size_t cnt = 0;

	for (size_t i = 0; i < t->intervals.cnt; i++) {
		const struct interval *v = &t->intervals.items[i];

		for (size_t k = 0; !v->root_only && k < t->invocations.cnt; k++) {
			const struct invocation *inv = &t->invocations.items[k];

			cnt += inv->start_ns <= v->start_ns && v->end_ns <= inv->end_ns &&
			       !strcmp(t->functions.items[inv->function].name, function);
		}
	}
	return cnt;
}

/* One in 16: the probes are dormant in between, and no call of an interval in full is missing; in a child, with threads. */
static void test_quiet(void **state)
{
	struct recorded r = record_sampled("quiet", 1, 16);

	(void)state;
	assert_int_equal(r.t->intervals.cnt, LOTS + 3 * MARKS);
	check_calls(r.t, "request", "leaf", 1);
	recorded_release(&r);
	r = record_sampled("quiet-ends", 1, 16);
	recorded_release(&r);
	r = record_sampled("relay", 1, 16);
	check_calls(r.t, "request", "leaf", 3);
	assert_int_equal(count_calls(r.t, "holder"), RELAYED);
	recorded_release(&r);
	r = record_sampled("early", 1, 16);
	check_calls(r.t, "request", "inner", 1);
	assert_int_equal(count_inside(r.t, "worker"), MARKS - count_root_only(r.t));
	recorded_release(&r);
}

/*
 * A message that begins no interval, and one that does, in turns.  The worker of an interval in full is known, which was
 * entered before it began; messages without an interval are recorded about as often as messages with one.
 */
static void test_early(void **state)
{
	struct recorded r = record_sampled("early", 1, 4);
	size_t full = MARKS - count_root_only(r.t), workers = count_calls(r.t, "worker");

	(void)state;
	assert_int_equal(r.t->intervals.cnt, MARKS);
	check_calls(r.t, "request", "inner", 1);
	assert_in_range(full, MARKS / 4 - 25, MARKS / 4 + 25);	/* 4 x 6.1 */
	assert_in_range(workers, 2 * MARKS / 4 - 35, 2 * MARKS / 4 + 35);	/* 4 x 8.7 */
	assert_int_equal(count_calls(r.t, "inner"), 2 * workers);	/* before it, and in it */
	assert_int_equal(count_inside(r.t, "worker"), full);
	recorded_release(&r);
	/* Under a key of others' the message might be part of an interval that begins elsewhere. */
	r = record_sampled("early-keys", 1, 4);
	assert_int_equal(count_calls(r.t, "worker"), 2 * MARKS);
	check_calls(r.t, "request", "inner", 1);
	recorded_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unbiased), cmocka_unit_test(test_all_or_none),
		cmocka_unit_test(test_relay), cmocka_unit_test(test_forks),
		cmocka_unit_test(test_nested), cmocka_unit_test(test_marks),
		cmocka_unit_test(test_early), cmocka_unit_test(test_quiet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
