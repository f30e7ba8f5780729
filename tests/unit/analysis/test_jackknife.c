/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_jackknife.c - the confidence intervals of what work leaves, of common causes and of pairs of parts, without their formulas.
 *
 * Each of B blocks is left out once and everything is analysed anew; e(b) is the result without block b, e the mean of these:
 *
 *	se^2 = (B - 1) / B sum (e(b) - e)^2
 *
 * is the error that the influence of each interval gives (confidence.c), up to terms of second order.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "tests/unit/plain_trace.h"
#include "base/banned.h"

enum { BLOCKS = 64, SIZE = 50, N = BLOCKS * SIZE, FUNCTIONS = 4 };

#define T_63 1.9983405			/* t(.975, 63) */

static int64_t times_ns[N][FUNCTIONS];
static int64_t rows[N];

/* left_out: BLOCKS for none. */
static struct findings *analyse_without(size_t left_out, bool work)
{
	static int64_t packed[N][FUNCTIONS];
	static int64_t noted[N];
	_cleanup_(trace_freep) struct trace *t = NULL;
	size_t cnt = 0;

	for (size_t i = 0; i < N; i++) {
		if (i / SIZE == left_out)
			continue;
		memcpy(packed[cnt], times_ns[i], sizeof(packed[cnt]));
		noted[cnt++] = rows[i];
	}
	t = plain_trace(packed[0], cnt, FUNCTIONS);
	if (work) {
		trace_add_string(t, &t->work_names, "rows");
		for (size_t i = 0; i < cnt; i++)
			VEC_ADD(&t->works, (struct work){ i + 1, 0, noted[i] });
	}
	return plain_findings(t);
}

typedef double measure(const struct findings *f);

static double jackknife(measure *of, bool work)
{
	double found[BLOCKS], mean = 0, squares = 0;

	for (size_t b = 0; b < BLOCKS; b++) {
		_cleanup_(findings_freep) struct findings *f = analyse_without(b, work);

		found[b] = of(f);
		mean += found[b] / BLOCKS;
	}
	for (size_t b = 0; b < BLOCKS; b++)
		squares += (found[b] - mean) * (found[b] - mean);
	return T_63 * sqrt((BLOCKS - 1.0) / BLOCKS * squares);
}

static void want_half_width(const double ci95[2], double value, double half)
{
	if (fabs((ci95[0] + ci95[1]) / 2 - value) > 1e-9 || fabs((ci95[1] - ci95[0]) / 2 / half - 1) > .08)
		fail_msg("%.4f to %.4f around %.4f, not -+ %.4f", ci95[0], ci95[1], value, half);
}

static double left_to_f1(const struct findings *f)
{
	return plain_factor(f, "f1")->work_share;
}

/* Work is lognormal; f0 and f2 follow it, f2 bent; f1 has some of its own, and is called only in half of the intervals. */
static void test_work(void **state)
{
	struct numbers n = { 31 };
	_cleanup_(findings_freep) struct findings *f = NULL;
	const struct factor *x;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		rows[i] = (int64_t)(100 * exp(numbers_normal(&n)));
		times_ns[i][0] = 130 * rows[i] + (int64_t)(4000 * numbers_uniform(&n));
		times_ns[i][1] = i % 2 ? 20 * rows[i] + (int64_t)(9000 * numbers_uniform(&n)) : 0;
		times_ns[i][2] = rows[i] * rows[i] / 100;
		times_ns[i][3] = (int64_t)(1000 * exp(numbers_normal(&n)));
	}
	f = analyse_without(BLOCKS, true);
	x = plain_factor(f, "f1");
	assert_true(x->has_work_ci95);
	want_half_width(x->work_ci95, x->work_share, jackknife(left_to_f1, true));
}

static double explained_by_first(const struct findings *f)
{
	return f->common_causes.cnt ? f->common_causes.items[0].explained : 0;
}

/* Three functions follow one cause by different parts, the fourth has some by itself. */
static void test_common(void **state)
{
	struct numbers n = { 34 };
	_cleanup_(findings_freep) struct findings *f = NULL;
	const struct common_cause *c;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		double cause = exp(.5 * numbers_normal(&n));

		for (size_t k = 0; k < 3; k++)
			times_ns[i][k] = 50000 + (int64_t)((10000 + 4000 * (double)k) * cause +
							    4000 * numbers_normal(&n));
		times_ns[i][3] = 90000 + (int64_t)(9000 * numbers_normal(&n));
	}
	f = analyse_without(BLOCKS, false);
	assert_int_equal(f->common_causes.cnt, 1);
	c = &f->common_causes.items[0];
	want_half_width(c->ci95, c->explained, jackknife(explained_by_first, false));
}

static const struct part_pair *pair_of(const struct findings *f, const char *a, const char *b)
{
	for (size_t i = 0; i < f->part_pairs.cnt; i++) {
		const struct part_pair *p = &f->part_pairs.items[i];

		if ((strcmp(p->labels[0], a) == 0 && strcmp(p->labels[1], b) == 0) ||
		    (strcmp(p->labels[0], b) == 0 && strcmp(p->labels[1], a) == 0))
			return p;
	}
	fail_msg("no pair of %s and %s", a, b);
	return NULL;
}

static double pair_of_0_and_1(const struct findings *f)
{
	return pair_of(f, "f0", "f1")->share;
}

/* f1 offsets half of f0, which is skewed; f2 follows it; and long constant times, which must not cost digits. */
static void test_pair(void **state)
{
	struct numbers n = { 35 };
	_cleanup_(findings_freep) struct findings *f = NULL;
	const struct part_pair *p;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		times_ns[i][0] = ((int64_t)1 << 33) + (int64_t)(8000 * exp(.5 * numbers_normal(&n)));
		times_ns[i][1] = ((int64_t)1 << 33) - (times_ns[i][0] - ((int64_t)1 << 33)) / 2 + (int64_t)(3000 * numbers_normal(&n));
		times_ns[i][2] = times_ns[i][0] / 3 + (int64_t)(2000 * numbers_uniform(&n));
		times_ns[i][3] = 90000 + (int64_t)(5000 * numbers_normal(&n));
	}
	f = analyse_without(BLOCKS, false);
	p = pair_of(f, "f0", "f1");
	assert_true(p->has_ci95 && p->share < 0);
	want_half_width(p->ci95, p->share, jackknife(pair_of_0_and_1, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work),
		cmocka_unit_test(test_common),
		cmocka_unit_test(test_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
