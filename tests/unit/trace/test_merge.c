/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_merge.c - several traces as one: the new names and numbers, and that it makes no difference to an analysis whether
 * the parts are merged as a whole or window by window.
 */
#include "tests/unit/cmocka_all.h"

#include "analysis/analyze.h"
#include "tests/oracle/random_trace.h"
#include "tests/unit/same_findings.h"
#include "trace/merge/merge.h"
#include "trace/merge/merge_numbers.h"
#include "trace/windows/slices.h"
#include "base/banned.h"

enum { MERGES = 600, PARTS_MAX = 4 };

/* 1, 2 and 2, 3 and 3, 2: the first free number is 4. */
static void test_numbers(void **state)
{
	struct merge_numbers *n = merge_numbers_new(3);

	(void)state;
	merge_numbers_see(n, 0, 2);
	merge_numbers_see(n, 0, 1);
	merge_numbers_see(n, 1, 3);
	merge_numbers_see(n, 1, 2);
	merge_numbers_see(n, 1, 2);
	merge_numbers_see(n, 2, 90);
	merge_numbers_forget(n, 2);
	merge_numbers_see(n, 2, 3);
	merge_numbers_see(n, 2, 2);
	merge_numbers_settle(n);
	assert_int_equal(merge_numbers_of(n, 0, 1), 1);
	assert_int_equal(merge_numbers_of(n, 0, 2), 2);
	assert_int_equal(merge_numbers_of(n, 1, 2), 4);
	assert_int_equal(merge_numbers_of(n, 1, 3), 3);
	assert_int_equal(merge_numbers_of(n, 2, 2), 5);
	assert_int_equal(merge_numbers_of(n, 2, 3), 6);
	assert_int_equal(merge_numbers_of(n, 2, 77), 77);
	merge_numbers_free(n);
}

/* Starts and ends of one name add up; the examples stay those of one part, for they may be about one thread. */
static void test_pairings(void **state)
{
	const struct pairing first = { .starts = 5, .nested = 1, .unended = 2, .aborted = 1, .start = { true, 7, 1 } };
	const struct pairing second = { .starts = 50, .nested = 20, .unended = 3, .unmatched_ends = 4,
					.start = { true, 8, 2 }, .end = { true, 9, 2 }, .inner = { true, 10, 2 } };
	struct trace *parts[2] = { trace_new(), trace_new() }, *whole;
	const struct pairing *c;

	(void)state;
	trace_add_string(parts[0], &parts[0]->interval_names, "request");
	VEC_ADD(&parts[0]->pairings, first);
	trace_add_string(parts[1], &parts[1]->interval_names, "query");
	trace_add_string(parts[1], &parts[1]->interval_names, "request");
	VEC_ADD(&parts[1]->pairings, (struct pairing){ .starts = 3 });
	VEC_ADD(&parts[1]->pairings, second);
	whole = traces_merge(parts, 2);
	c = trace_pairing(whole, trace_add_string(whole, &whole->interval_names, "request"));
	assert_non_null(c);
	assert_true(c->starts == 55 && c->nested == 21 && c->unended == 5 && c->unmatched_ends == 4 && c->aborted == 1);
	assert_true(c->start.key == 8 && c->end.key == 9 && c->start.tid == c->end.tid && c->inner.key == 10);
	c = trace_pairing(whole, trace_add_string(whole, &whole->interval_names, "query"));
	assert_true(c && c->starts == 3);
	trace_free(whole);
	trace_free(parts[0]);
	trace_free(parts[1]);
}

/* A wake-up by nobody known stays one; thread 1 of the second part gets another number. */
static void test_nobody(void **state)
{
	struct trace *parts[2] = { trace_new(), trace_new() }, *whole;

	(void)state;
	for (int i = 0; i < 2; i++) {
		VEC_ADD(&parts[i]->segments, (struct segment){ 1, SID_NONE, 0, 50, STATE_IO, 0 });
		VEC_ADD(&parts[i]->wakeups, (struct wakeup){ 1, TID_NOBODY, 40 });
	}
	whole = traces_merge(parts, 2);
	assert_int_equal(whole->wakeups.cnt, 2);
	assert_true(whole->wakeups.items[0].tid == 1 && whole->wakeups.items[1].tid == 2);
	assert_true(whole->wakeups.items[0].waker_tid == TID_NOBODY && whole->wakeups.items[1].waker_tid == TID_NOBODY);
	trace_free(whole);
	trace_free(parts[0]);
	trace_free(parts[1]);
}

/* 2^124 and no more: two parts may fit each, and both together not. */
static void test_sums(void **state)
{
	struct trace_merger *m = trace_merger_new(2);
	_cleanup_(trace_freep) struct trace *t = trace_new();

	(void)state;
	trace_add_string(t, &t->interval_names, "request");
	VEC_ADD(&t->intervals, (struct interval){ .sid = 1, .status = INTERVAL_COMPLETED, .start_tid = 1, .end_tid = 1,
						  .end_ns = (int64_t)1 << 61 });
	for (uint64_t i = 0; i < 3; i++)
		VEC_ADD(&t->intervals, (struct interval){ .sid = i + 2, .status = INTERVAL_COMPLETED, .end_ns = 1 });
	trace_merger_look(m, 0, t);
	assert_true(trace_merger_sums_fit(m));
	trace_merger_look(m, 1, t);
	assert_false(trace_merger_sums_fit(m));
	trace_merger_forget(m, 1);
	assert_true(trace_merger_sums_fit(m));
	trace_merger_free(m);
}

/* Interval names and functions that parts have in common, in another order, and others. */
static struct trace *random_part(unsigned int seed, struct random *r)
{
	struct trace *t = random_trace(seed, seed % 2 ? RANDOM_PROGRAM : RANDOM_ANY);

	for (size_t i = 0; i < t->functions.cnt; i++)
		t->functions.items[i].key = 100 + i;
	if (t->functions.cnt > 1 && random_below(r, 2)) {
		const char *name = t->functions.items[0].name;

		t->functions.items[0].name = t->functions.items[1].name;
		t->functions.items[1].name = name;
	}
	if (random_below(r, 3) == 0)
		trace_add_string(t, &t->work_names, "another");
	trace_sort(t);
	trace_find_idle(t);
	return t;
}

static size_t add(struct analyzer *a, struct trace_merger *m, size_t part, const struct trace *t)
{
	_cleanup_(trace_slices_freep) struct trace_slices *s = trace_slices_new(t);
	const struct trace_window *w;
	size_t cnt = 0;

	while ((w = trace_slices_next(s))) {
		struct trace *own = trace_new();

		trace_merger_add(m, part, w->t, own);
		trace_sort(own);
		trace_borrow_names(own, trace_merger_trace(m));
		trace_copy_devices(own, trace_merger_trace(m));
		analyzer_add(a, &(struct analysis_window){ own, w->before_ns, w->until_ns });
		trace_return_names(own);
		trace_free(own);
		cnt++;
	}
	return cnt;
}

static void same_intervals(const struct findings *a, const struct findings *b)
{
	assert_int_equal(a->intervals.cnt, b->intervals.cnt);
	for (size_t i = 0; i < a->intervals.cnt; i++) {
		assert_int_equal(a->intervals.items[i].sid, b->intervals.items[i].sid);
		assert_int_equal(a->intervals.items[i].start_tid, b->intervals.items[i].start_tid);
		assert_int_equal(a->intervals.items[i].end_tid, b->intervals.items[i].end_tid);
		assert_true(!i || a->intervals.items[i].start_ns != a->intervals.items[i - 1].start_ns ||
			    a->intervals.items[i].sid != a->intervals.items[i - 1].sid);
	}
}

static void compare(struct trace *whole, struct analyzer *a, const struct trace *names)
{
	assert_int_equal(whole->interval_names.cnt, names->interval_names.cnt);
	assert_int_equal(whole->functions.cnt, names->functions.cnt);
	assert_int_equal(whole->threads.cnt, names->threads.cnt);
	for (size_t i = 0; i < whole->interval_names.cnt; i++) {
		_cleanup_(findings_freep) struct findings *all = NULL, *cut = NULL;
		struct analyze_options o = { .interval = whole->interval_names.items[i], .quantile = .6 };

		assert_int_equal(analyze(whole, &o, &all), 0);
		assert_int_equal(analyzer_finish(a, names, &o, &cut), 0);
		all->clamped = cut->clamped = 0;	/* counted once a window */
		same_findings(all, cut);
		same_intervals(all, cut);
	}
}

static void test_windows(void **state)
{
	size_t records = trace_stream_records, window_cnt = 0;

	(void)state;
	for (unsigned int seed = 1; seed <= MERGES; seed++) {
		struct random r = { seed };
		size_t cnt = 2 + random_below(&r, PARTS_MAX - 1);
		struct trace *parts[PARTS_MAX];
		_cleanup_(trace_freep) struct trace *whole = NULL;
		_cleanup_(trace_merger_freep) struct trace_merger *m = trace_merger_new(cnt);
		_cleanup_(analyzer_freep) struct analyzer *a = analyzer_new();

		for (size_t i = 0; i < cnt; i++)
			parts[i] = random_part(seed * PARTS_MAX + (unsigned int)i, &r);
		whole = traces_merge(parts, cnt);
		trace_sort(whole);
		trace_stream_records = 1 + seed % 40;
		for (size_t i = 0; i < cnt; i++) {
			trace_merger_look(m, i, parts[i]);
			trace_merger_names(m, i, parts[i]);
		}
		trace_merger_settle(m);
		assert_true(trace_merger_sums_fit(m));
		trace_sort_events(trace_merger_trace(m));
		for (size_t i = 0; i < cnt; i++)
			window_cnt += add(a, m, i, parts[i]);
		compare(whole, a, trace_merger_trace(m));
		for (size_t i = 0; i < cnt; i++)
			trace_free(parts[i]);
	}
	trace_stream_records = records;
	assert_true(window_cnt > 5 * MERGES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_sums), cmocka_unit_test(test_pairings), cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
