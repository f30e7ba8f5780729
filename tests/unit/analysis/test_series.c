/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_series.c - drift, two populations, a handful that carries the variance: found where they are, not
 * where they are not; and what the warnings say.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "analysis/stats/latency_checks.h"
#include "tests/unit/plain_trace.h"
#include "base/banned.h"

enum { N = 4000, ROUNDS = 60 };

/* sd s of the logarithm, AR(1) with rho, around 1 ms. */
static void draw(struct numbers *n, int64_t *latencies_ns, size_t cnt, double s, double rho)
{
	double z = numbers_normal(n);

	for (size_t i = 0; i < cnt; i++) {
		z = rho * z + sqrt(1 - rho * rho) * numbers_normal(n);
		latencies_ns[i] = (int64_t)(1e6 * exp(s * z));
	}
}

/* ---- by hand ---- */

/* 500 rising latencies: n = 4 k ranks -249.5 .. 249.5; compared with the sums written out. */
static void test_kpss(void **state)
{
	int64_t latencies_ns[SERIES_MIN];
	double variance = 0, sum = 0, squares = 0, s = 0;
	struct drift d;

	(void)state;
	for (int i = 0; i < SERIES_MIN; i++)
		latencies_ns[i] = 1000 + 7 * (i % 50) + i / 5 * 5;
	d = drift_of(latencies_ns, SERIES_MIN - 1);
	assert_true(d.kpss == 0 && !d.drifts);
	for (int i = 0; i < SERIES_MIN; i++)
		latencies_ns[i] = 10 * i;
	for (int i = 0; i < SERIES_MIN; i++) {
		s += i - 249.5;
		squares += s * s;
	}
	for (int l = 0; l <= 30; l++, sum = 0) {	/* 12 (500 / 100)^.25 is 17.9: 30 lags */
		for (int i = l; i < SERIES_MIN; i++)
			sum += (i - 249.5) * (i - l - 249.5);
		variance += (l ? 2 : 1) * (1 - l / 31.0) * sum / SERIES_MIN;
	}
	d = drift_of(latencies_ns, SERIES_MIN);
	assert_true(fabs(d.kpss - squares / (500.0 * 500 * variance)) < 1e-9);
	assert_true(d.drifts && d.between > .99);
	assert_true(d.first_ns == 245 && d.last_ns == 4745);
}

/* The example of outliers.c, with 100 intervals: 96 of 1, and 6 at row 70: mean 1.05. */
static void test_carriers(void **state)
{
	int64_t latencies_ns[1500];
	struct carriers c;

	(void)state;
	for (int i = 0; i < 100; i++)
		latencies_ns[i] = i == 70 ? 6 : 1;
	c = carriers_of(latencies_ns, NULL, 100);
	assert_int_equal(c.cnt, 1);
	assert_int_equal(c.rows[0], 70);
	assert_true(fabs(c.share - 4.95 * 4.95 / (4.95 * 4.95 + 99 * .05 * .05)) < 1e-9);
	for (int i = 0; i < 1500; i++)
		latencies_ns[i] = i * 37 % 1500;
	c = carriers_of(latencies_ns, NULL, 1500);
	assert_int_equal(c.cnt, CARRIERS_MAX);
	for (size_t k = 0; k < c.cnt; k++)		/* 0 and 1499, 1 and 1498, ... */
		assert_true(latencies_ns[c.rows[k]] == (int64_t)(k / 2) || latencies_ns[c.rows[k]] == 1499 - (int64_t)(k / 2));
	assert_true(fabs(c.effective_cnt / 1500 - 5.0 / 9) < .01);	/* uniform: kurtosis 1.8 */
}

/* ---- how often ---- */

/* One in a hundred at most where nothing drifts, three at rho .9; always where it does. */
static void test_drift(void **state)
{
	struct numbers n = { 5 };
	int64_t latencies_ns[N];
	unsigned independent = 0, dependent = 0, linear = 0, step = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		draw(&n, latencies_ns, N, .5, 0);
		independent += drift_of(latencies_ns, N).drifts;
		for (size_t i = 0; i < N; i++)
			latencies_ns[i] += i >= N / 2 ? latencies_ns[i] / 2 : 0;
		step += drift_of(latencies_ns, N).drifts;
		draw(&n, latencies_ns, N, .5, .9);
		dependent += drift_of(latencies_ns, N).drifts;
		draw(&n, latencies_ns, N, .3, 0);
		for (size_t i = 0; i < N; i++)
			latencies_ns[i] += (int64_t)(.6 * (double)latencies_ns[i] * (double)i / N);
		linear += drift_of(latencies_ns, N).drifts;
	}
	if (independent > 3 || dependent > 6 || linear != ROUNDS || step != ROUNDS)
		fail_msg("%u independent, %u dependent, %u linear, %u steps", independent, dependent, linear, step);
}

/* A block is levelled by its median, not by what stands in its middle: that is ten times as long, or as short, by turns. */
static void test_levels(void **state)
{
	struct numbers n = { 11 };
	int64_t latencies_ns[N];

	(void)state;
	draw(&n, latencies_ns, N, .2, 0);
	for (int b = 0; b < 64; b++) {
		int first = N * b / 64, end = N * (b + 1) / 64;

		latencies_ns[first + (end - first) / 2] = b % 2 ? 10000000 : 100000;
	}
	assert_false(mixture_of(latencies_ns, NULL, N, true).cnt > 1);
}

static void test_mixture(void **state)
{
	struct numbers n = { 6 };
	int64_t latencies_ns[N];
	unsigned one = 0, heavy = 0, dependent = 0, two = 0, drifting = 0, flat = 0, hill = 0;

	(void)state;
	for (int round = 0; round < ROUNDS / 2; round++) {
		struct mixture m;

		draw(&n, latencies_ns, N, .3, 0);
		one += mixture_of(latencies_ns, NULL, N, drift_of(latencies_ns, N).moves).cnt > 1;
		for (size_t i = 0; i < N; i++)
			if (i % 5 == 2)
				latencies_ns[i] *= 3;
		m = mixture_of(latencies_ns, NULL, N, drift_of(latencies_ns, N).moves);
		two += m.cnt == 2 && fabs(m.weight[1] - .2) < .04 && fabs(m.centre_ns[0] / 1e6 - 1) < .15 &&
		       fabs(m.centre_ns[1] / 3e6 - 1) < .15;
		draw(&n, latencies_ns, N, 1, 0);
		heavy += mixture_of(latencies_ns, NULL, N, drift_of(latencies_ns, N).moves).cnt > 1;
		draw(&n, latencies_ns, N, .3, .9);
		dependent += mixture_of(latencies_ns, NULL, N, drift_of(latencies_ns, N).moves).cnt > 1;
		for (size_t i = N / 2; i < N; i++)
			latencies_ns[i] *= 3;		/* a step is a drift, not a kind */
		drifting += mixture_of(latencies_ns, NULL, N, true).cnt > 1;
		for (size_t i = 0; i < N; i++)
			latencies_ns[i] = 1000000 + (int64_t)(1e6 * numbers_uniform(&n));
		flat += mixture_of(latencies_ns, NULL, N, drift_of(latencies_ns, N).moves).cnt > 1;
		for (size_t i = 0; i < N; i++)
			latencies_ns[i] += (int64_t)(2e5 * numbers_uniform(&n)) - 700000;
		hill += mixture_of(latencies_ns, NULL, N, drift_of(latencies_ns, N).moves).cnt > 1;
	}
	if (one || heavy || dependent > 1 || drifting > 1 || flat || hill > 1 || two != ROUNDS / 2)
		fail_msg("%u one, %u heavy, %u dependent, %u drifting, %u flat, %u hill, %u two", one, heavy, dependent,
			 drifting, flat, hill, two);
}

/* ---- the warnings ---- */

static const char *warning_of(const struct findings *f, const char *code)
{
	for (size_t i = 0; i < f->warnings.cnt; i++)
		if (strcmp(f->warnings.items[i].code, code) == 0)
			return f->warnings.items[i].text;
	return NULL;
}

static void want_words(const struct findings *f, const char *code, const char *first, const char *second)
{
	const char *text = warning_of(f, code);

	if (!text || !strstr(text, first) || !strstr(text, second))
		fail_msg("%s: %s", code, text ? text : "no warning");
}

/* f0 makes the variance of 999 intervals, f1 that of interval 500, 300 standard deviations away. */
static void test_warnings(void **state)
{
	static int64_t times_ns[1000][2];
	_cleanup_(trace_freep) struct trace *quiet = NULL, *stall = NULL, *drift = NULL, *kinds = NULL;
	_cleanup_(findings_freep) struct findings *f = NULL, *g = NULL, *h = NULL, *k = NULL;

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		times_ns[i][0] = 1000 + (int64_t)(i * 379 % 1000);
		times_ns[i][1] = 500 + (int64_t)(i * 7 % 13);
	}
	quiet = plain_trace(times_ns[0], 1000, 2);
	f = plain_findings(quiet);
	assert_int_equal(f->warnings.cnt, 0);
	times_ns[499][1] += 90000;
	stall = plain_trace(times_ns[0], 1000, 2);
	g = plain_findings(stall);
	want_words(g, "outliers", "(500, ", "f0 is first with 100 %");
	want_words(g, "outliers", "10 of 1000 intervals carry 99 %", "--interval 500");
	/* Every share without them: f0's is what it was without the stall. */
	assert_true(plain_factor(g, "f0")->share < .1 && plain_factor(g, "f1")->share > .9);
	assert_true(plain_factor(g, "f0")->has_trimmed && plain_factor(g, "f0")->trimmed_share > .99);
	assert_true(plain_factor(g, "f1")->has_trimmed && fabs(plain_factor(g, "f1")->trimmed_share) < .01);
	assert_false(plain_factor(f, "f0")->has_trimmed);
	times_ns[499][1] -= 90000;
	for (size_t i = 0; i < 1000; i++)
		times_ns[i][1] += (int64_t)(3 * i);
	drift = plain_trace(times_ns[0], 1000, 2);
	h = plain_findings(drift);
	want_words(h, "drift", "mostly of f1", "Look for what grows");
	for (size_t i = 0; i < 1000; i++)
		times_ns[i][1] = i % 4 == 1 ? 9000 : 500;
	kinds = plain_trace(times_ns[0], 1000, 2);
	k = plain_findings(kinds);
	want_words(k, "mixture", "two populations: 75 % around", "--quantile 0.75");
	assert_null(warning_of(k, "drift"));
	assert_null(warning_of(k, "outliers"));
	assert_null(strstr(warning_of(k, "mixture"), "between"));	/* f1 is in all of them */
}

/* 25 stops of f1, every fortieth interval; then the same 25 one after another.  Ten of 25 have 10 / 25 * (1 - 25 / 1000). */
static void test_cause_or_incident(void **state)
{
	static int64_t times_ns[1000][2];

	(void)state;
	for (int close = 0; close < 2; close++) {
		_cleanup_(trace_freep) struct trace *t = NULL;
		_cleanup_(findings_freep) struct findings *f = NULL;

		for (size_t i = 0; i < 1000; i++) {
			times_ns[i][0] = 1000;
			times_ns[i][1] = (close ? i >= 500 && i < 525 : i % 40 == 7) ? 90000 : 500 + (int64_t)(i * 7 % 13);
		}
		t = plain_trace(times_ns[0], 1000, 2);
		f = plain_findings(t);
		if (close) {
			want_words(f, "outliers", "10 of 1000 intervals carry 39 %", "an incident rather than a cause");
		} else {
			assert_null(warning_of(f, "outliers"));
			assert_false(plain_factor(f, "f1")->has_trimmed);
		}
	}
}

/* Their length has another cause than the others' variance, and they are spread over the run: reported, but not as an incident. */
static void test_neither(void **state)
{
	static int64_t times_ns[1000][2];
	_cleanup_(trace_freep) struct trace *t = NULL;
	_cleanup_(findings_freep) struct findings *f = NULL;

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		times_ns[i][0] = 1000 + (int64_t)(i * 37 % 101);
		times_ns[i][1] = i % 100 == 7 ? 90000 : 500;
	}
	t = plain_trace(times_ns[0], 1000, 2);
	f = plain_findings(t);
	want_words(f, "outliers", "10 of 1000 intervals carry 99 %", "; without them f0 is first with 100 %");
	assert_null(strstr(warning_of(f, "outliers"), "incident"));
}

/* 1,280 intervals, 20 in each 64th of the run; level_ns by 64ths. */
static struct drift drift_of_levels(int64_t (*level_ns)(int block))
{
	int64_t latencies_ns[1280];

	for (int i = 0; i < 1280; i++)
		latencies_ns[i] = level_ns(i / 20) + i * 7919 % 400;
	return drift_of(latencies_ns, 1280);
}

static int64_t growing(int block)
{
	return 10000 + 100 * block;
}

static int64_t warming(int block)
{
	return block < 8 ? 12000 : 10000;
}

static int64_t changing(int block)
{
	return block < 40 ? 10000 : 12000;
}

static int64_t middle(int block)
{
	return block >= 16 && block < 32 ? 12000 : 10000;
}

static int64_t barely(int block)
{
	return 10000 + block;
}

/* A stretch of 8 of 64 is an eighth of the run. */
static void test_shapes(void **state)
{
	struct drift d = drift_of_levels(growing);

	(void)state;
	assert_true(d.drifts && d.shape == DRIFT_TREND && d.last_ns > d.first_ns);
	d = drift_of_levels(warming);
	assert_true(d.drifts && d.shape == DRIFT_START && d.from == 0 && d.until == .125 && d.within_ns > d.outside_ns);
	d = drift_of_levels(changing);
	assert_true(d.drifts && d.shape == DRIFT_LATER && d.from == .625 && d.until == 1);
	d = drift_of_levels(middle);
	assert_true(d.drifts && d.shape == DRIFT_MIDDLE && d.from == .25 && d.until == .5);
	assert_true(fabs(d.within_ns - d.outside_ns - 2000) < 50);
	d = drift_of_levels(barely);	/* it certainly moves, and too little to matter */
	assert_true(d.moves && !d.drifts && d.between < .05);
}

/* Two, three and four kinds, in equal parts, each three times as long as the one before; and no kinds. */
static void test_populations(void **state)
{
	struct numbers n = { 17 };
	int64_t latencies_ns[N];

	(void)state;
	for (size_t kinds = 1; kinds <= MIXTURE_MAX; kinds++) {
		unsigned right = 0;

		for (int round = 0; round < 20; round++) {
			struct mixture m;

			draw(&n, latencies_ns, N, .15, 0);
			for (size_t i = 0; i < N; i++)
				latencies_ns[i] *= (int64_t)pow(3, (double)(i * 7919 % kinds));
			m = mixture_of(latencies_ns, NULL, N, false);
			right += m.cnt == kinds;
			for (size_t k = 0; m.cnt == kinds && k < kinds; k++)
				right -= fabs(m.weight[k] * (double)kinds - 1) > .2;
		}
		assert_in_range(right, 19, 20);
	}
}

/* Var of a column and of the means of two groups by hand; f2 is where f1 is, and in 100 more, so it explains less. */
static void test_kinds(void **state)
{
	static int64_t times_ns[1000][3];
	_cleanup_(trace_freep) struct trace *t = NULL;
	_cleanup_(findings_freep) struct findings *f = NULL;
	double sum = 0, squares = 0, with = 0;
	char words[128];

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		double latency_ns;

		times_ns[i][0] = 500 + (int64_t)(i * 379 % 1000);
		times_ns[i][1] = i % 10 >= 3 ? 0 : 8000 + (int64_t)(i * 613 % 7000);
		times_ns[i][2] = i % 10 < 4;
		latency_ns = (double)(times_ns[i][0] + times_ns[i][1] + times_ns[i][2]);
		sum += latency_ns / 1000;
		squares += latency_ns * latency_ns / 1000;
		with += i % 10 < 3 ? latency_ns / 300 : 0;
	}
	t = plain_trace(times_ns[0], 1000, 3);
	f = plain_findings(t);
	/* .3 with + .7 without = sum, so with - without = (with - sum) / .7 */
	with = .3 * .7 * (with - sum) / .7 * (with - sum) / .7 / (squares - sum * sum);
	assert_true(with > .7 && with < .99);
	snprintf(words, sizeof(words), "(%.0f %% of the variance is between those with f1, 30 %%, and those without)",
		 100 * with);
	want_words(f, "mixture", "30 % around", words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kpss),
		cmocka_unit_test(test_carriers),
		cmocka_unit_test(test_drift),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_mixture),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_cause_or_incident), cmocka_unit_test(test_neither),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_populations),
		cmocka_unit_test(test_warnings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
