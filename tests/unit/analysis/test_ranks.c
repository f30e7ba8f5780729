/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_ranks.c - ranks that hold, and the confidence intervals of pairs and of the paper's contributions.
 *
 * An interval is handle, which calls f and g at random in length; T = X + Y + 7 of handle's own.  The pair's
 * interval is compared with the definition, each interval for itself in long double.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "analysis/analyze.h"
#include "analysis/factors/ranks.h"
#include "base/banned.h"

enum { HANDLE, F, G, INTERVALS = 640, BLOCKS = 64 };
#define T_63 1.9983405			/* Student's t, 63 degrees, .975 */

struct sample {
	int64_t f_ns, g_ns;
};

static struct findings *analyse(const struct sample *samples, size_t cnt)
{
	static const char *const names[] = { "handle", "f", "g" };
	_cleanup_(trace_freep) struct trace *t = trace_new();
	struct analyze_options o = { .interval = NULL };
	struct findings *f = NULL;
	int64_t at = 0;

	trace_add_string(t, &t->interval_names, "r");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		VEC_ADD(&t->functions, (struct function){ .name = names[i], .probed = true });
	VEC_ADD(&t->calls, (struct call){ HANDLE, F, CALL_SITE_NONE, false });
	VEC_ADD(&t->calls, (struct call){ HANDLE, G, CALL_SITE_NONE, false });
	for (size_t i = 0; i < cnt; i++) {
		int64_t middle = at + samples[i].f_ns, last = middle + samples[i].g_ns, end = last + 7;

		VEC_ADD(&t->intervals, (struct interval){ .sid = i, .status = INTERVAL_COMPLETED,
							  .start_ns = at, .end_ns = end });
		VEC_ADD(&t->segments, (struct segment){ 0, i, at, end, STATE_RUNNING, 0 });
		VEC_ADD(&t->invocations, (struct invocation){ 0, i, HANDLE, CALL_SITE_NONE, at, end, 0 });
		VEC_ADD(&t->invocations, (struct invocation){ 0, i, F, CALL_SITE_NONE, at, middle, 1 });
		VEC_ADD(&t->invocations, (struct invocation){ 0, i, G, CALL_SITE_NONE, middle, last, 2 });
		at = end + 10;
	}
	assert_int_equal(analyze(t, &o, &f), 0);
	return f;
}

static const struct factor *factor_of(const struct findings *f, enum factor_kind kind, const char *name)
{
	for (size_t i = 0; i < f->factors.cnt; i++)
		if (f->factors.items[i].kind == kind &&
		    strcmp(f->factors.items[i].function, name) == 0)
			return &f->factors.items[i];
	fail_msg("no factor %s", name);
	return NULL;
}

/* ---- against the definition ---- */

struct columns {
	size_t cnt;
	long double x[INTERVALS], y[INTERVALS], t[INTERVALS], variance;
};

static void centre(long double *column, size_t cnt)
{
	long double mean = 0;

	for (size_t i = 0; i < cnt; i++)
		mean += column[i] / cnt;
	for (size_t i = 0; i < cnt; i++)
		column[i] -= mean;
}

static void columns_of(const struct sample *samples, struct columns *c)
{
	c->cnt = INTERVALS;
	c->variance = 0;
	for (size_t i = 0; i < c->cnt; i++) {
		c->x[i] = samples[i].f_ns;
		c->y[i] = samples[i].g_ns;
		c->t[i] = samples[i].f_ns + samples[i].g_ns;
	}
	centre(c->x, c->cnt);
	centre(c->y, c->cnt);
	centre(c->t, c->cnt);
	for (size_t i = 0; i < c->cnt; i++)
		c->variance += c->t[i] * c->t[i] / c->cnt;
}

/* times sum of a b, divided by n Var(T), and half of its interval; blocks that are alike stay apart here. */
static long double slow_interval(const struct columns *c, const long double *a, const long double *b,
				 double times, long double *ret_half)
{
	long double value = 0, blocks[BLOCKS] = { 0 }, squares = 0;

	for (size_t i = 0; i < c->cnt; i++)
		value += times * a[i] * b[i] / c->variance / c->cnt;
	for (size_t i = 0; i < c->cnt; i++)
		blocks[i * BLOCKS / c->cnt] += (times * a[i] * b[i] - value * c->t[i] * c->t[i]) / c->variance;
	for (size_t b_ = 0; b_ < BLOCKS; b_++)
		squares += blocks[b_] * blocks[b_];
	*ret_half = T_63 * sqrtl(squares * BLOCKS / (BLOCKS - 1)) / c->cnt;
	return value;
}

static bool near(double x, long double y)
{
	return fabsl(x - y) <= 1e-6L * fmaxl(1, fabsl(y));
}

static void test_pair(void **state)
{
	struct sample samples[INTERVALS];
	static struct columns c;
	unsigned equal = 0, rounds = 20;

	(void)state;
	for (unsigned round = 0; round < rounds; round++) {
		_cleanup_(findings_freep) struct findings *f = NULL;
		const struct factor *pair, *own;
		uint64_t number = round;
		long double half, half_own, value, value_own;

		for (size_t i = 0; i < INTERVALS; i++) {
			number = number * 6364136223846793005ULL + 1442695040888963407ULL;
			/* Long and hardly varying: squares would lose their digits as doubles. */
			samples[i].f_ns = 4000000000LL + (int64_t)(number >> 52);
			samples[i].g_ns = samples[i].f_ns / 2 % 1000 + (int64_t)(number >> 40) % 999;
		}
		f = analyse(samples, INTERVALS);
		columns_of(samples, &c);
		pair = factor_of(f, FACTOR_PAIR, "f");
		own = factor_of(f, FACTOR_FUNCTION, "f");
		value = slow_interval(&c, c.x, c.y, 2, &half);
		value_own = slow_interval(&c, c.x, c.x, 1, &half_own);
		assert_true(pair->has_ci95 && pair->has_paper_ci95 && own->has_paper_ci95);
		assert_true(near(pair->share, value) && near(own->paper_contribution, value_own));
		assert_true(near(pair->ci95[0] + pair->ci95[1], 2 * value));
		assert_true(near(own->paper_ci95[0] + own->paper_ci95[1], 2 * value_own));
		assert_true(pair->ci95[0] == pair->paper_ci95[0]);
		/* Blocks that happened to be alike were joined: then the interval is another. */
		equal += near(pair->ci95[1], value + half) && near(own->paper_ci95[1], value_own + half_own);
	}
	assert_true(equal >= 12);
}

/* ---- by hand ---- */

/* f and g with blocks -1, 1 and 1, -1 in turn: shares .5 and .4, w 10 a block, n = 320. */
static void two_candidates(struct ranking *r, struct findings *f, double second)
{
	double first_blocks[32], second_blocks[32], weight[32];
	struct confidence c = { 1, 32, false };

	f->interval.cnt = 320;
	VEC_ADD(&f->factors, (struct factor){ .function = "f", .share = .5, .specificity = 4, .score = 2 });
	VEC_ADD(&f->factors, (struct factor){ .function = "g", .share = second, .specificity = 4,
					      .score = 4 * second });
	for (int b = 0; b < 32; b++) {
		first_blocks[b] = b % 2 ? 1 : -1;
		second_blocks[b] = -first_blocks[b];
		weight[b] = 10;
	}
	r->f = f;
	ranking_add(r, 0, .5, c, first_blocks, 32);
	ranking_add(r, 1, second, c, second_blocks, 32);
	ranking_resolve(r, weight, 32);
}

/*
 * f + d and g - d with d = sum F / 320, sd sqrt(32) / 320 = .0177: at .5 and .4 the distance .1 is
 * 2.8 sd of the difference .0354, so f is first in 99.8 % of the draws.
 */
static void test_order_holds(void **state)
{
	_cleanup_(findings_freep) struct findings *f = findings_new();
	struct ranking r = { .f = NULL };

	(void)state;
	two_candidates(&r, f, .4);
	for (size_t i = 0; i < 2; i++) {
		const struct candidate *c = &r.candidates.items[i];

		assert_true(c->resolved && c->needed == 0);
		assert_int_equal(c->rank, i);
		assert_int_equal(c->low, i + 1);
		assert_int_equal(c->high, i + 1);
	}
	ranking_release(&r);
}

/*
 * At .48 the distance .02 is .56 sd.  Blocks 4 F - 4 F' are -8, 8: se^2 = 32/31 * 32 * 64 / 320^2 and
 * the distance of the scores .08: (1.96 se / .08)^2 = 12.39 times as many: 320 * 11.39 = 3,645, rounded up.
 */
static void test_order_in_doubt(void **state)
{
	_cleanup_(findings_freep) struct findings *f = findings_new();
	struct ranking r = { .f = NULL };

	(void)state;
	two_candidates(&r, f, .48);
	for (size_t i = 0; i < 2; i++) {
		const struct candidate *c = &r.candidates.items[i];

		assert_false(c->resolved);
		assert_int_equal(c->low, 1);
		assert_int_equal(c->high, 2);
		assert_int_equal(c->needed, 3700);
	}
	ranking_release(&r);
}

/* By contribution the pair (f, g) may stand before f: T = 2 X, so Var f is a quarter, the pair a half. */
static void test_paper_ranks(void **state)
{
	_cleanup_(findings_freep) struct findings *f = NULL;
	struct sample samples[INTERVALS];
	const struct factor *pair, *own;

	(void)state;
	for (size_t i = 0; i < INTERVALS; i++)
		samples[i].f_ns = samples[i].g_ns = 100 + (int64_t)(i * 7919 % 1000);
	f = analyse(samples, INTERVALS);
	pair = factor_of(f, FACTOR_PAIR, "f");
	own = factor_of(f, FACTOR_FUNCTION, "f");
	assert_true(near(pair->paper_contribution, .5) && near(own->paper_contribution, .25));
	assert_true(near(own->share, .5) && near(factor_gain(own), .75));
	assert_true(pair->has_paper_resolved && pair->paper_resolved);
	assert_true(own->has_paper_resolved && !pair->has_resolved && !pair->has_presence);
	assert_true(own->presence == 1);
	/* All of it is exact: no draw moves anything. */
	assert_true(pair->ci95[1] - pair->ci95[0] < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pair),
		cmocka_unit_test(test_order_holds),
		cmocka_unit_test(test_order_in_doubt),
		cmocka_unit_test(test_paper_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
