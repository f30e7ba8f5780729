/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_estimate.c - gains from blocks: known answers by hand, and whether a 95 % interval holds the truth as often as it says.
 *
 * Coverage.  100 random programs: an interval is two branches that meet, max((1 - s) A, B), and a tail C; A, B, C vary. The truth is
 * the same program really faster, 30,000 intervals long, with the same luck.  The experiment sees rounds of 40 intervals a block, on a machine whose
 * speed drifts from round to round, through a method that is off by up to half a point in each program.
 */
#include <math.h>
#include <string.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "tests/unit/cmocka_all.h"

#include "analysis/causal/estimate.h"
#include "base/banned.h"
#include "base/order.h"

#define near(a, b) assert_float_equal(a, b, 1e-9)

static void add_equal(block_samples *blocks, uint32_t round, uint32_t point, int64_t ns, size_t cnt)
{
	int64_t all[64];

	for (size_t i = 0; i < cnt; i++)
		all[i] = ns;
	block_samples_add(blocks, round, point, all, cnt, 1000000000, 0);
}

/* Each round is twice as slow as the one before, and in each the gain is a quarter: of that nothing is left in the interval. */
static void test_paired(void **state)
{
	block_samples blocks = { NULL, 0, 0 };
	struct experiment x = { .target = "f" };

	(void)state;
	for (uint32_t r = 1; r <= 4; r++) {
		add_equal(&blocks, r, 0, 75 << r, 3);
		add_equal(&blocks, r, POINT_BASELINE, 100 << r, 3);
	}
	estimate_gains(&blocks, 0, &(struct estimate_options){ .floor = 0.005 }, &x);
	assert_int_equal(x.rounds, 4);
	assert_int_equal(x.interval_cnt, 12);
	near(x.metrics[GAIN_MEAN].value, 75 * 30 / 4.0);
	near(x.metrics[GAIN_MEAN].gain, 0.25);
	assert_true(x.metrics[GAIN_MEAN].has_ci95);
	near(x.metrics[GAIN_MEAN].ci95[0], 0.245);
	near(x.metrics[GAIN_MEAN].ci95[1], 0.255);
	near(x.metrics[GAIN_MEAN].p_value, 2 / 16.0);	/* all four as they are, and all four swapped */
	near(x.metrics[GAIN_VARIANCE].gain, 1 - 0.75 * 0.75);
	assert_false(x.metrics[GAIN_P90].has_ci95);	/* 1.2 intervals beyond it */
	block_samples_release(&blocks);
}

/* 1 to 100 against 1 to 50 twice: nearest ranks, mean, variance; a second's 10 intervals in half a virtual second. */
static void test_values(void **state)
{
	block_samples blocks = { NULL, 0, 0 };
	struct experiment x = { .target = "f" };
	struct experiments *e = experiments_new();
	int64_t base[100], point[100];

	(void)state;
	for (int i = 0; i < 100; i++) {
		base[i] = 1 + (i * 37) % 100;
		point[i] = 1 + (i * 37) % 50;
	}
	block_samples_add(&blocks, 1, POINT_BASELINE, base, 100, 1000000000, 0);
	block_samples_add(&blocks, 1, 3, point, 100, 1000000000, 500000000);
	block_samples_add(&blocks, 2, 3, point, 100, 1000000000, 500000000);	/* without a baseline: does not count */
	estimate_gains(&blocks, 3, &(struct estimate_options){ .floor = 0.005 }, &x);
	assert_int_equal(x.rounds, 1);
	near(x.delay_ns, 1e9);
	near(x.metrics[GAIN_P50].value, 25);
	near(x.metrics[GAIN_P50].gain, 0.5);
	near(x.metrics[GAIN_P90].value, 45);
	near(x.metrics[GAIN_P99].value, 50);
	near(x.metrics[GAIN_P99].gain, 1 - 50 / 99.0);
	near(x.metrics[GAIN_P999].gain, 0.5);
	near(x.metrics[GAIN_MEAN].value, 25.5);
	near(x.metrics[GAIN_VARIANCE].value, (50 * 50 - 1) / 12.0);
	near(x.metrics[GAIN_THROUGHPUT].value, 200);
	near(x.metrics[GAIN_THROUGHPUT].gain, 1);
	assert_false(x.metrics[GAIN_MEAN].has_ci95);	/* one round */
	estimate_baseline(&blocks, e);
	assert_int_equal(e->baseline_cnt, 100);
	near(e->baseline[GAIN_P99], 99);
	near(e->baseline[GAIN_MEAN], 50.5);
	near(e->baseline[GAIN_VARIANCE], (100 * 100 - 1) / 12.0);
	near(e->baseline[GAIN_THROUGHPUT], 100);
	experiments_free(e);
	block_samples_release(&blocks);
}

static void test_nothing(void **state)
{
	block_samples blocks = { NULL, 0, 0 };
	struct experiment x = { .target = "f" };
	struct experiments *e = experiments_new();

	(void)state;
	estimate_gains(&blocks, 0, &(struct estimate_options){ .floor = 0.005 }, &x);
	block_samples_add(&blocks, 1, 0, NULL, 0, 1000, 0);
	block_samples_add(&blocks, 1, POINT_BASELINE, NULL, 0, 1000, 0);
	estimate_gains(&blocks, 0, &(struct estimate_options){ .floor = 0.005 }, &x);
	estimate_baseline(&blocks, e);
	assert_int_equal(x.rounds, 0);
	assert_false(x.metrics[GAIN_MEAN].known);
	assert_int_equal(e->baseline_cnt, 0);
	experiments_free(e);
	block_samples_release(&blocks);
}

/* Seven rounds say 10 %; in the eighth, other work took the machine while the point's block ran. */
static void test_set_aside(void **state)
{
	block_samples blocks = { NULL, 0, 0 };
	struct experiment x = { .target = "f" };

	(void)state;
	for (uint32_t r = 1; r <= 8; r++) {
		add_equal(&blocks, r, POINT_BASELINE, 1000 + r, 5);
		add_equal(&blocks, r, 0, r == 8 ? 9000 : 900 + r, 5);
	}
	estimate_gains(&blocks, 0, &(struct estimate_options){ .floor = 0.005 }, &x);
	assert_int_equal(x.rounds, 7);
	assert_int_equal(x.set_aside, 1);
	near(x.metrics[GAIN_MEAN].gain, 1 - 904 / 1004.0);
	block_samples_release(&blocks);
}

static void set_p(struct experiments *e, double speedup, double p)
{
	struct experiment x = { .target = "f", .speedup = speedup };

	x.metrics[GAIN_P50] = (struct gain){ .known = true, .has_ci95 = true, .p_value = p };
	VEC_ADD(&e->list, x);
}

/* .01 of three: .03; .03 of the two left: .06; .04, but not below that.  Another speedup is another question. */
static void test_holm(void **state)
{
	struct experiments *e = experiments_new();
	const double want[] = { 0.03, 0.06, 0.5, 0.06 };

	(void)state;
	set_p(e, 0.5, 0.01);
	set_p(e, 0.5, 0.04);
	set_p(e, 0.75, 0.5);
	set_p(e, 0.5, 0.03);
	estimate_adjust(e);
	for (size_t i = 0; i < 4; i++)
		near(e->list.items[i].metrics[GAIN_P50].p_value, want[i]);
	experiments_free(e);
}

static void test_floor(void **state)
{
	struct experiment x = { .speedup = 0.001 };

	(void)state;
	near(estimate_floor(NULL, 4e6, 5000), 0.005);
	near(estimate_floor(NULL, 1e5, 5000), 0.1);	/* 5 us at each end of 100 us */
	x.metrics[GAIN_P50] = (struct gain){ .has_ci95 = true, .gain = -0.03, .ci95 = { -0.04, -0.02 } };
	near(estimate_floor(&x, 4e6, 5000), 0.02);	/* it costs 2 points, beyond noise */
	x.metrics[GAIN_P50].ci95[1] = 0.01;
	near(estimate_floor(&x, 4e6, 5000), 0.005);
}

static void test_best(void **state)
{
	struct experiments *e = experiments_new();

	(void)state;
	e->metric = GAIN_P50;
	set_p(e, 0.5, 0);
	set_p(e, 0.5, 0);
	e->list.items[0].metrics[GAIN_P50].gain = 0.4;	/* may be nothing */
	e->list.items[0].metrics[GAIN_P50].ci95[0] = -0.1;
	experiments_choose_best(e);
	assert_true(e->best == SIZE_MAX);
	e->list.items[1].metrics[GAIN_P50].gain = 0.2;
	e->list.items[1].metrics[GAIN_P50].ci95[0] = 0.1;
	experiments_choose_best(e);
	assert_int_equal(e->best, 1);
	assert_int_equal(estimate_default_metric(29), GAIN_P50);
	assert_int_equal(estimate_default_metric(30), GAIN_MEAN);
	experiments_free(e);
}

/* ---- coverage ---- */

enum { SEEDS = 100, HELD_MIN = 97, TRUTH_CNT = 30000, BLOCK_CNT = 40 };

struct program {
	gsl_rng *random;
	double a, b, c, spread;		/* medians in ns, sigma of their logarithms */
	double off;			/* what the method is off, a part of the latency */
	double drift;
};

static int64_t one_interval(const struct program *p, double speedup)
{
	double a = p->a * exp(gsl_ran_gaussian(p->random, p->spread)) * (1 - speedup);
	double b = p->b * exp(gsl_ran_gaussian(p->random, p->spread));
	double c = p->c * exp(gsl_ran_gaussian(p->random, p->spread));

	return (int64_t)(fmax(a, b) + c);
}

struct truth {
	double mean, p50;		/* gains */
};

/* As one_interval(), with and without the speedup. */
static struct truth really(const struct program *p, double speedup)
{
	_cleanup_(freep) int64_t *before = xcalloc(TRUTH_CNT, sizeof(*before)), *after = xcalloc(TRUTH_CNT, sizeof(*after));
	double sums[2] = { 0, 0 };

	for (size_t i = 0; i < TRUTH_CNT; i++) {
		double a = p->a * exp(gsl_ran_gaussian(p->random, p->spread)), b = p->b * exp(gsl_ran_gaussian(p->random, p->spread));
		double c = p->c * exp(gsl_ran_gaussian(p->random, p->spread));

		sums[0] += (double)(before[i] = (int64_t)(fmax(a, b) + c));
		sums[1] += (double)(after[i] = (int64_t)(fmax(a * (1 - speedup), b) + c));
	}
	qsort(before, TRUTH_CNT, sizeof(*before), compare_int64);
	qsort(after, TRUTH_CNT, sizeof(*after), compare_int64);
	return (struct truth){ 1 - sums[1] / sums[0], 1 - (double)after[TRUTH_CNT / 2] / (double)before[TRUTH_CNT / 2] };
}

static void run_block(struct program *p, block_samples *blocks, uint32_t round, uint32_t point, double speedup)
{
	int64_t all[BLOCK_CNT];
	double speed = p->drift * (1 + gsl_ran_gaussian(p->random, 0.01)), off = speedup > 0 ? 1 + p->off : 1;

	for (size_t i = 0; i < BLOCK_CNT; i++)
		all[i] = (int64_t)((double)one_interval(p, speedup) * speed * off);
	block_samples_add(blocks, round, point, all, BLOCK_CNT, 1000000000, 0);
}

static bool holds(const struct gain *g, double truth)
{
	return g->has_ci95 && g->ci95[0] <= truth && truth <= g->ci95[1];
}

/* Counts the intervals that hold the truth, of the mean and of the median. */
static void try_seed(unsigned seed, size_t rounds, unsigned held[2], double *ret_width)
{
	struct program p = { .random = gsl_rng_alloc(gsl_rng_mt19937) };
	block_samples blocks = { NULL, 0, 0 };
	struct experiment x = { .target = "f", .speedup = 0.5 };
	struct truth truth;

	gsl_rng_set(p.random, seed);
	p.a = 1e6 * gsl_ran_flat(p.random, 1, 5);
	p.b = 1e6 * gsl_ran_flat(p.random, 1, 3);
	p.c = 1e6 * gsl_ran_flat(p.random, 0.1, 2);
	p.spread = gsl_ran_flat(p.random, 0.02, 0.5);
	p.off = gsl_ran_flat(p.random, -0.005, 0.005);
	truth = really(&p, 0.5);
	for (uint32_t r = 1; r <= rounds; r++) {
		p.drift = exp(gsl_ran_gaussian(p.random, 0.1));
		run_block(&p, &blocks, r, 0, 0.5);
		run_block(&p, &blocks, r, POINT_BASELINE, 0);
	}
	estimate_gains(&blocks, 0, &(struct estimate_options){ .draws = 120, .floor = estimate_floor(NULL, 0, 0) }, &x);
	held[0] += holds(&x.metrics[GAIN_MEAN], truth.mean);
	held[1] += holds(&x.metrics[GAIN_P50], truth.p50);
	*ret_width += (x.metrics[GAIN_P50].ci95[1] - x.metrics[GAIN_P50].ci95[0]) / SEEDS;
	block_samples_release(&blocks);
	gsl_rng_free(p.random);
}

static void test_coverage(void **state)
{
	static const size_t rounds[] = { 6, 16 };

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(rounds); k++) {
		unsigned held[2] = { 0, 0 };
		double width = 0;

		for (unsigned seed = 1; seed <= SEEDS; seed++)
			try_seed(seed, rounds[k], held, &width);
		print_message("%zu rounds: of %d intervals of the mean %u hold the truth, of the median %u (%.1f points wide)\n", rounds[k],
			      SEEDS, held[0], held[1], 100 * width);
		assert_true(held[0] >= HELD_MIN);
		assert_true(held[1] >= HELD_MIN);
		assert_true(width < 0.2);		/* one that is never wrong since it says nothing would pass, too */
	}
}

/* About one in twenty of 200 targets without any effect looks as if it had one, no more. */
static void test_no_effect(void **state)
{
	unsigned false_cnt = 0, median_cnt = 0;

	(void)state;
	for (unsigned seed = 1; seed <= 200; seed++) {
		struct program p = { gsl_rng_alloc(gsl_rng_mt19937), 1e6, 5e6, 1e6, 0.2, 0, 1 };
		block_samples blocks = { NULL, 0, 0 };
		struct experiment x = { .target = "f", .speedup = 0.5 };

		gsl_rng_set(p.random, seed);
		for (uint32_t r = 1; r <= 8; r++) {
			p.drift = exp(gsl_ran_gaussian(p.random, 0.1));
			run_block(&p, &blocks, r, 0, 0.5);
			run_block(&p, &blocks, r, POINT_BASELINE, 0);
		}
		estimate_gains(&blocks, 0, &(struct estimate_options){ .draws = 40, .floor = 0.005 }, &x);
		false_cnt += x.metrics[GAIN_MEAN].p_value < 0.05;
		median_cnt += x.metrics[GAIN_P50].p_value < 0.05;
		block_samples_release(&blocks);
		gsl_rng_free(p.random);
	}
	print_message("no effect: p of the mean is below .05 in %u of 200, of the median in %u\n", false_cnt, median_cnt);
	assert_in_range(false_cnt, 2, 20);
	assert_in_range(median_cnt, 2, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paired), cmocka_unit_test(test_values), cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_set_aside), cmocka_unit_test(test_holm), cmocka_unit_test(test_floor),
		cmocka_unit_test(test_best), cmocka_unit_test(test_coverage), cmocka_unit_test(test_no_effect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
