/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_metamorphic.c - what must not change, or change in a known way, when a run is changed.
 *
 * A constant added to a function, all times doubled, a function split in two, intervals shuffled among
 * the lines of the trace, a run cut into halves: for random runs of five functions.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "tests/unit/plain_trace.h"
#include "base/banned.h"

enum { N = 600, FUNCTIONS = 5, ROUNDS = 25 };

static int64_t times_ns[N][FUNCTIONS];
static struct numbers numbers = { 1 };

static void draw(void)
{
	for (size_t i = 0; i < N; i++) {
		double shared = 500 * numbers_normal(&numbers);

		for (size_t k = 0; k < FUNCTIONS; k++) {
			double ns = 4000 + (double)(k + 1) * 150 * numbers_normal(&numbers) + (k % 2 ? shared : 0);

			times_ns[i][k] = k == 4 && numbers_uniform(&numbers) < .7 ? 0 : (int64_t)ns;
		}
	}
}

static struct findings *analyse(const int64_t *times, size_t n, size_t functions)
{
	_cleanup_(trace_freep) struct trace *t = plain_trace(times, n, functions);
	struct analyze_options o = { .quantile = .8 };
	struct findings *f = NULL;

	assert_int_equal(analyze(t, &o, &f), 0);
	return f;
}

static const struct factor *factor_at(const struct findings *f, size_t k)
{
	char name[32];

	snprintf(name, sizeof(name), "f%zu", k);
	return plain_factor(f, name);
}

static void same(double a, double b)
{
	if (fabs(a - b) > 1e-9 * fmax(1, fabs(a)))
		fail_msg("%.17g is not %.17g", a, b);
}

/* All that is a fraction of variances, or of what slow intervals take more. */
static void same_fractions(const struct factor *a, const struct factor *b)
{
	same(a->share, b->share);
	same(a->variance_share, b->variance_share);
	same(a->paper_contribution, b->paper_contribution);
	same(a->ci95[0], b->ci95[0]);
	same(a->ci95[1], b->ci95[1]);
	same(a->paper_ci95[1], b->paper_ci95[1]);
	assert_int_equal(a->resolved, b->resolved);
	assert_int_equal(a->rank_low, b->rank_low);
	assert_int_equal(a->rank_high, b->rank_high);
	assert_true(a->has_tail && b->has_tail);
	same(a->tail_share, b->tail_share);
}

static void test_constant_added(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		_cleanup_(findings_freep) struct findings *before = NULL, *after = NULL;

		draw();
		before = analyse(times_ns[0], N, FUNCTIONS);
		for (size_t i = 0; i < N; i++)
			times_ns[i][round % 4] += 1000000;
		after = analyse(times_ns[0], N, FUNCTIONS);
		same(after->interval.mean_ns, before->interval.mean_ns + 1e6);
		same(after->interval.variance_ns2, before->interval.variance_ns2);
		for (size_t k = 0; k < FUNCTIONS; k++)
			same_fractions(factor_at(before, k), factor_at(after, k));
	}
}

static void test_times_doubled(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		_cleanup_(findings_freep) struct findings *before = NULL, *after = NULL;

		draw();
		before = analyse(times_ns[0], N, FUNCTIONS);
		for (size_t i = 0; i < N; i++)
			for (size_t k = 0; k < FUNCTIONS; k++)
				times_ns[i][k] *= 2;
		after = analyse(times_ns[0], N, FUNCTIONS);
		same(after->interval.variance_ns2, 4 * before->interval.variance_ns2);
		assert_true(after->interval.p99_ns == 2 * before->interval.p99_ns);
		for (size_t k = 0; k < FUNCTIONS; k++) {
			same_fractions(factor_at(before, k), factor_at(after, k));
			same(factor_at(after, k)->mean_ns, 2 * factor_at(before, k)->mean_ns);
		}
	}
}

/* f0 becomes f0 and f5: shares and parts of the tail add up, the pair's covariance closes the variances, the
 * others stay. */
static void test_function_split(void **state)
{
	static int64_t split_ns[N][FUNCTIONS + 1];

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		_cleanup_(findings_freep) struct findings *before = NULL, *after = NULL;
		const struct factor *whole, *first, *second;
		double pair = 0;

		draw();
		for (size_t i = 0; i < N; i++) {
			memcpy(split_ns[i], times_ns[i], sizeof(times_ns[i]));
			split_ns[i][FUNCTIONS] = 1 + (int64_t)(numbers_uniform(&numbers) * 3000);
			split_ns[i][0] -= split_ns[i][FUNCTIONS];
		}
		before = analyse(times_ns[0], N, FUNCTIONS);
		after = analyse(split_ns[0], N, FUNCTIONS + 1);
		whole = factor_at(before, 0);
		first = factor_at(after, 0);
		second = factor_at(after, FUNCTIONS);
		for (size_t i = 0; i < after->factors.cnt; i++) {
			const struct factor *x = &after->factors.items[i];

			if (x->kind == FACTOR_PAIR && strcmp(x->functions[0], "f0") == 0 &&
			    strcmp(x->functions[1], "f5") == 0)
				pair = x->share;
		}
		same(whole->share, first->share + second->share);
		same(whole->tail_share, first->tail_share + second->tail_share);
		same(whole->variance_share, first->variance_share + second->variance_share + pair);
		same(whole->mean_ns, first->mean_ns + second->mean_ns);
		for (size_t k = 1; k < FUNCTIONS; k++) {
			same(factor_at(before, k)->share, factor_at(after, k)->share);
			same(factor_at(before, k)->tail_share, factor_at(after, k)->tail_share);
			same(factor_at(before, k)->ci95[0], factor_at(after, k)->ci95[0]);
		}
	}
}

/* n Cov of all = sum over halves of n Cov + n (mean X - mean)(mean T - mean). */
static void test_halves(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		size_t first = N / 2 + (size_t)round;
		_cleanup_(findings_freep) struct findings *all = NULL, *a = NULL, *b = NULL;

		draw();
		all = analyse(times_ns[0], N, FUNCTIONS);
		a = analyse(times_ns[0], first, FUNCTIONS);
		b = analyse(times_ns[first], N - first, FUNCTIONS);
		for (size_t k = 0; k < FUNCTIONS; k++) {
			const struct findings *halves[] = { a, b };
			double sum = 0;

			for (int h = 0; h < 2; h++) {
				const struct interval_summary *s = &halves[h]->interval;
				const struct factor *x = factor_at(halves[h], k);

				sum += (double)s->cnt *
				       (x->share * s->variance_ns2 + (x->mean_ns - factor_at(all, k)->mean_ns) *
				       (s->mean_ns - all->interval.mean_ns));
			}
			same(sum / N / all->interval.variance_ns2, factor_at(all, k)->share);
		}
	}
}

/* The lines of the trace in another order: the same, bit for bit. */
static void test_lines_shuffled(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		_cleanup_(trace_freep) struct trace *t = NULL;
		_cleanup_(findings_freep) struct findings *before = NULL, *after = NULL;

		draw();
		before = analyse(times_ns[0], N, FUNCTIONS);
		t = plain_trace(times_ns[0], N, FUNCTIONS);
		for (size_t i = N - 1; i > 0; i--) {
			size_t k = (size_t)(numbers_uniform(&numbers) * (double)(i + 1));
			struct interval iv = t->intervals.items[i];
			struct segment s = t->segments.items[i];

			t->intervals.items[i] = t->intervals.items[k];
			t->intervals.items[k] = iv;
			t->segments.items[i] = t->segments.items[N - 1 - i];
			t->segments.items[N - 1 - i] = s;
		}
		assert_int_equal(analyze(t, &(struct analyze_options){ .quantile = .8 }, &after), 0);
		for (size_t k = 0; k < FUNCTIONS; k++) {
			const struct factor *x = factor_at(before, k), *y = factor_at(after, k);

			assert_true(x->share == y->share && x->ci95[0] == y->ci95[0]);
			assert_true(x->tail_share == y->tail_share && x->rank_low == y->rank_low);
			assert_true(x->paper_ci95[0] == y->paper_ci95[0]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_constant_added),
		cmocka_unit_test(test_times_doubled),
		cmocka_unit_test(test_function_split),
		cmocka_unit_test(test_halves),
		cmocka_unit_test(test_lines_shuffled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
