/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_refine_settled.c - what one run settled is no reason for another.  A probe costs 10 ns; threshold 5 %.
 */
#include "tests/unit/cmocka_all.h"

#include "analysis/refine/refine_state.h"
#include "tests/unit/analysis/refine/refine_world.h"

static const char *const server[] = { "handle", "parse", "mix", "log", NULL };
static const char *const server_calls[] = { "hp", "hm", "hl", NULL };

/*
 * m, 1,000 calls of 10 ns, is too dear for a second run, and h, 0.9 by itself, calls it.  If m was 0.02 of
 * the first run, or 0.01 to 0.024, that is the end: half the threshold is 0.025.
 */
static void test_of_no_account(void **state)
{
	static const struct { double share, high; bool small; } cases[] = {
		{ 0.020, 0, true }, { 0.030, 0, false }, { 0.017, 0.024, true }, { 0.017, 0.026, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world w;

		world_make(&w, server, server_calls);
		world_start(&w, REFINE_BUDGET, 3);
		for (int run = 0; run < 2; run++) {
			struct findings *f = found_new(100, 100000);
			uint32_t h = found_function(f, &w, 'h', 0, 1, 1);

			found_node(f, &w, NODE_BODY, 'h', h, 0.9, 0);
			found_factor(f, &w, 'h', 1);
			if (!run) {
				struct factor *m;

				found_function(f, &w, 'm', h, cases[i].share, 1000);
				m = found_factor(f, &w, 'm', cases[i].share);
				m->has_ci95 = cases[i].high > 0;
				m->ci95[1] = cases[i].high;
			}
			assert_int_equal(world_step(&w, f), !run ? REFINE_GOES_ON :
					 cases[i].small ? REFINE_CLOSED : REFINE_TOO_DEAR);
		}
		refinement_free(w.r);
	}
}

/* p was 0.01 of the variance, so what it calls, d, cannot be more and is not looked into; what l calls, e, is:
 * l may be 0.03. */
static void test_below_no_account(void **state)
{
	static const char *const names[] = { "handle", "parse", "log", "digits", "escape", NULL };
	static const char *const calls[] = { "hp", "hl", "pd", "le", NULL };
	struct world w;
	struct findings *f;
	uint32_t h;

	(void)state;
	world_make(&w, names, calls);
	world_start(&w, REFINE_BUDGET, 3);
	w.r->levels[world_index(&w, 'd')] = w.r->levels[world_index(&w, 'e')] = REFINE_OUT;
	f = found_new(100, 100000);
	h = found_function(f, &w, 'h', 0, 1, 1);
	found_node(f, &w, NODE_BODY, 'h', h, 0.9, 0);
	found_function(f, &w, 'p', h, 0.01, 1);
	found_function(f, &w, 'l', h, 0.03, 1);
	w.r->levels[world_index(&w, 'l')] = REFINE_DORMANT;	/* not recorded: h has a hidden callee */
	w.r->state->most[world_index(&w, 'l')] = 0.03;
	found_factor(f, &w, 'h', 1);
	assert_int_equal(world_step(&w, f), REFINE_GOES_ON);
	assert_string_equal(world_recorded(&w), "hple");
	refinement_free(w.r);
}

/* Earlier runs saw that p is not called: the first run records neither it nor what only it calls, d; e is l's as well.  When h's
 * own time counts, what it calls is looked into all the same. */
static void test_uncalled(void **state)
{
	static const char *const names[] = { "handle", "parse", "log", "digits", "escape", NULL };
	static const char *const calls[] = { "hp", "hl", "pd", "pe", "le", NULL };
	struct world w;
	struct findings *f;
	uint32_t h;

	(void)state;
	world_make(&w, names, calls);
	w.functions[world_index(&w, 'p')].uncalled = w.functions[world_index(&w, 'h')].uncalled = true;
	world_start(&w, REFINE_BUDGET, 3);
	assert_string_equal(world_recorded(&w), "hle");
	assert_int_equal(w.r->uncalled_cnt, 1);		/* h is a root */
	f = found_new(100, 100000);
	h = found_function(f, &w, 'h', 0, 1, 1);
	found_node(f, &w, NODE_BODY, 'h', h, 0.9, 0);
	found_function(f, &w, 'l', h, 0.01, 1);
	found_factor(f, &w, 'h', 1);
	assert_int_equal(world_step(&w, f), REFINE_GOES_ON);
	assert_string_equal(world_recorded(&w), "hplde");
	refinement_free(w.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_no_account),
		cmocka_unit_test(test_below_no_account),
		cmocka_unit_test(test_uncalled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
