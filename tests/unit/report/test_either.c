/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_either.c - two that offset each other, and two of which an interval has the one or the other.
 *
 * f0 and f1 are all of an interval, so T = f0 + f1, and with the numbers given Var(T) is small: the share of the pair is far
 * below -100 % in both cases, so the share does not decide between them.
 */
#include <math.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "tests/unit/plain_trace.h"
#include "tests/unit/report/report_check.h"
#include "base/banned.h"
#include "report/words/sentence.h"
#include "report/style.h"

enum { TIMES = 40, ROWS_MAX = 6 };

/* The rows again and again, so that there is a confidence interval. */
static struct findings *analyse(const int64_t rows[][2], size_t cnt)
{
	int64_t times_ns[TIMES * ROWS_MAX][2];
	_cleanup_(trace_freep) struct trace *t = NULL;

	for (size_t i = 0; i < TIMES * cnt; i++)
		memcpy(times_ns[i], rows[i % cnt], sizeof(times_ns[i]));
	t = plain_trace(times_ns[0], TIMES * cnt, 2);
	return plain_findings(t);
}

static const char *warning_of(const struct findings *f, const char *code)
{
	for (size_t i = 0; i < f->warnings.cnt; i++)
		if (strcmp(f->warnings.items[i].code, code) == 0)
			return f->warnings.items[i].text;
	return NULL;
}

/* The pair's share is right, and it is reported as what it is, in the warning, below the factors, and in JSON. */
static void want_told(const struct findings *f, double share, bool either)
{
	struct view_input in = input_of(f);
	_cleanup_(freep) struct reported_pair *told = NULL;
	_cleanup_(freep) char *text = text_of("factors", &in, true, 140);
	json_t *o = json_of("factors", &in);

	assert_int_equal(findings_pairs(f, true, .05, &told), 1);
	assert_true(fabs(told[0].share - share) < 1e-6 * fabs(share));
	assert_int_equal(told[0].either, either);
	assert_int_equal(warning_of(f, "either") != NULL, either);
	assert_int_equal(warning_of(f, "hedge") != NULL, !either);
	assert_int_equal(strstr(text, "\neither: intervals take their time in f0 or in f1, seldom in both\n") != NULL, either);
	assert_int_equal(strstr(text, "\nhedge: f0 and f1 offset each other: ") != NULL, !either);
	assert_int_equal(json_is_true(json_object_get(json_array_get(json_object_get(o, "hedges"), 0), "either")), either);
	json_decref(o);
}

/*
 * E f0 = 1500, E f1 = 1510 / 2 + 1530 / 2 = 1520; never both: Cov = -1500 * 1520 = -2,280,000.  T = 2990, 3030, 3010, 3050: Var
 * 500.  2 Cov / Var(T) = -9120.  f1: Cov(f1, T) = (3030 * 3030 + 3050 * 3050) / 4 - 1520 * 3020 = 30,450: 60.9.
 */
static void test_one_or_the_other(void **state)
{
	static const int64_t rows[4][2] = { { 2990, 0 }, { 0, 3030 }, { 3010, 0 }, { 0, 3050 } };
	_cleanup_(findings_freep) struct findings *f = analyse(rows, 4);
	static const struct select_options o = { FACTORS_K_DEFAULT, FACTORS_THRESHOLD_DEFAULT, false, false };
	_cleanup_(freep) char *sentence = sentence_text(f, &o, true);

	(void)state;
	want_told(f, -9120, true);
	assert_non_null(strstr(warning_of(f, "either"), "in f0 or in f1"));
	assert_true(fabs(plain_factor(f, "f1")->share - 60.9) < 1e-6);
	assert_non_null(strstr(sentence, "f1 causes all of the variance of 'r' (intervals have it or f0)"));
}

/* 20 of the other in each: E f0 = 1510, E f1 = 1530; E f0 f1 = (2990 + 3030 + 3010 + 3050) * 20 / 4 = 60,400: Cov -2,249,900. */
static void test_a_trace_of_the_other(void **state)
{
	static const int64_t rows[4][2] = { { 2990, 20 }, { 20, 3030 }, { 3010, 20 }, { 20, 3050 } };
	_cleanup_(findings_freep) struct findings *f = analyse(rows, 4);

	(void)state;
	want_told(f, 2 * -2249900 / 500.0, true);
}

/* One in six has both, one neither's half: E f0 = 1000, E f1 = 1010, E f0 f1 = 500 * 520 / 6 = 43,333; T = 2000 .. 2040. */
static void test_some_have_both(void **state)
{
	static const int64_t rows[6][2] = { { 2000, 0 }, { 0, 2020 }, { 1500, 0 }, { 0, 1500 }, { 2000, 0 }, { 500, 520 } };
	_cleanup_(findings_freep) struct findings *f = analyse(rows, 6);
	double t = (2000 + 2020 + 1500 + 1500 + 2000 + 1020) / 6.0, f0 = 1000, f1 = 4040 / 6.0;
	double variance = (2 * 2000 * 2000.0 + 2020 * 2020 + 2 * 1500 * 1500 + 1020 * 1020) / 6 - t * t;

	(void)state;
	want_told(f, 2 * (500 * 520 / 6.0 - f0 * f1) / variance, true);
}

/*
 * f0 1000, 3000, 5000 and f1 what is left of 6000, or 20 more: T = 6000, 6020, 6000.  E f0 = 3000, E f1 = 9020 / 3; E f0 f1 =
 * (5,000,000 + 9,060,000 + 5,000,000) / 3: Cov -8,000,000 / 3; Var(T) = 800 / 9.  2 Cov / Var(T) = -60,000: Var(T) would be
 * 60,001 times as large with Cov 0.
 */
static void test_make_up(void **state)
{
	static const int64_t rows[3][2] = { { 1000, 5000 }, { 3000, 3020 }, { 5000, 1000 } };
	_cleanup_(findings_freep) struct findings *f = analyse(rows, 3);

	(void)state;
	want_told(f, -60000, false);
	assert_non_null(strstr(warning_of(f, "hedge"), "(the variance would be 60001.0 times as large if they did not)"));
}

/* f0 2, 4, 6 thousand, f1 5, 3, 4: Cov -2/3 million, Var(T) = 7, 7, 10: 2 million: -66.7 %, which is reported as it is. */
static void test_less_than_all(void **state)
{
	static const int64_t rows[3][2] = { { 2000, 5000 }, { 4000, 3000 }, { 6000, 4000 } };
	_cleanup_(findings_freep) struct findings *f = analyse(rows, 3);

	(void)state;
	want_told(f, -2 / 3.0, false);
	assert_non_null(strstr(warning_of(f, "hedge"), "(-67 % of the variance)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_or_the_other),
		cmocka_unit_test(test_a_trace_of_the_other),
		cmocka_unit_test(test_some_have_both),
		cmocka_unit_test(test_make_up),
		cmocka_unit_test(test_less_than_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
