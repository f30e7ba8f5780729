/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_hosts.c - intervals of several hosts: the host is the block of confidence intervals; against the definition, and by simulation.
 *
 * An interval is handle, which calls f and then g; T = X + Y.
 */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "analysis/analyze.h"
#include "analysis/findings/hosts.h"
#include "analysis/stats/confidence.h"
#include "base/banned.h"
#include "tests/unit/draws.h"

enum { HANDLE, F, G };

struct sample {
	uint32_t host;
	int64_t f_ns, g_ns;
};

static bool near(double x, double y)
{
	return fabs(x - y) <= 1e-6 * fmax(1, fabs(y));
}

/* All at once: the hosts' clocks agree.  two_runs: every second interval of a host is of another run there. */
static struct findings *analyse(const struct sample *s, size_t cnt, uint32_t host_cnt, bool two_runs)
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
	for (uint32_t i = 0; i < host_cnt * (two_runs ? 2 : 1); i++) {
		char machine[16];

		snprintf(machine, sizeof(machine), "%x", i % host_cnt);
		VEC_ADD(&t->origins, (struct trace_origin){ .run = i + 1, .machine = arena_strdup(t->arena, machine), .host = "same" });
	}
	for (size_t i = 0; i < cnt; i++) {
		int64_t middle = at + s[i].f_ns, end = middle + s[i].g_ns;

		VEC_ADD(&t->intervals, (struct interval){
			.sid = i, .status = INTERVAL_COMPLETED, .start_ns = at, .end_ns = end,
			.origin = s[i].host + (two_runs && i / host_cnt % 2 ? host_cnt : 0) });
		VEC_ADD(&t->segments, (struct segment){ 0, i, at, end, STATE_RUNNING, 0 });
		VEC_ADD(&t->invocations, (struct invocation){ 0, i, HANDLE, CALL_SITE_NONE, at, end, 0 });
		VEC_ADD(&t->invocations, (struct invocation){ 0, i, F, CALL_SITE_NONE, at, middle, 1 });
		VEC_ADD(&t->invocations, (struct invocation){ 0, i, G, CALL_SITE_NONE, middle, end, 2 });
		at = end + 10;
	}
	assert_int_equal(analyze(t, &o, &f), 0);
	return f;
}

static const struct factor *f_of(const struct findings *f)
{
	for (size_t i = 0; i < f->factors.cnt; i++)
		if (f->factors.items[i].kind == FACTOR_FUNCTION && strcmp(f->factors.items[i].function, "f") == 0)
			return &f->factors.items[i];
	fail_msg("no factor f");
	return NULL;
}

static const char *warned(const struct findings *f, const char *code)
{
	for (size_t i = 0; i < f->warnings.cnt; i++)
		if (strcmp(f->warnings.items[i].code, code) == 0)
			return f->warnings.items[i].text;
	return NULL;
}

/* X and Y: 100 us each on average, sd 4 and 6 us; X of a host differs from others' by host_sd. */
static void draw(struct numbers *n, struct sample *s, size_t cnt, uint32_t host_cnt, double host_sd)
{
	double of_host[128];

	for (uint32_t h = 0; h < host_cnt; h++)
		of_host[h] = host_sd * normal(n);
	for (size_t i = 0; i < cnt; i++) {
		s[i].host = (uint32_t)(i % host_cnt);
		s[i].f_ns = 100000 + (int64_t)(of_host[s[i].host] + 4000 * normal(n));
		s[i].g_ns = 100000 + (int64_t)(6000 * normal(n));
	}
}

/* ---- against the definition ---- */

/* Half the interval of the share of f, each interval for itself, all in long double. */
static double slow_half_width(const struct sample *s, size_t cnt, const size_t *block_of, size_t block_cnt)
{
	long double mean_f = 0, mean = 0, variance = 0, covariance = 0, squares = 0;
	long double blocks[CONFIDENCE_BLOCKS_MAX] = { 0 };

	for (size_t i = 0; i < cnt; i++) {
		mean_f += (long double)s[i].f_ns / cnt;
		mean += (long double)(s[i].f_ns + s[i].g_ns) / cnt;
	}
	for (size_t i = 0; i < cnt; i++) {
		long double x = s[i].f_ns - mean_f, t = s[i].f_ns + s[i].g_ns - mean;

		variance += t * t / cnt;
		covariance += x * t / cnt;
	}
	for (size_t i = 0; i < cnt; i++) {
		long double x = s[i].f_ns - mean_f, t = s[i].f_ns + s[i].g_ns - mean;

		blocks[block_of[i]] += (x * t - covariance / variance * t * t) / variance;
	}
	for (size_t b = 0; b < block_cnt; b++)
		squares += blocks[b] * blocks[b];
	return gsl_cdf_tdist_Pinv(0.975, (double)block_cnt - 1) * (double)(sqrtl(squares * block_cnt / (block_cnt - 1)) / cnt);
}

static bool has_half_width(const struct factor *x, double half)
{
	return x->has_ci95 && near(x->ci95[0], fmax(x->share - half, 0)) && near(x->ci95[1], fmin(x->share + half, 1));
}

/* Unequal hosts: host 0 has three times as many intervals as another.  Two runs of a host are one block. */
static void test_a_host_is_a_block(void **state)
{
	static const uint32_t host_cnts[] = { 5, 6, 20, 64 };
	struct numbers n = { 5 };
	struct sample s[640];
	size_t block_of[640];

	(void)state;
	for (unsigned round = 0; round < 16; round++) {
		uint32_t hosts = host_cnts[round % 4];
		_cleanup_(findings_freep) struct findings *f = NULL;

		draw(&n, s, 640, hosts, 2000);
		for (size_t i = 0; i < 640; i++) {
			s[i].host = uniform(&n) < 2.0 / hosts ? 0 : s[i].host;
			block_of[i] = s[i].host;
		}
		f = analyse(s, 640, hosts, round % 2);
		assert_true(has_half_width(f_of(f), slow_half_width(s, 640, block_of, hosts)));
		assert_null(warned(f, "few-hosts"));
		assert_null(warned(f, "autocorrelated"));
	}
}

/* If there are more hosts than blocks, neighbours share a block: 100 hosts, host h in block 64 h / 100. */
static void test_many_hosts(void **state)
{
	struct numbers n = { 7 };
	struct sample s[700];
	size_t block_of[700];
	_cleanup_(findings_freep) struct findings *f = NULL;

	(void)state;
	draw(&n, s, 700, 100, 2000);
	for (size_t i = 0; i < 700; i++)
		block_of[i] = s[i].host * 64 / 100;
	f = analyse(s, 700, 100, false);
	assert_true(has_half_width(f_of(f), slow_half_width(s, 700, block_of, 64)));
}

/* Three hosts: stretches of time, one host after the other.  Blocks that happened to be alike were joined, so not all rounds count. */
static void test_few_hosts(void **state)
{
	struct numbers n = { 9 };
	struct sample s[639];
	size_t block_of[639];
	unsigned compared = 0;

	(void)state;
	for (unsigned round = 0; round < 20; round++) {
		_cleanup_(findings_freep) struct findings *f = NULL;

		draw(&n, s, 639, 3, 0);
		for (size_t i = 0; i < 639; i++)
			block_of[i] = (s[i].host * 213 + i / 3) * 64 / 639;
		f = analyse(s, 639, 3, false);
		compared += has_half_width(f_of(f), slow_half_width(s, 639, block_of, 64));
		assert_non_null(strstr(warned(f, "few-hosts"), "3 hosts"));
	}
	assert_true(compared >= 15);
}

/* ---- what it is for ---- */

/* Hosts differ by 3 us in f: its share over all possible hosts is (9 + 16) / (9 + 16 + 36); 183 of 200 intervals contain it, 160 by time. */
static void test_coverage(void **state)
{
	const double truth = 25.0 / 61;
	struct numbers n = { 11 };
	struct sample s[600];
	unsigned covered = 0, without = 0, rounds = 200;

	(void)state;
	for (unsigned round = 0; round < rounds; round++) {
		_cleanup_(findings_freep) struct findings *f = NULL, *one = NULL;

		draw(&n, s, 600, 20, 3000);
		f = analyse(s, 600, 20, false);
		covered += f_of(f)->ci95[0] <= truth && truth <= f_of(f)->ci95[1];
		for (size_t i = 0; i < 600; i++)
			s[i].host = 0;
		one = analyse(s, 600, 1, false);
		without += f_of(one)->ci95[0] <= truth && truth <= f_of(one)->ci95[1];
	}
	if (covered < 0.88 * rounds || without > 0.85 * rounds)
		fail_msg("%u of %u covered, %u if all were of one host", covered, rounds, without);
}

/* Hosts have no common order of time: what looks like a drift is their difference. */
static void test_no_drift(void **state)
{
	struct numbers n = { 13 };
	struct sample s[800];
	_cleanup_(findings_freep) struct findings *one = NULL, *two = NULL;

	(void)state;
	draw(&n, s, 800, 1, 0);
	for (size_t i = 400; i < 800; i++)
		s[i].f_ns += 20000;
	one = analyse(s, 800, 1, false);
	for (size_t i = 400; i < 800; i++)
		s[i].host = 1;
	two = analyse(s, 800, 2, false);
	assert_non_null(warned(one, "drift"));
	assert_null(warned(one, "few-hosts"));
	assert_null(warned(two, "drift"));
	assert_non_null(warned(two, "few-hosts"));
}

/* A machine has one id whatever it is called; where it is not known the name counts, and nobody is one host. */
static void test_who_is_a_host(void **state)
{
	static const struct trace_origin origins[] = {
		{ 1, "aa", "x", NULL, NULL }, { 2, "aa", "y", NULL, NULL }, { 3, "bb", "x", NULL, NULL }, { 4, NULL, "z", NULL, NULL },
		{ 5, NULL, NULL, NULL, NULL }, { 6, "", "z", NULL, NULL }, { 7, NULL, "", NULL, NULL },
	};
	static const uint32_t wanted[] = { 0, 0, 1, 2, 3, 2, 3 };
	uint32_t cnt;
	_cleanup_(freep) uint32_t *hosts = hosts_of_origins(origins, ARRAY_SIZE(origins), &cnt);

	(void)state;
	assert_int_equal(cnt, 4);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		assert_int_equal(hosts[i], wanted[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_host_is_a_block),
		cmocka_unit_test(test_many_hosts),
		cmocka_unit_test(test_few_hosts),
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_no_drift),
		cmocka_unit_test(test_who_is_a_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
