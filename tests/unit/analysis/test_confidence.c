/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_confidence.c - confidence intervals of shares: by hand, against the definition, and by simulation.
 *
 * Simulated: an interval is handle, which calls f and then g; T = X + Y.  With X and Y independent the share
 * of f is Var X / (Var X + Var Y).  A nominal 95 % interval covered .948 of the time at rho 0 and .92 at
 * rho .9, 2,000 intervals, in a simulation when the method was chosen; the formula for independent
 * intervals .47 at rho .9.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "analysis/analyze.h"
#include "analysis/stats/confidence.h"
#include "base/banned.h"
#include "tests/unit/draws.h"

/* ---- by hand ---- */

static bool near(double x, double y)
{
	return fabs(x - y) <= 1e-6 * fmax(1, fabs(y));
}

/* The example of confidence.c: se 1/4, and t(.975, 1) is 12.7062. */
static void test_two_blocks(void **state)
{
	const double blocks[] = { -0.5, 0.5 };
	struct confidence c = confidence_of(blocks, (struct block_kind){ 2, false }, 4);

	(void)state;
	assert_true(near(c.half_width, 12.706205 / 4));
	assert_int_equal(c.block_cnt, 2);
	assert_false(c.correlated);
}

/* 1 1 1 1 -1 -1 -1 -1 ...: 24 neighbours alike, 7 not, 17/32 of the squares.  Joined: 2 2 -2 -2 ..., 8 alike
 * and 7 not, 1/16.  se^2 = 16/15 * 16 * 4 / 1000^2; t(.975, 15) is 2.13145. */
static void test_joined(void **state)
{
	double blocks[32];
	struct confidence c;

	(void)state;
	for (int b = 0; b < 32; b++)
		blocks[b] = b / 4 % 2 ? -1 : 1;
	c = confidence_of(blocks, (struct block_kind){ 32, false }, 1000);
	assert_int_equal(c.block_cnt, 16);
	assert_false(c.correlated);
	assert_true(near(c.half_width, 2.1314495 * sqrt(16.0 / 15 * 64) / 1000));
	for (int b = 0; b < 32; b++)
		blocks[b] = b < 16 ? -1 : 1;
	c = confidence_of(blocks, (struct block_kind){ 32, false }, 1000);
	assert_int_equal(c.block_cnt, 16);
	assert_true(c.correlated);
}

/* The same, if they are hosts: nothing is joined.  se^2 = 32/31 * 32 / 1000^2; t(.975, 31) is 2.03951. */
static void test_hosts(void **state)
{
	double blocks[32];
	struct confidence c;

	(void)state;
	for (int b = 0; b < 32; b++)
		blocks[b] = b < 16 ? -1 : 1;
	c = confidence_of(blocks, (struct block_kind){ 32, true }, 1000);
	assert_int_equal(c.block_cnt, 32);
	assert_false(c.correlated);
	assert_true(near(c.half_width, 2.0395134 * sqrt(32.0 / 31 * 32) / 1000));
}

static void test_odd_number(void **state)
{
	double blocks[] = { 1, 2, 3, 4, 5 };

	(void)state;
	assert_int_equal(blocks_join(blocks, 5), 3);
	assert_true(blocks[0] == 3 && blocks[1] == 7 && blocks[2] == 5);
}

/* ---- whole analyses ---- */

enum { HANDLE, F, G };

struct sample {
	int64_t f_ns, g_ns;
};

/* f takes its time at two call sites, half and half. */
static struct findings *analyse(const struct sample *times, size_t cnt)
{
	static const char *const names[] = { "handle", "f", "g" };
	_cleanup_(trace_freep) struct trace *t = trace_new();
	struct analyze_options o = { .interval = NULL };
	struct findings *f = NULL;
	int64_t at = 0;

	trace_add_string(t, &t->interval_names, "r");
	VEC_ADD(&t->call_sites, "a.c:1");
	VEC_ADD(&t->call_sites, "a.c:2");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		VEC_ADD(&t->functions, (struct function){ .name = names[i], .probed = true });
	VEC_ADD(&t->calls, (struct call){ HANDLE, F, CALL_SITE_NONE, false });
	VEC_ADD(&t->calls, (struct call){ HANDLE, G, CALL_SITE_NONE, false });
	for (size_t i = 0; i < cnt; i++) {
		int64_t half = at + times[i].f_ns / 2, middle = at + times[i].f_ns;
		int64_t end = middle + times[i].g_ns;

		VEC_ADD(&t->intervals, (struct interval){ .sid = i, .status = INTERVAL_COMPLETED,
							  .start_ns = at, .end_ns = end });
		VEC_ADD(&t->segments, (struct segment){ 0, i, at, end, STATE_RUNNING, 0 });
		VEC_ADD(&t->invocations, (struct invocation){ 0, i, HANDLE, CALL_SITE_NONE, at, end, 0 });
		VEC_ADD(&t->invocations, (struct invocation){ 0, i, F, 0, at, half, 1 });
		VEC_ADD(&t->invocations, (struct invocation){ 0, i, F, 1, half, middle, 2 });
		VEC_ADD(&t->invocations, (struct invocation){ 0, i, G, CALL_SITE_NONE, middle, end, 3 });
		at = end + 10;
	}
	assert_int_equal(analyze(t, &o, &f), 0);
	return f;
}

static const struct factor *factor_of(const struct findings *f, const char *name)
{
	for (size_t i = 0; i < f->factors.cnt; i++)
		if (f->factors.items[i].kind == FACTOR_FUNCTION &&
		    strcmp(f->factors.items[i].function, name) == 0)
			return &f->factors.items[i];
	fail_msg("no factor %s", name);
	return NULL;
}

/* X and Y: 100 us each on average, with these standard deviations, each AR(1) with rho. */
static void draw(struct numbers *n, struct sample *times, size_t cnt, double sd_f, double sd_g, double rho)
{
	double f = normal(n), g = normal(n), fresh = sqrt(1 - rho * rho);

	for (size_t i = 0; i < cnt; i++) {
		f = rho * f + fresh * normal(n);
		g = rho * g + fresh * normal(n);
		times[i].f_ns = 100000 + (int64_t)(sd_f * f);
		times[i].g_ns = 100000 + (int64_t)(sd_g * g);
	}
}

/* ---- against the definition ---- */

/* Half the interval of the share of f, each interval for itself, all in long double. */
static double slow_half_width(const struct sample *times, size_t cnt, size_t block_cnt, double t_quantile)
{
	long double mean_f = 0, mean = 0, variance = 0, covariance = 0, share, squares = 0;
	long double blocks[CONFIDENCE_BLOCKS_MAX] = { 0 };

	for (size_t i = 0; i < cnt; i++) {
		mean_f += (long double)times[i].f_ns / cnt;
		mean += (long double)(times[i].f_ns + times[i].g_ns) / cnt;
	}
	for (size_t i = 0; i < cnt; i++) {
		long double x = times[i].f_ns - mean_f, t = times[i].f_ns + times[i].g_ns - mean;

		variance += t * t / cnt;
		covariance += x * t / cnt;
	}
	share = covariance / variance;
	for (size_t i = 0; i < cnt; i++) {
		long double x = times[i].f_ns - mean_f, t = times[i].f_ns + times[i].g_ns - mean;

		blocks[i * block_cnt / cnt] += (x * t - share * t * t) / variance;
	}
	for (size_t b = 0; b < block_cnt; b++)
		squares += blocks[b] * blocks[b];
	return t_quantile * (double)(sqrtl(squares * block_cnt / (block_cnt - 1)) / cnt);
}

static void test_definition(void **state)
{
	static const struct {
		size_t cnt, block_cnt;
		double t_quantile;
	} cases[] = { { 640, 64, 1.9983405 }, { 1001, 64, 1.9983405 }, { 41, 20, 2.0930241 } };
	struct numbers n = { 5 };
	struct sample times[1001];
	unsigned compared = 0;

	(void)state;
	for (unsigned round = 0; round < 60; round++) {
		size_t cnt = cases[round % 3].cnt;
		_cleanup_(findings_freep) struct findings *f = NULL;
		const struct factor *x;
		double half;

		draw(&n, times, cnt, 3000, 1000 + 100 * round, 0);
		f = analyse(times, cnt);
		x = factor_of(f, "f");
		half = slow_half_width(times, cnt, cases[round % 3].block_cnt,
				       cases[round % 3].t_quantile);
		assert_true(x->has_ci95);
		/* Blocks that happened to be alike were joined: then there are fewer. */
		compared += near(x->ci95[0], fmax(x->share - half, 0)) && near(x->ci95[1], fmin(x->share + half, 1));
		assert_in_range(x->ci95[0] * 1000, 0, 1000);
		assert_in_range(x->ci95[1] * 1000, 0, 1000);
		assert_true(f->nodes.items[0].has_ci95);
		assert_true(fabs(f->nodes.items[0].ci95[0] - 1) < 1e-9);
	}
	assert_true(compared >= 50);
}

/* ---- what it is for ---- */

static double coverage(unsigned rounds, size_t cnt, double rho)
{
	struct numbers n = { 11 };
	struct sample times[2000];
	unsigned covered = 0;

	for (unsigned round = 0; round < rounds; round++) {
		_cleanup_(findings_freep) struct findings *f = NULL;
		const struct factor *x;

		draw(&n, times, cnt, 4000, 2000, rho);
		f = analyse(times, cnt);
		x = factor_of(f, "f");
		covered += x->ci95[0] <= 0.8 && 0.8 <= x->ci95[1];	/* 16 / (16 + 4) */
	}
	return (double)covered / rounds;
}

/* Three standard deviations of 300 draws of .95 are .038; at rho .9 it was .92 (above). */
static void test_coverage(void **state)
{
	double independent = coverage(300, 640, 0), dependent = coverage(200, 2000, 0.9);

	(void)state;
	if (independent < 0.912 || independent > 0.988 || dependent < 0.87)
		fail_msg("covered %.3f, at rho .9 %.3f", independent, dependent);
}

/* f and g of equal height: which is first?  80 : 20 is clear.  50 : 50 is called in one run of ten, either
 * order at 5 %: 6 of 60, three standard deviations are 7.  55 : 45 is hardly ever called the wrong way
 * round. */
static void test_resolved(void **state)
{
	struct numbers n = { 3 };
	struct sample times[1000];
	unsigned wrong = 0, clear = 0, tied = 0, rounds = 60;

	(void)state;
	for (unsigned round = 0; round < rounds; round++) {
		_cleanup_(findings_freep) struct findings *a = NULL, *b = NULL, *c = NULL;

		draw(&n, times, 1000, 4000, 2000, 0);
		a = analyse(times, 1000);
		assert_true(factor_of(a, "f")->has_resolved);
		clear += factor_of(a, "f")->resolved && factor_of(a, "g")->resolved;
		draw(&n, times, 1000, 3000, 3000, 0);
		b = analyse(times, 1000);
		tied += factor_of(b, "f")->resolved;
		draw(&n, times, 100, 3317, 3000, 0);
		c = analyse(times, 100);
		wrong += factor_of(c, "f")->resolved &&
			 factor_of(c, "f")->share < factor_of(c, "g")->share;
	}
	if (clear != rounds || tied > 13 || wrong > rounds / 20)
		fail_msg("%u clear, %u tied, %u wrong", clear, tied, wrong);
}

static void test_nothing_to_say(void **state)
{
	struct sample times[40];
	struct numbers n = { 1 };
	_cleanup_(findings_freep) struct findings *few = NULL, *constant = NULL, *enough = NULL;

	(void)state;
	draw(&n, times, 40, 3000, 1000, 0);
	few = analyse(times, FINDINGS_INTERVALS_MIN - 1);
	assert_false(few->nodes.items[0].has_ci95);
	assert_false(factor_of(few, "f")->has_ci95 || factor_of(few, "f")->has_resolved);
	enough = analyse(times, FINDINGS_INTERVALS_MIN);
	assert_true(factor_of(enough, "f")->has_ci95);
	for (size_t i = 0; i < 40; i++)
		times[i] = (struct sample){ 10, 20 };
	constant = analyse(times, 40);
	assert_false(constant->nodes.items[0].has_ci95);
}

/* The example of intervals_needed.c, and what is below the threshold; d = 5 %. */
/* 40 -+ 10 is as it is; 3 -+ 5 begins at 0; 98 -+ 5 ends at 100; 103 -+ 5 is no part of the whole, nor is -2 -+ 5. */
static void test_cut(void **state)
{
	static const struct { double share, half, low, high; } wanted[] = {
		{ .4, .1, .3, .5 }, { .03, .05, 0, .08 }, { .98, .05, .93, 1 }, { 1.03, .05, .98, 1.08 }, { -.02, .05, -.07, .03 },
	};
	double ci95[2];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		findings_ci95(wanted[i].share, wanted[i].half, ci95);
		assert_true(near(ci95[0], wanted[i].low) && near(ci95[1], wanted[i].high));
		assert_true(near(findings_ci95_half(wanted[i].share, ci95), wanted[i].half));
	}
}

static void test_needed(void **state)
{
	_cleanup_(findings_freep) struct findings *f = findings_new();
	struct factor x = { .kind = FACTOR_FUNCTION, .share = 0.12, .has_ci95 = true,
			    .ci95 = { -0.07, 0.31 } };
	struct select_options o = { 3, 0.05, false, false };

	(void)state;
	f->interval.cnt = 400;
	assert_int_equal(factor_intervals_needed(f, &x, &o), 1200);
	x.ci95[0] = 0.03;		/* above 2.5 % */
	x.ci95[1] = 0.21;
	assert_int_equal(factor_intervals_needed(f, &x, &o), 0);
	x.share = 0.04;			/* 4 -+ 5: may come to 9 %, not to 10 */
	x.ci95[0] = -0.01;
	x.ci95[1] = 0.09;
	assert_int_equal(factor_intervals_needed(f, &x, &o), 0);
	x.ci95[0] = 0;			/* 4 -+ 6.1, cut at 0: 400 * (6.1 / 6)^2 - 400 = 13.4 */
	x.ci95[1] = 0.101;
	assert_int_equal(factor_intervals_needed(f, &x, &o), 14);
	f->interval.cnt = 29;
	assert_int_equal(factor_intervals_needed(f, &x, &o), 1);
	f->interval.cnt = 400;
	o.paper = true;			/* above by its contribution, not by its share */
	assert_int_equal(factor_intervals_needed(f, &x, &o), 0);
	x.kind = FACTOR_PAIR;
	x.has_ci95 = o.paper = false;
	assert_int_equal(factor_intervals_needed(f, &x, &o), 0);
}

/* 52 -+ 47 may be anything; half of 26 is what is asked: 400 * (47 / 26)^2 - 400 = 907, in two digits 910. */
static void test_cause_needed(void **state)
{
	_cleanup_(findings_freep) struct findings *f = findings_new();
	struct summed_cause c = { .known = true, .share = .52, .has_ci95 = true, .ci95 = { .05, .99 } };

	(void)state;
	f->interval.cnt = 400;
	assert_int_equal(cause_intervals_needed(f, &c, .05), 910);
	c.ci95[0] = .27;		/* more than a half of it */
	c.ci95[1] = .77;
	assert_int_equal(cause_intervals_needed(f, &c, .05), 0);
	c.has_ci95 = false;
	assert_int_equal(cause_intervals_needed(f, &c, .05), 0);
	f->interval.cnt = 20;
	assert_int_equal(cause_intervals_needed(f, &c, .05), 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cause_needed),
		cmocka_unit_test(test_two_blocks),
		cmocka_unit_test(test_joined), cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_odd_number),
		cmocka_unit_test(test_definition),
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_resolved),
		cmocka_unit_test(test_nothing_to_say),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
