/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_part_pairs.c - pairs of parts across the tree: which are reported, that all closes whatever is left out.
 *
 * An interval is handle, which calls parse and reply; parse calls fill, reply calls drop, and many others.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "tests/unit/plain_trace.h"
#include "base/banned.h"

enum { HANDLE, PARSE, REPLY, FILL, FIRST_OTHER, N = 400, MANY = 1500 };

static void call(struct trace *t, uint64_t sid, uint32_t function, int64_t start_ns, int64_t end_ns)
{
	VEC_ADD(&t->invocations, (struct invocation){ 0, sid, function, CALL_SITE_NONE, start_ns, end_ns,
						      (uint32_t)t->invocations.cnt });
}

/* Below reply the others one after the other. */
static int64_t add_interval(struct trace *t, uint64_t sid, int64_t at, int64_t fill_ns, const int64_t *others_ns, size_t cnt)
{
	int64_t filled = at + 5 + fill_ns, next = filled + 7, end = next;

	for (size_t i = 0; i < cnt; i++)
		end += others_ns[i];
	call(t, sid, HANDLE, at, end);
	call(t, sid, PARSE, at, filled);
	call(t, sid, FILL, at + 5, filled);
	call(t, sid, REPLY, filled, end);
	for (size_t i = 0; i < cnt; i++) {
		call(t, sid, FIRST_OTHER + (uint32_t)i, next, next + others_ns[i]);
		next += others_ns[i];
	}
	VEC_ADD(&t->intervals, (struct interval){ .sid = sid, .status = INTERVAL_COMPLETED, .start_ns = at,
						  .end_ns = end });
	VEC_ADD(&t->segments, (struct segment){ 0, sid, at, end, STATE_RUNNING, 0 });
	return end + 10;
}

/* others_ns: [interval * cnt + other]; they are drop, f0, f1, ... */
static struct findings *analyse(const int64_t *fill_ns, const int64_t *others_ns, size_t n, size_t cnt)
{
	static const char *const names[] = { "handle", "parse", "reply", "fill", "drop" };
	_cleanup_(trace_freep) struct trace *t = trace_new();
	int64_t at = 0;

	trace_add_string(t, &t->interval_names, "r");
	for (size_t i = 0; i < FIRST_OTHER + cnt; i++)
		VEC_ADD(&t->functions, (struct function){
			.name = i <= FIRST_OTHER ? names[i] : arena_printf(t->arena, "f%zu", i - FIRST_OTHER - 1),
			.probed = true });
	for (size_t i = 0; i < n; i++)
		at = add_interval(t, i + 1, at, fill_ns[i], others_ns + i * cnt, cnt);
	return plain_findings(t);
}

/* own, the pairs, and what is left are all of the variance, and of each part its share; to the last digits of the largest
 * that is added up. */
static void want_closed(const struct findings *f)
{
	_cleanup_(freep) double *shares = xcalloc(f->parts.cnt, sizeof(*shares));
	double all = 0, largest = 1;

	for (size_t i = 0; i < f->parts.cnt; i++) {
		shares[i] = f->parts.items[i].variance_share + f->parts.items[i].other_pairs / 2;
		largest = fmax(largest, fabs(f->parts.items[i].other_pairs));
	}
	for (size_t i = 0; i < f->part_pairs.cnt; i++) {
		shares[f->part_pairs.items[i].a] += f->part_pairs.items[i].share / 2;
		shares[f->part_pairs.items[i].b] += f->part_pairs.items[i].share / 2;
		largest = fmax(largest, fabs(f->part_pairs.items[i].share));
	}
	for (size_t i = 0; i < f->parts.cnt; i++) {
		assert_true(fabs(shares[i] - f->parts.items[i].share) < 1e-12 * largest);
		all += shares[i];
	}
	assert_true(fabs(all - 1) < 1e-12 * largest);
}

static const char *warning_of(const struct findings *f, const char *code)
{
	for (size_t i = 0; i < f->warnings.cnt; i++)
		if (strcmp(f->warnings.items[i].code, code) == 0)
			return f->warnings.items[i].text;
	return NULL;
}

/* fill and drop nearly offset each other: these two are the hedge, not parse and reply, which have the same variance. */
static void test_hedge(void **state)
{
	static int64_t fill_ns[N], others_ns[N][2];
	struct numbers n = { 5 };
	_cleanup_(findings_freep) struct findings *f = NULL;
	_cleanup_(freep) struct reported_pair *told = NULL;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		fill_ns[i] = 1000 + (int64_t)(9000 * numbers_uniform(&n));
		others_ns[i][0] = 11000 - fill_ns[i] + (int64_t)(200 * numbers_uniform(&n));
		others_ns[i][1] = 1000 + (int64_t)(4000 * numbers_uniform(&n));
	}
	f = analyse(fill_ns, others_ns[0], N, 2);
	want_closed(f);
	assert_non_null(warning_of(f, "hedge"));
	assert_non_null(strstr(warning_of(f, "hedge"), "fill"));
	assert_non_null(strstr(warning_of(f, "hedge"), "drop"));
	assert_int_equal(findings_pairs(f, true, .5, &told), 1);
	assert_true(told[0].across && told[0].has_ci95 && told[0].ci95[1] < 0);
	assert_string_equal(told[0].below[0], "parse");
	assert_string_equal(told[0].below[1], "reply");
	free(TAKE_PTR(told));
	assert_int_equal(findings_pairs(f, false, .5, &told), 0);
}

/* The same with a tenth of it: parse and reply are reported, for most of theirs is of others. */
static void test_hedge_of_siblings(void **state)
{
	static int64_t fill_ns[N], others_ns[N][10];
	struct numbers n = { 6 };
	_cleanup_(findings_freep) struct findings *f = NULL;
	_cleanup_(freep) struct reported_pair *told = NULL;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		fill_ns[i] = 10000 + (int64_t)(10000 * numbers_uniform(&n));
		for (size_t k = 0; k < 10; k++)
			others_ns[i][k] = 3000 - fill_ns[i] / 10 + (int64_t)(1000 * numbers_uniform(&n));
	}
	f = analyse(fill_ns, others_ns[0], N, 10);
	want_closed(f);
	assert_int_equal(findings_pairs(f, true, .01, &told), 11);
	assert_false(told[0].across);
	assert_string_equal(told[0].labels[0], "parse");
	assert_string_equal(told[0].labels[1], "reply");
	for (size_t i = 1; i < 11; i++)
		assert_true(told[i].across && strcmp(told[i].below[0], "parse") == 0);
}

/* fill and drop take long together; f0 to f3 do as well, by a cause of their own, which is reported as such. */
static void test_companions(void **state)
{
	static int64_t fill_ns[N], others_ns[N][5];
	struct numbers n = { 7 };
	_cleanup_(findings_freep) struct findings *f = NULL;
	_cleanup_(freep) struct reported_pair *told = NULL;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		int64_t common = (int64_t)(3000 * numbers_uniform(&n));

		fill_ns[i] = 1000 + (int64_t)(7000 * numbers_uniform(&n));
		others_ns[i][0] = fill_ns[i] + (int64_t)(1000 * numbers_uniform(&n));
		for (size_t k = 1; k < 5; k++)
			others_ns[i][k] = 1000 + common;
	}
	f = analyse(fill_ns, others_ns[0], N, 5);
	want_closed(f);
	assert_int_equal(f->common_causes.cnt, 1);
	assert_int_equal(f->common_causes.items[0].members.cnt, 4);
	assert_int_equal(findings_pairs(f, false, .05, &told), 1);
	assert_true(told[0].across && told[0].share > .2);
}

static size_t other_at(const char *label)
{
	return strcmp(label, "drop") == 0 ? 0 : 1 + strtoul(label + 1, NULL, 10);
}

/* n^2 Cov of two of the others. */
static __int128 covariance_of(const int64_t *others_ns, size_t n, size_t cnt, size_t a, size_t b)
{
	__int128 x = 0, y = 0, xy = 0;

	for (size_t i = 0; i < n; i++) {
		x += others_ns[i * cnt + a];
		y += others_ns[i * cnt + b];
		xy += (__int128)others_ns[i * cnt + a] * others_ns[i * cnt + b];
	}
	return (__int128)n * xy - x * y;
}

/* More parts than are looked at, and more pairs than have sums: what is left out is in the rest. */
static void test_many(void **state)
{
	_cleanup_(freep) int64_t *fill_ns = xcalloc(100, sizeof(*fill_ns));
	_cleanup_(freep) int64_t *others_ns = xcalloc(100 * MANY, sizeof(*others_ns));
	struct numbers n = { 8 };
	_cleanup_(findings_freep) struct findings *f = NULL;

	(void)state;
	for (size_t i = 0; i < 100; i++) {
		int64_t up = (int64_t)(100000 * numbers_uniform(&n));

		fill_ns[i] = 1;
		for (size_t k = 0; k < MANY; k++)
			others_ns[i * MANY + k] = k % 2 ? 1 + up + (int64_t)(10 * numbers_uniform(&n)) : 100001 - up;
	}
	f = analyse(fill_ns, others_ns, 100, MANY);
	assert_int_equal(f->part_pairs.cnt, 4096);
	for (size_t i = 0; i < 4096; i += 61) {
		const struct part_pair *p = &f->part_pairs.items[i];
		double ns2 = (double)covariance_of(others_ns, 100, MANY, other_at(p->labels[0]), other_at(p->labels[1])) / 1e4;

		assert_true(fabs(p->covariance_ns2 - ns2) < 1e-9 * fabs(ns2));
	}
	want_closed(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hedge),
		cmocka_unit_test(test_hedge_of_siblings),
		cmocka_unit_test(test_companions),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
