/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_sibling_pairs.c - of very many siblings, which pairs are looked at, and that their figures are exact.
 *
 * The oracle is the definition, from the times themselves: a pair is kept if |2 Cov| is a thousandth of Var(T) or more.  If
 * there are more candidates than sibling_pairs_max, those with the largest 2 sd sd are looked at, and the others are still in
 * the one number for the rest.
 */
#include <math.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "analysis/analyze.h"
#include "analysis/factors/covariances.h"
#include "analysis/factors/sibling_pairs.h"
#include "base/banned.h"

enum { ROWS = 48, FUNCTIONS = 300 };

typedef int64_t (*times_of)(size_t row, size_t function);

static int64_t noise(size_t row, size_t function, int64_t below)
{
	uint64_t x = (row * 1000003 + function + 1) * 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return (int64_t)((x ^ x >> 31) % (uint64_t)below);
}

/* All of them in each interval; some never vary.  f7 varies most; with it goes f299, which varies least of all that are in such a pair. */
static int64_t skewed(size_t row, size_t function)
{
	int64_t burst = row % 6 == 0 ? 40000 : 0;

	if (function == 7)
		return 1000 + burst;
	if (function == 299)
		return 1000 + burst / 500;
	if (function % 10 == 3)
		return 1000;
	return 1000 + noise(row, function, 200);
}

/* Functions that differ only in the row in which they are long: all standard deviations are equal. */
static int64_t alike(size_t row, size_t function)
{
	return function % ROWS == row ? 5000 : 1000;
}

/* Most of them in few intervals. */
static int64_t sparse(size_t row, size_t function)
{
	return noise(row, function, 20) ? 0 : 500 + noise(row, function + 1000, 4000);
}

/* Twenty functions, of which some vary much. */
static int64_t few(size_t row, size_t function)
{
	return function < 20 ? 10 + noise(row, function, 10 + (int64_t)(function * function * function)) : 0;
}

/* Rows from .. to - 1 of the whole; weighted: each third one stands for three. */
static struct trace *trace_of(times_of times, size_t from, size_t to, bool weighted, bool repeated)
{
	struct trace *t = trace_new();
	int64_t at_ns = 1000 + (int64_t)from * 100000000;

	trace_add_string(t, &t->interval_names, "req");
	for (size_t j = 0; j < FUNCTIONS; j++)
		VEC_ADD(&t->functions, (struct function){ .name = arena_printf(t->arena, "f%zu", j), .probed = true });
	for (size_t i = from; i < to; i++) {
		for (size_t copy = 0; copy < (repeated && i % 3 == 0 ? 3 : 1); copy++) {
			uint64_t sid = i * 3 + copy;
			int64_t start_ns = at_ns;

			for (size_t j = 0; j < FUNCTIONS; j++) {
				struct invocation inv = { .tid = 1, .sid = sid, .function = (uint32_t)j,
							  .call_site = CALL_SITE_NONE, .start_ns = at_ns,
							  .end_ns = at_ns + times(i, j),
							  .order = (uint32_t)t->invocations.cnt };

				at_ns = inv.end_ns;
				if (inv.start_ns < inv.end_ns)
					VEC_ADD(&t->invocations, inv);
			}
			VEC_ADD(&t->segments, (struct segment){ .tid = 1, .sid = sid, .start_ns = start_ns, .end_ns = at_ns });
			VEC_ADD(&t->intervals, (struct interval){
				.sid = sid, .status = INTERVAL_COMPLETED, .start_tid = 1, .end_tid = 1, .start_ns = start_ns,
				.end_ns = at_ns, .weight = weighted && i % 3 == 0 ? 3 : 1 });
		}
	}
	return t;
}

static struct findings *findings_of(times_of times)
{
	_cleanup_(trace_freep) struct trace *t = trace_of(times, 0, ROWS, false, false);
	struct analyze_options o = { .interval = "req" };
	struct findings *f = NULL;

	assert_int_equal(analyze(t, &o, &f), 0);
	return f;
}

static size_t function_of(const struct findings *f, uint32_t node)
{
	return strtoul(f->nodes.items[node].function + 1, NULL, 10);
}

/* [x][y], from the definition. */
static double covariances[FUNCTIONS][FUNCTIONS];

/* How many of them have a thousandth. */
static size_t define(times_of times, double variance_ns2)
{
	size_t cnt = 0;

	for (size_t x = 0; x < FUNCTIONS; x++) {
		for (size_t y = 0; y <= x; y++) {
			double xy = 0, sum_x = 0, sum_y = 0;

			for (size_t row = 0; row < ROWS; row++) {
				xy += (double)(times(row, x) * times(row, y)) / ROWS;
				sum_x += (double)times(row, x) / ROWS;
				sum_y += (double)times(row, y) / ROWS;
			}
			covariances[x][y] = covariances[y][x] = xy - sum_x * sum_y;
			cnt += x != y && fabs(2 * covariances[x][y]) >= 0.001 * variance_ns2;
		}
	}
	return cnt;
}

/* Each listed pair is right and listed once; together with the rest they are all pairs. */
static void check_listed(const struct findings *f)
{
	_cleanup_(freep) double *rest = findings_other_covariances(f);
	double sum = 2 * rest[0];

	for (size_t i = 1; i < f->nodes.cnt; i++)
		sum += f->nodes.items[i].variance_ns2;
	for (size_t i = 0; i < f->covariances.cnt; i++) {
		const struct covariance *c = &f->covariances.items[i];
		size_t x = function_of(f, c->a), y = function_of(f, c->b);

		assert_true(c->a < c->b && fabs(c->share) >= 0.001);
		assert_true(fabs(c->covariance_ns2 - covariances[x][y]) < 1e-9 * f->interval.variance_ns2);
		sum += 2 * c->covariance_ns2;
		covariances[x][y] = covariances[y][x] = NAN;
	}
	assert_true(fabs(sum - f->interval.variance_ns2) < 1e-9 * f->interval.variance_ns2);
}

static bool has_pair(const struct findings *f, size_t x, size_t y)
{
	for (size_t i = 0; i < f->covariances.cnt; i++) {
		size_t a = function_of(f, f->covariances.items[i].a), b = function_of(f, f->covariances.items[i].b);

		if ((a == x && b == y) || (a == y && b == x))
			return true;
	}
	return false;
}

static void test_all_of_a_thousandth(void **state)
{
	static const times_of all[] = { skewed, alike, sparse };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		_cleanup_(findings_freep) struct findings *f = findings_of(all[i]);
		size_t wanted = define(all[i], f->interval.variance_ns2);

		assert_int_equal(f->covariances.cnt, wanted < 4096 ? wanted : 4096);
		assert_true(wanted > 0);
		check_listed(f);
	}
}

/* 44,850 pairs, room for 299 or fewer: the pair that is planted is looked at, whoever varies more than its smaller member. */
static void test_few_candidates(void **state)
{
	static const size_t rooms[] = { 299, 50, 1 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rooms); i++) {
		sibling_pairs_max = rooms[i];
		for (size_t k = 0; k < 3; k++) {
			times_of times = k == 0 ? skewed : k == 1 ? alike : sparse;
			_cleanup_(findings_freep) struct findings *f = findings_of(times);

			define(times, f->interval.variance_ns2);
			assert_true(f->covariances.cnt <= rooms[i]);
			assert_true(times != skewed || rooms[i] < 299 || has_pair(f, 7, 299));
			check_listed(f);
		}
	}
	sibling_pairs_max = SIBLING_PAIRS_MAX;
}

/* If all pairs are alike, as many are listed as there is room for, neither none nor all. */
static void test_equals_fill_the_room(void **state)
{
	_cleanup_(findings_freep) struct findings *f = NULL;

	(void)state;
	sibling_pairs_max = 1000;
	f = findings_of(alike);
	sibling_pairs_max = SIBLING_PAIRS_MAX;
	assert_true(define(alike, f->interval.variance_ns2) > 1000);
	assert_int_equal(f->covariances.cnt, 1000);
	check_listed(f);
}

static void assert_same(const struct findings *f, const struct findings *g)
{
	assert_int_equal(f->covariances.cnt, g->covariances.cnt);
	for (size_t i = 0; i < f->covariances.cnt; i++) {
		const struct covariance *x = &f->covariances.items[i], *y = &g->covariances.items[i];

		assert_true(x->parent == y->parent && x->a == y->a && x->b == y->b);
		assert_true(x->covariance_ns2 == y->covariance_ns2 && x->share == y->share);
	}
}

static void test_windows_and_weights(void **state)
{
	struct analyze_options o = { .interval = "req" };

	(void)state;
	for (int weighted = 0; weighted < 2; weighted++) {
		_cleanup_(trace_freep) struct trace *all = trace_of(sparse, 0, ROWS, weighted, false);
		_cleanup_(analyzer_freep) struct analyzer *a = analyzer_new();
		_cleanup_(findings_freep) struct findings *one = NULL, *two = NULL, *three = NULL;
		static const size_t ends[] = { 0, 5, 30, ROWS };

		for (size_t i = 1; i < ARRAY_SIZE(ends); i++) {
			_cleanup_(trace_freep) struct trace *w = trace_of(sparse, ends[i - 1], ends[i], weighted, false);

			trace_sort(w);
			analyzer_add(a, &(struct analysis_window){ w, w->intervals.items[0].start_ns - 1,
				w->intervals.items[w->intervals.cnt - 1].end_ns });
		}
		assert_int_equal(analyzer_finish(a, all, &o, &two), 0);
		assert_int_equal(analyze(all, &o, &one), 0);
		assert_true(one->covariances.cnt > 10);
		assert_same(one, two);
		if (weighted) {
			_cleanup_(trace_freep) struct trace *copies = trace_of(sparse, 0, ROWS, false, true);

			assert_int_equal(analyze(copies, &o, &three), 0);
			assert_same(one, three);
		}
	}
}

/* 190 pairs of siblings: all are listed if there is room for them, else those of a thousandth, and the rest as one number. */
static void test_many_pairs_of_few_siblings(void **state)
{
	(void)state;
	for (size_t room = 189; room <= 190; room++) {
		_cleanup_(findings_freep) struct findings *f = NULL;
		_cleanup_(freep) double *rest = NULL;
		size_t wanted;

		covariances_all_max = room;
		f = findings_of(few);
		covariances_all_max = COVARIANCES_ALL_MAX;
		rest = findings_other_covariances(f);
		wanted = define(few, f->interval.variance_ns2);
		assert_in_range(wanted, 10, 150);
		assert_int_equal(f->covariances.cnt, room == 190 ? 190 : wanted);
		assert_true(isnan(rest[0]) == (room == 190));
		if (room == 189)
			check_listed(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_of_a_thousandth),
		cmocka_unit_test(test_few_candidates),
		cmocka_unit_test(test_equals_fill_the_room),
		cmocka_unit_test(test_many_pairs_of_few_siblings),
		cmocka_unit_test(test_windows_and_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
