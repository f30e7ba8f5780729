/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_common.c - common causes: by hand, many small covariances, and what only looks like one.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "tests/unit/plain_trace.h"
#include "base/banned.h"

enum { N = 3000, MANY = 12 };

static int64_t times_ns[N][MANY];

static struct findings *analyse(size_t cnt, size_t functions)
{
	_cleanup_(freep) int64_t *packed = xcalloc(cnt * functions, sizeof(*packed));
	_cleanup_(trace_freep) struct trace *t = NULL;

	for (size_t i = 0; i < cnt; i++)
		memcpy(packed + i * functions, times_ns[i], functions * sizeof(*packed));
	t = plain_trace(packed, cnt, functions);
	return plain_findings(t);
}

static bool near(double x, double y)
{
	return fabs(x - y) < 1e-9;
}

static const char *member(const struct findings *f, size_t at)
{
	return f->parts.items[f->common_causes.items[0].members.items[at].part].function;
}

/*
 * The example of common_causes.c, 40 times each: f0, f1, f2 are 5 or 6 at once: one component, of all.  f3 is 7 or 8 by
 * itself, in half of either: Var .25 of 2.5, the component explains 2.25 / 2.5, the members alone .75 / 2.5.
 */
static void test_by_hand(void **state)
{
	_cleanup_(findings_freep) struct findings *f = NULL;
	const struct common_cause *c;

	(void)state;
	for (size_t i = 0; i < 160; i++) {
		for (size_t k = 0; k < 3; k++)
			times_ns[i][k] = 5 + (int64_t)(i % 2);
		times_ns[i][3] = 7 + (int64_t)(i / 2 % 2);
	}
	f = analyse(160, 4);
	assert_int_equal(f->common_causes.cnt, 1);
	c = &f->common_causes.items[0];
	assert_true(near(c->explained, 2.25 / 2.5) && near(c->own, .75 / 2.5));
	assert_int_equal(c->members.cnt, 3);
	for (size_t k = 0; k < 3; k++) {
		assert_true(near(c->members.items[k].contribution, 1.0 / 3));
		assert_int_equal(member(f, k)[0], 'f');
		assert_int_not_equal(member(f, k)[1], '3');
	}
}

/* Twelve functions follow one cause, each with as much noise again of its own: none has much, together 92 %. */
static void test_many_small(void **state)
{
	struct numbers n = { 9 };
	_cleanup_(findings_freep) struct findings *f = NULL;
	const struct common_cause *c;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		double cause = numbers_normal(&n);

		for (size_t k = 0; k < MANY; k++)
			times_ns[i][k] = 100000 + (int64_t)(1000 * (cause + numbers_normal(&n)));
	}
	f = analyse(N, MANY);
	assert_int_equal(f->common_causes.cnt, 1);
	c = &f->common_causes.items[0];
	assert_int_equal(c->members.cnt, MANY);
	/* Var(T) = 144 + 12; by themselves 24.  The component takes all but what of the noise is across it. */
	assert_true(fabs(c->own - 24.0 / 156) < .02);
	assert_true(c->explained > .97 && c->explained < 1.01);
	for (size_t i = 0; i < f->factors.cnt; i++)
		assert_true(f->factors.items[i].variance_share < .05);
}

/* Equal and independent: any mixture is an eigenvector of the true covariances.  And one large factor. */
static void test_none(void **state)
{
	struct numbers n = { 10 };

	(void)state;
	for (int round = 0; round < 10; round++) {
		_cleanup_(findings_freep) struct findings *equal = NULL, *large = NULL;

		for (size_t i = 0; i < N; i++)
			for (size_t k = 0; k < MANY; k++)
				times_ns[i][k] = 100000 + (int64_t)(1000 * numbers_normal(&n));
		equal = analyse(N, MANY);
		assert_int_equal(equal->common_causes.cnt, 0);
		for (size_t i = 0; i < N; i++)
			times_ns[i][4] = times_ns[i][4] * 50;
		large = analyse(N, MANY);
		assert_int_equal(large->common_causes.cnt, 0);
	}
}

/* f0 takes what f1 leaves of 5 us, nearly: a hedge, and it is said. */
static void test_hedge(void **state)
{
	struct numbers n = { 11 };
	_cleanup_(findings_freep) struct findings *f = NULL;
	bool said = false;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		times_ns[i][0] = 1000 + (int64_t)(1000 * numbers_uniform(&n));
		times_ns[i][1] = 5000 - times_ns[i][0] + (int64_t)(300 * numbers_uniform(&n));
	}
	f = analyse(N, 2);
	for (size_t i = 0; i < f->warnings.cnt; i++)
		if (strcmp(f->warnings.items[i].code, "hedge") == 0)
			said = strstr(f->warnings.items[i].text, "f0 and f1 offset each other") != NULL;
	assert_true(said);
	assert_int_equal(f->common_causes.cnt, 0);
	assert_true(factor_gain(plain_factor(f, "f1")) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_many_small),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_hedge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
