/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_refine_cost.c - what probes cost: reckoned, then learnt.  10 ns reckoned, 1 ns dormant.
 */
#include <math.h>

#include "tests/unit/cmocka_all.h"

#include "tests/unit/analysis/refine/refine_world.h"

static const char *const names[] = { "r", "a", "b", NULL };
static const char *const calls[] = { "ra", "rb", NULL };

/* r 1 call, a as often as given; of 400 intervals with that mean and standard deviation. */
static struct findings *run_of(const struct world *w, double a_calls, double mean_ns, double sd_ns)
{
	struct findings *f = found_new(400, mean_ns);

	f->interval.variance_ns2 = sd_ns * sd_ns;
	found_function(f, w, 'a', found_function(f, w, 'r', 0, 1, 1), 0.9, a_calls);
	found_factor(f, w, 'a', 0.9);
	return f;
}

static void begin(struct world *w)
{
	world_make(w, names, calls);
	world_start(w, REFINE_PAPER, 3);
	w->r->levels[1] = REFINE_IN_INTERVALS;
}

static void expect_probe_ns(const struct world *w, double wanted)
{
	if (fabs(w->r->probe_ns - wanted) > 1e-9)
		fail_msg("%g ns, not %g", w->r->probe_ns, wanted);
}

/* 1,001 calls and 100 us, then 1 call and 70 us: 30 ns a call. */
static void test_two_runs(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	world_step(&w, run_of(&w, 1000, 100000, 1000));
	expect_probe_ns(&w, 10);
	assert_true(fabs(w.r->cost - 1001 * 10 / 100000.0) < 1e-9);
	world_step(&w, run_of(&w, 0, 70000, 1000));
	expect_probe_ns(&w, 30);
	assert_true(fabs(w.r->cost - 30 / 70000.0) < 1e-9);
	refinement_free(w.r);
}

/* Each makes the second run say nothing: as many calls; a difference within chance (4 standard errors are
 * 4 * sqrt(2 * 4e10 / 400) = 56,569 ns); fewer calls that take longer. */
static void test_not_believed(void **state)
{
	static const double cases[][3] = {
		{ 950, 70000, 1000 }, { 0, 60000, 200000 }, { 0, 130000, 1000 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world w;

		begin(&w);
		world_step(&w, run_of(&w, 1000, 100000, cases[i][2]));
		world_step(&w, run_of(&w, cases[i][0], cases[i][1], cases[i][2]));
		expect_probe_ns(&w, 10);
		refinement_free(w.r);
	}
}

/* Never less than reckoned, at most four times that. */
static void test_bounds(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	world_step(&w, run_of(&w, 1000, 100000, 1000));
	world_step(&w, run_of(&w, 0, 95000, 1000));	/* 5 ns */
	expect_probe_ns(&w, 10);
	refinement_free(w.r);
	begin(&w);
	world_step(&w, run_of(&w, 1000, 200000, 1000));
	world_step(&w, run_of(&w, 0, 50000, 1000));	/* 150 ns */
	expect_probe_ns(&w, 40);
	refinement_free(w.r);
}

/* 1,001 probes, in full 100 us, root-only 79.98 us: 20 ns, from one run. */
static void test_lot(void **state)
{
	struct world w;
	struct findings *f;

	(void)state;
	begin(&w);
	f = run_of(&w, 1000, 100000, 1000);
	f->probing.measured = true;
	f->probing.root_only_mean_ns = 100000 - 1001 * 20;
	f->probing.mean = 0.25;
	f->probing.mean_low = -0.01;	/* may be chance */
	world_step(&w, f);
	expect_probe_ns(&w, 10);
	f = run_of(&w, 1000, 100000, 1000);
	f->probing.measured = true;
	f->probing.root_only_mean_ns = 100000 - 1001 * 20;
	f->probing.mean_low = 0.2;
	world_step(&w, f);
	expect_probe_ns(&w, 20);
	refinement_free(w.r);
}

/* The budget goes by what was learnt.  5 % of 90,000 are 4,500: a, b and r, 1 + 200 + 200 calls, fit at 10 ns,
 * and at 20 ns, 8,020 of what remains, they do not. */
static void test_budget(void **state)
{
	(void)state;
	for (int learnt = 0; learnt < 2; learnt++) {
		struct world w;
		struct findings *f = found_new(400, 94010);
		uint32_t r;

		world_make(&w, names, calls);
		world_start(&w, REFINE_BUDGET, 3);
		r = found_function(f, &w, 'r', 0, 1, 1);
		found_function(f, &w, 'a', r, 0.9, 200);
		found_function(f, &w, 'b', r, 0.1, 200);
		found_factor(f, &w, 'a', 0.9);
		f->probing.measured = learnt;
		f->probing.mean_low = 0.01;
		f->probing.root_only_mean_ns = 94010 - 401 * 20;
		assert_int_equal(world_step(&w, f), learnt ? REFINE_GOES_ON : REFINE_CLOSED);
		assert_string_equal(world_recorded(&w), learnt ? "ra" : "rab");
		refinement_free(w.r);
	}
}

/*
 * b comes once in 1,000 intervals and calls c 100,000 times: 100 calls an interval are 1 us of 100, 1 %.
 * But c takes 20 ns with its probe of 10, and is 0.3 of the variance, and 0.2 are others in the queue
 * for it: 0.25 of the variance is probes.  c goes, b stays; then the rest is too dear.
 */
static void test_cost_of_variance(void **state)
{
	static const char *const rare[] = { "r", "b", "c", NULL };
	static const char *const rare_calls[] = { "rb", "bc", NULL };
	struct world w;

	(void)state;
	world_make(&w, rare, rare_calls);
	world_start(&w, REFINE_BUDGET, 3);
	for (int run = 0; run < 2; run++) {
		struct findings *f = found_new(10000, 100000);
		uint32_t b = found_function(f, &w, 'b', found_function(f, &w, 'r', 0, 0.8, 1), 0.8,
					    0.001), wait;

		f->nodes.items[b].mean_ns = 6000;
		f->nodes.items[b - 1].mean_ns = 80000;
		assert_string_equal(world_recorded(&w), run ? "rb" : "rbc");
		if (!run) {
			f->nodes.items[found_function(f, &w, 'c', b, 0.3, 100)].mean_ns = 2000;
			wait = found_node(f, &w, NODE_WAIT, 'r', 0, 0.2, 0);
			f->nodes.items[wait].wait = STATE_QUEUE;
			found_node(f, &w, NODE_BLAME, 'c', wait, 0.2, 0);
		}
		found_factor(f, &w, 'b', 0.8);
		assert_int_equal(world_step(&w, f), run ? REFINE_TOO_DEAR : REFINE_GOES_ON);
		assert_true(w.r->cost < 0.02);
	}
	refinement_free(w.r);
}

/*
 * 101 calls an interval: 1.01 us of probes are 1 % of 100 us, and the run is the answer.  But if 90 of these
 * are others' turn, they are 10 % of the 10 that are left, and a is left out of another run.
 */
static void test_outside_queue(void **state)
{
	struct world w;

	(void)state;
	for (int queue = 0; queue < 2; queue++) {
		struct findings *f;
		uint32_t wait;

		world_make(&w, names, calls);
		world_start(&w, REFINE_BUDGET, 3);
		f = run_of(&w, 100, 100000, 1000);
		wait = found_node(f, &w, NODE_WAIT, 'r', 0, 0, 0);
		f->nodes.items[wait].wait = queue ? STATE_QUEUE : STATE_LOCK;
		f->nodes.items[wait].mean_ns = 90000;
		assert_int_equal(world_step(&w, f), queue ? REFINE_GOES_ON : REFINE_CLOSED);
		assert_true(fabs(w.r->queue - queue * 0.9) < 1e-9);
		assert_true(fabs(w.r->cost - (queue ? 0.101 : 0.0101)) < 1e-9);
		assert_string_equal(world_recorded(&w), queue ? "rb" : "rab");
		refinement_free(w.r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_runs),
		cmocka_unit_test(test_not_believed),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_lot),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_cost_of_variance),
		cmocka_unit_test(test_outside_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
