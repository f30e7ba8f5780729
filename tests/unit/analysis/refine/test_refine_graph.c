/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_refine_graph.c - whose child is a function?  Unprobed ones are looked through, observed calls count,
 * those of functions that are left out do not.
 */
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "tests/unit/analysis/refine/refine_world.h"

/* r calls s, which cannot take a probe, and s calls t: t is looked at in its place, s is named. */
static void test_unprobed_is_looked_through(void **state)
{
	static const char *const names[] = { "r", "s", "t", NULL };
	static const char *const calls[] = { "rs", "st", "sr", NULL };
	struct world w;
	struct findings *f;

	(void)state;
	world_make(&w, names, calls);
	w.functions[1].skipped = "naked";
	world_start(&w, REFINE_PAPER, 3);
	assert_string_equal(world_recorded(&w), "r");
	f = found_new(100, 100000);
	found_function(f, &w, 'r', 0, 1, 1);
	found_factor(f, &w, 'r', 1);
	assert_int_equal(world_step(&w, f), REFINE_GOES_ON);
	assert_string_equal(world_recorded(&w), "rt");
	assert_ptr_equal(w.r->verdicts.items[0].unprobed, &w.functions[1]);
	refinement_free(w.r);
}

/* r calls a; the run shows b inside a: so a calls b, and what b calls comes next. */
static void check_observed(enum refine_policy policy)
{
	static const char *const names[] = { "r", "a", "b", "c", NULL };
	static const char *const calls[] = { "ra", "bc", NULL };
	struct world w;
	struct findings *f;

	world_make(&w, names, calls);
	world_start(&w, policy, 3);
	w.r->levels[1] = w.r->levels[2] = REFINE_IN_INTERVALS;
	f = found_new(100, 100000);
	found_function(f, &w, 'b', found_function(f, &w, 'a', found_function(f, &w, 'r', 0, 1, 1), 1, 1),
		     0.9, 1);
	VEC_ADD(&f->observed, (struct observed_call){ 101, 102 });
	VEC_ADD(&f->observed, (struct observed_call){ 101, 999 });	/* not of this project */
	found_factor(f, &w, 'b', 0.9);
	assert_int_equal(world_step(&w, f), REFINE_GOES_ON);
	assert_string_equal(world_recorded(&w), "rabc");

	/* b is a's from now on: a is open where b is not recorded. */
	w.r->levels[2] = REFINE_OUT;
	f = found_new(100, 100000);
	found_function(f, &w, 'a', found_function(f, &w, 'r', 0, 1, 1), 1, 1);
	found_factor(f, &w, 'a', 1);
	world_step(&w, f);
	assert_int_equal(w.r->verdicts.items[0].kind, policy == REFINE_PAPER ?
			 REFINE_VERDICT_DEEPER : REFINE_VERDICT_OPEN);	/* budget had that plan */
	refinement_free(w.r);
}

static void test_observed_calls(void **state)
{
	(void)state;
	check_observed(REFINE_PAPER);
	check_observed(REFINE_BUDGET);
}

/* r calls a and e, e calls c.  e is left out: neither it nor what is below it is looked at. */
static void test_left_out(void **state)
{
	static const char *const names[] = { "r", "a", "e", "c", NULL };
	static const char *const calls[] = { "ra", "re", "ec", NULL };
	struct world w;
	struct findings *f;

	(void)state;
	world_make(&w, names, calls);
	w.functions[2].left_out = true;
	world_start(&w, REFINE_BUDGET, 3);
	assert_string_equal(world_recorded(&w), "ra");
	f = found_new(100, 100000);
	found_function(f, &w, 'a', found_function(f, &w, 'r', 0, 1, 1), 0.5, 1);
	found_node(f, &w, NODE_BODY, 'r', 1, 0.5, 0);
	found_factor(f, &w, 'a', 0.5);
	assert_int_equal(world_step(&w, f), REFINE_CLOSED);
	refinement_free(w.r);
}

/* r calls i, which is looked through, i calls c: c is r's child, and nothing is said of i. */
static void test_folded(void **state)
{
	static const char *const names[] = { "r", "i", "c", NULL };
	static const char *const calls[] = { "ri", "ic", NULL };
	struct world w;
	struct findings *f;

	(void)state;
	world_make(&w, names, calls);
	w.functions[1].looked_through = true;
	world_start(&w, REFINE_BUDGET, 3);
	assert_string_equal(world_recorded(&w), "rc");
	f = found_new(100, 100000);
	found_function(f, &w, 'c', found_function(f, &w, 'r', 0, 1, 1), 1, 1);
	found_factor(f, &w, 'r', 1);
	assert_int_equal(world_step(&w, f), REFINE_CLOSED);
	assert_null(w.r->verdicts.items[0].unprobed);
	refinement_free(w.r);
}

/* r calls s and q, s hands over to g, q to h, and h to i: g is r's as well, but what q hands over to is nobody's while q is not called. */
static void check_handed_over(enum refine_policy policy)
{
	static const char *const names[] = { "r", "s", "q", "g", "h", "i", NULL };
	static const char *const calls[] = { "rih", "rhq", "rgs", "rs", "rq", "sg", "qh", "hi", NULL };
	struct world w;
	struct findings *f;

	world_make(&w, names, calls);
	world_start(&w, policy, 3);
	w.r->levels[1] = w.r->levels[2] = REFINE_IN_INTERVALS;
	w.r->levels[3] = w.r->levels[4] = w.r->levels[5] = REFINE_OUT;
	f = found_new(100, 100000);
	found_function(f, &w, 's', found_function(f, &w, 'r', 0, 1, 1), .1, 1);
	found_node(f, &w, NODE_BODY, 'r', 1, .9, 0);
	found_factor(f, &w, 'r', .9);
	assert_int_equal(world_step(&w, f), REFINE_GOES_ON);
	assert_non_null(strchr(world_recorded(&w), 'g'));
	assert_null(strpbrk(world_recorded(&w), "hi"));
	refinement_free(w.r);
}

static void test_handed_over(void **state)
{
	(void)state;
	check_handed_over(REFINE_PAPER);
	check_handed_over(REFINE_BUDGET);
}

/* Before the first run nobody knows who is called.  Earlier runs may: q was not. */
static void test_handed_over_unknown(void **state)
{
	static const char *const names[] = { "r", "q", "h", "i", NULL };
	static const char *const calls[] = { "rih", "rhq", "rq", "qh", "hi", NULL };
	struct world w;
	struct findings *f;

	(void)state;
	world_make(&w, names, calls);
	world_start(&w, REFINE_BUDGET, 3);
	assert_string_equal(world_recorded(&w), "rqhi");
	refinement_free(w.r);
	world_start(&w, REFINE_PAPER, 3);
	f = found_new(100, 100000);
	found_function(f, &w, 'r', 0, 1, 1);
	found_factor(f, &w, 'r', 1);
	assert_int_equal(world_step(&w, f), REFINE_GOES_ON);
	assert_string_equal(world_recorded(&w), "rqhi");
	refinement_free(w.r);
	w.functions[1].uncalled = true;
	world_start(&w, REFINE_BUDGET, 3);
	assert_string_equal(world_recorded(&w), "r");
	refinement_free(w.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unprobed_is_looked_through),
		cmocka_unit_test(test_observed_calls),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_folded),
		cmocka_unit_test(test_handed_over),
		cmocka_unit_test(test_handed_over_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
