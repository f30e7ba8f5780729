/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_refine_levels.c - runs take whole levels of the call graph, of three new functions at most unless one level has more.
 */
#include "tests/unit/cmocka_all.h"

#include "analysis/refine/refine_state.h"
#include "tests/unit/analysis/refine/refine_world.h"

/* The first level below the root is taken however wide it is. */
static void test_wide_census(void **state)
{
	static const char *const names[] = { "r", "a", "b", "c", "d", "e", NULL };
	static const char *const calls[] = { "ra", "rb", "rc", "rd", "de", NULL };
	struct world w;

	(void)state;
	world_make(&w, names, calls);
	world_start(&w, REFINE_BUDGET, 3);
	assert_string_equal(world_recorded(&w), "rabcd");
	refinement_free(w.r);
}

/* The first level below a body is taken whole, too; f, below that, waits for another run: b to e are more than three new functions. */
static void test_wide_scope(void **state)
{
	static const char *const names[] = { "r", "a", "b", "c", "d", "e", "f", NULL };
	static const char *const calls[] = { "ra", "ab", "ac", "ad", "ae", "bf", NULL };
	struct findings *f;
	struct world w;

	(void)state;
	world_make(&w, names, calls);
	world_start(&w, REFINE_BUDGET, 3);
	assert_string_equal(world_recorded(&w), "ra");
	f = found_new(100, 102010);
	found_function(f, &w, 'a', found_function(f, &w, 'r', 0, 1, 1), 1, 1);
	found_factor(f, &w, 'a', 1);
	assert_int_equal(world_step(&w, f), REFINE_GOES_ON);
	assert_string_equal(world_recorded(&w), "rabcde");
	refinement_free(w.r);
}

/* A level that would make it more than three does not come with the one above it: b and c are two, d and e would be four. */
static void test_deep_scope(void **state)
{
	static const char *const names[] = { "r", "a", "b", "c", "d", "e", NULL };
	static const char *const calls[] = { "ra", "ab", "ac", "bd", "ce", NULL };
	struct findings *f;
	struct world w;

	(void)state;
	world_make(&w, names, calls);
	world_start(&w, REFINE_BUDGET, 3);
	w.r->levels[world_index(&w, 'b')] = w.r->levels[world_index(&w, 'c')] = REFINE_OUT;
	f = found_new(100, 102010);
	found_function(f, &w, 'a', found_function(f, &w, 'r', 0, 1, 1), 1, 1);
	found_factor(f, &w, 'a', 1);
	assert_int_equal(world_step(&w, f), REFINE_GOES_ON);
	assert_string_equal(world_recorded(&w), "rabc");
	refinement_free(w.r);
}

/* Bodies share the levels: c and f are the first, d the second; e would be the fourth function. */
static void test_scope_of_two(void **state)
{
	static const char *const names[] = { "r", "a", "b", "c", "d", "e", "f", NULL };
	static const char *const calls[] = { "ra", "rb", "ac", "cd", "de", "bf", NULL };
	struct findings *f;
	struct world w;
	uint32_t r;

	(void)state;
	world_make(&w, names, calls);
	world_start(&w, REFINE_BUDGET, 3);
	for (const char *out = "cdef"; *out; out++)
		w.r->levels[world_index(&w, *out)] = REFINE_OUT;
	f = found_new(100, 102010);
	r = found_function(f, &w, 'r', 0, 1, 1);
	found_function(f, &w, 'a', r, 0.5, 1);
	found_function(f, &w, 'b', r, 0.5, 1);
	found_factor(f, &w, 'a', 0.5);
	found_factor(f, &w, 'b', 0.5);
	assert_int_equal(world_step(&w, f), REFINE_GOES_ON);
	assert_string_equal(world_recorded(&w), "rabcdf");
	refinement_free(w.r);
}

/* A look names b and d; d runs, so e, which it calls, was added; f takes no probe.  No census, and nothing else of the levels between. */
static void test_begin_with(void **state)
{
	static const char *const names[] = { "r", "a", "b", "c", "d", "e", "f", NULL };
	static const char *const calls[] = { "ra", "ab", "ac", "cd", "de", "df", NULL };
	bool wanted[MOST_FUNCTIONS] = { false };
	struct world w;

	(void)state;
	world_make(&w, names, calls);
	w.functions[world_index(&w, 'f')].skipped = "it is inline assembly";
	world_start(&w, REFINE_BUDGET, 3);
	for (const char *name = "bdef"; *name; name++)
		wanted[world_index(&w, *name)] = true;
	assert_int_equal(refinement_begin_with(w.r, wanted), 3);
	assert_string_equal(world_recorded(&w), "rbde");
	assert_int_equal(w.r->recorded_cnt, 4);
	assert_true(w.r->added[world_index(&w, 'd')] && !w.r->added[world_index(&w, 'a')]);
	refinement_free(w.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wide_census),
		cmocka_unit_test(test_wide_scope),
		cmocka_unit_test(test_deep_scope),
		cmocka_unit_test(test_scope_of_two),
		cmocka_unit_test(test_begin_with),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
