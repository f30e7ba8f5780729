/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_refine_confidence.c - what is uncertain is looked into, and not claimed.  The threshold is 5 %.
 */
#include "tests/unit/cmocka_all.h"

#include "tests/unit/analysis/refine/refine_world.h"

static void doubt(struct findings *f, uint32_t node, double half)
{
	struct node *n = &f->nodes.items[node];

	n->has_ci95 = true;
	n->ci95[0] = n->share - half;
	n->ci95[1] = n->share + half;
}

static struct factor *doubtful_factor(struct findings *f, const struct world *w, char name,
				      double share, double half)
{
	struct factor *x = found_factor(f, w, name, share);

	x->has_ci95 = true;
	x->ci95[0] = share - half;
	x->ci95[1] = share + half;
	return x;
}

/* a (4 % -+ 2: perhaps 6) calls b, c (4 % -+ .5) calls d.  b is looked into, d is not. */
static void test_upper_end(void **state)
{
	static const char *const names[] = { "r", "a", "c", "b", "d", NULL };
	static const char *const calls[] = { "ra", "rc", "ab", "cd", NULL };
	struct world w;
	struct findings *f;
	uint32_t r;

	(void)state;
	world_make(&w, names, calls);
	world_start(&w, REFINE_BUDGET, 3);
	assert_string_equal(world_recorded(&w), "rac");
	f = found_new(400, 100000);
	r = found_function(f, &w, 'r', 0, 1, 1);
	doubt(f, found_function(f, &w, 'a', r, 0.04, 1), 0.02);
	doubt(f, found_function(f, &w, 'c', r, 0.04, 1), 0.005);
	doubtful_factor(f, &w, 'a', 0.04, 0.02);
	assert_int_equal(world_step(&w, f), REFINE_GOES_ON);
	assert_string_equal(world_recorded(&w), "racb");
	refinement_free(w.r);
}

/* Two places of a, 2 % -+ 2 each: 4 % -+ 2.83. */
static void test_places_add_up(void **state)
{
	static const char *const names[] = { "r", "a", "c", "b", "d", NULL };
	static const char *const calls[] = { "ra", "rc", "ca", "ab", "ad", NULL };

	(void)state;
	for (int close = 0; close < 2; close++) {
		struct world w;
		struct findings *f = found_new(400, 100000);
		double half = close ? 0.007 : 0.0072;	/* times 1.414: .99 and 1.02 points */
		uint32_t r, c;

		world_make(&w, names, calls);
		world_start(&w, REFINE_BUDGET, 3);
		r = found_function(f, &w, 'r', 0, 1, 1);
		c = found_function(f, &w, 'c', r, 0.02, 1);
		doubt(f, found_function(f, &w, 'a', c, 0.02, 1), half);
		doubt(f, found_function(f, &w, 'a', r, 0.02, 1), half);
		assert_int_equal(world_step(&w, f), close ? REFINE_NOTHING : REFINE_GOES_ON);
		refinement_free(w.r);
	}
}

/* 9 calls fit: r 1, a 4, and 4 more.  b, below what is sure, is called 4 times; d, below what is doubtful,
 * twice, and so the cheaper: b comes first all the same, then nothing fits. */
static void test_sure_comes_first(void **state)
{
	static const char *const names[] = { "r", "a", "c", "b", "d", NULL };
	static const char *const calls[] = { "ra", "rc", "ab", "cd", NULL };
	struct world w;
	struct findings *f;
	uint32_t r;

	(void)state;
	world_make(&w, names, calls);
	world_start(&w, REFINE_BUDGET, 3);
	f = found_new(400, 9 * 200 + 70);	/* 7 calls were recorded */
	r = found_function(f, &w, 'r', 0, 1, 1);
	doubt(f, found_function(f, &w, 'a', r, 0.9, 4), 0.02);
	doubt(f, found_function(f, &w, 'c', r, 0.04, 2), 0.02);
	found_factor(f, &w, 'a', 0.9);
	world_step(&w, f);
	assert_string_equal(world_recorded(&w), "rab");
	refinement_free(w.r);
}

/* All is recorded.  8 % -+ 11: the lower end must come up to 2.5 %: 400 * 4 - 400 intervals. */
static void test_closed_but_unresolved(void **state)
{
	static const char *const names[] = { "r", "a", "b", NULL };
	static const char *const calls[] = { "ra", "rb", NULL };
	struct world w;
	struct findings *f;

	(void)state;
	for (int policy = 0; policy < 2; policy++) {
		world_make(&w, names, calls);
		world_start(&w, policy ? REFINE_PAPER : REFINE_BUDGET, 3);
		w.r->levels[1] = w.r->levels[2] = REFINE_IN_INTERVALS;
		f = found_new(400, 100000);
		found_function(f, &w, 'a', found_function(f, &w, 'r', 0, 1, 1), 0.08, 1);
		doubtful_factor(f, &w, 'a', 0.08, 0.11);
		doubtful_factor(f, &w, 'b', 0.06, 0.01);
		assert_int_equal(world_step(&w, f), REFINE_UNRESOLVED);
		assert_int_equal(w.r->needed, 1200);
		assert_int_equal(w.r->verdicts.cnt, 2);
		assert_int_equal(w.r->verdicts.items[0].needed, 1200);
		assert_int_equal(w.r->verdicts.items[1].needed, 0);

		/* The other way round the answer stands, and only the second is in doubt. */
		f = found_new(400, 100000);
		found_function(f, &w, 'a', found_function(f, &w, 'r', 0, 1, 1), 0.08, 1);
		doubtful_factor(f, &w, 'a', 0.08, 0.05);
		doubtful_factor(f, &w, 'b', 0.06, 0.1);
		assert_int_equal(world_step(&w, f), REFINE_CLOSED);
		assert_int_equal(w.r->needed, 0);
		assert_true(w.r->verdicts.items[1].needed > 0);
		refinement_free(w.r);
	}
}

/* No factor is above 5 %, but 4 % -+ 12 may be well above: the half width must be 6 for an upper end of 10 %. */
static void test_nothing_but_unresolved(void **state)
{
	static const char *const names[] = { "r", "a", NULL };
	static const char *const calls[] = { "ra", NULL };
	struct world w;
	struct findings *f;

	(void)state;
	for (int sure = 0; sure < 2; sure++) {
		world_make(&w, names, calls);
		world_start(&w, REFINE_BUDGET, 3);
		f = found_new(400, 100000);
		found_function(f, &w, 'a', found_function(f, &w, 'r', 0, 1, 1), 0.04, 1);
		doubtful_factor(f, &w, 'a', 0.04, sure ? 0.06 : 0.12);
		assert_int_equal(world_step(&w, f), sure ? REFINE_NOTHING : REFINE_UNRESOLVED);
		assert_int_equal(w.r->needed, sure ? 0 : 1200);
		refinement_free(w.r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_upper_end),
		cmocka_unit_test(test_places_add_up),
		cmocka_unit_test(test_sure_comes_first),
		cmocka_unit_test(test_closed_but_unresolved),
		cmocka_unit_test(test_nothing_but_unresolved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
