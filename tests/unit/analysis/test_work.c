/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_work.c - inherent work: by hand, and planted shares recovered.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "tests/unit/plain_trace.h"
#include "base/banned.h"

static void note(struct trace *t, uint64_t sid, const char *name, int64_t value)
{
	uint32_t at = trace_add_string(t, &t->work_names, name);

	VEC_ADD(&t->works, (struct work){ sid, at, value });
}

static bool near(double x, double y)
{
	return fabs(x - y) < 1e-9;
}

/*
 * The example of work.c ten times: W = 1, 2, 3, T = 12, 18, 30.  60 of the squares' 1,680 are left, with 28
 * degrees of freedom of 29: explained 1 - (60/28) / (1680/29).  f0 = 2, 0, 4 is all of the rest, f1 = 10, 18, 26
 * of nothing: 10 - 36 + 26 = 0; yet of the raw variance f1 has 144/168: around 18 it is -8, 0, 8, T around
 * 20 -8, -2, 10, and 64 + 80 = 144.
 * Work noted twice adds up.
 */
static void test_by_hand(void **state)
{
	static const int64_t times_ns[3][2] = { { 2, 10 }, { 0, 18 }, { 4, 26 } };
	int64_t all_ns[30][2];
	_cleanup_(trace_freep) struct trace *t = NULL;
	_cleanup_(findings_freep) struct findings *f = NULL;
	_cleanup_(freep) uint32_t *order = NULL;
	struct select_options o = { 3, 0.05, false, false };

	(void)state;
	for (size_t i = 0; i < 30; i++)
		memcpy(all_ns[i], times_ns[i % 3], sizeof(all_ns[i]));
	t = plain_trace(all_ns[0], 30, 2);
	for (size_t i = 0; i < 30; i++) {
		note(t, i + 1, "rows", (int64_t)(i % 3));
		note(t, i + 1, "rows", 1);
	}
	note(t, 77, "bytes", 5);		/* of no interval: no kind of work */
	f = plain_findings(t);
	assert_string_equal(f->work.names, "rows");
	assert_int_equal(f->work.interval_cnt, 30);
	assert_true(near(f->work.explained, 1 - (60.0 / 28) / (1680.0 / 29)));
	assert_true(near(plain_factor(f, "f1")->share, 144.0 / 168));
	assert_true(near(plain_factor(f, "f0")->work_share, 1));
	assert_true(near(plain_factor(f, "f1")->work_share, 0));
	assert_int_equal(factors_select_after_work(f, &o, &order), 1);
	assert_string_equal(f->factors.items[order[0]].function, "f0");
}

/* All of it explained: nothing is left to anybody. */
static void test_all_explained(void **state)
{
	int64_t times_ns[40];
	_cleanup_(trace_freep) struct trace *t = NULL;
	_cleanup_(findings_freep) struct findings *f = NULL, *none = NULL;

	(void)state;
	for (int i = 0; i < 40; i++)
		times_ns[i] = 1000 + 17 * (i * 7 % 40);
	t = plain_trace(times_ns, 40, 1);
	none = plain_findings(t);
	assert_null(none->work.names);
	assert_false(plain_factor(none, "f0")->has_work_share);
	for (uint64_t i = 0; i < 40; i++)
		note(t, i + 1, "rows", (int64_t)(i * 7 % 40));
	f = plain_findings(t);
	assert_true(near(f->work.explained, 1));
	assert_true(plain_factor(f, "f0")->has_work_share && plain_factor(f, "f0")->work_share == 0);
}

#define PLANTED 20000

static double planted_ns[PLANTED][3];
static int64_t planted_work[PLANTED][2];

static struct findings *analyse_planted(size_t kinds)
{
	static const char *const names[] = { "rows", "bytes" };
	static int64_t times_ns[PLANTED][3];
	_cleanup_(trace_freep) struct trace *t = NULL;

	for (size_t i = 0; i < PLANTED; i++)
		for (size_t k = 0; k < 3; k++)
			times_ns[i][k] = (int64_t)planted_ns[i][k];
	t = plain_trace(times_ns[0], PLANTED, 3);
	for (size_t i = 0; i < PLANTED; i++)
		for (size_t k = 0; k < kinds; k++)
			note(t, i + 1, names[k], planted_work[i][k]);
	return plain_findings(t);
}

static void want_left(const struct findings *f, double explained)
{
	double first = plain_factor(f, "f1")->work_share, second = plain_factor(f, "f2")->work_share;

	if (fabs(f->work.explained - explained) > .02 || fabs(first - .1) > .02 || fabs(second - .9) > .02 ||
	    fabs(plain_factor(f, "f0")->work_share) > .02)
		fail_msg("explained %.3f instead of %.3f; left %.3f, %.3f", f->work.explained, explained, first,
			 second);
}

/* The work is skewed (few requests are for very many rows), f0 goes with it; of the rest f1 has a tenth, f2 nine:
 * sd 3 and 9 us.  Means of bins would call part of f0 the rest. */
static void test_skewed(void **state)
{
	struct numbers n = { 3 };
	double variance = 0, mean = 0;
	_cleanup_(findings_freep) struct findings *f = NULL;

	(void)state;
	for (size_t i = 0; i < PLANTED; i++) {
		planted_work[i][0] = (int64_t)(100 * exp(numbers_normal(&n)));
		planted_ns[i][0] = 130 * (double)planted_work[i][0];
		planted_ns[i][1] = 50000 + 3000 * numbers_normal(&n);
		planted_ns[i][2] = 90000 + 9000 * numbers_normal(&n);
		mean += planted_ns[i][0] / PLANTED;
	}
	for (size_t i = 0; i < PLANTED; i++)
		variance += (planted_ns[i][0] - mean) * (planted_ns[i][0] - mean) / PLANTED;
	f = analyse_planted(1);
	want_left(f, variance / (variance + 9e6 + 81e6));
}

/* Two kinds, one of them with its square. */
static void test_two_kinds(void **state)
{
	struct numbers n = { 4 };
	double variance = 0, mean = 0;
	_cleanup_(findings_freep) struct findings *f = NULL;

	(void)state;
	for (size_t i = 0; i < PLANTED; i++) {
		planted_work[i][0] = (int64_t)(1000 * numbers_uniform(&n));
		planted_work[i][1] = (int64_t)(200 * numbers_uniform(&n));
		planted_ns[i][0] = 40 * (double)planted_work[i][0] +
				   (double)(planted_work[i][1] * planted_work[i][1]);
		planted_ns[i][1] = 50000 + 3000 * numbers_normal(&n);
		planted_ns[i][2] = 90000 + 9000 * numbers_normal(&n);
		mean += planted_ns[i][0] / PLANTED;
	}
	for (size_t i = 0; i < PLANTED; i++)
		variance += (planted_ns[i][0] - mean) * (planted_ns[i][0] - mean) / PLANTED;
	f = analyse_planted(2);
	assert_string_equal(f->work.names, "bytes, rows");
	want_left(f, variance / (variance + 9e6 + 81e6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_all_explained),
		cmocka_unit_test(test_skewed),
		cmocka_unit_test(test_two_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
