/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_weights.c - intervals that stand for several (record --sample auto).
 *
 * The oracle is the definition: an interval of weight 4 says what four equal ones would.  The planted cause is a load
 * that is recorded less often when it is dear: without the weights its part would be lost.
 */
#include <math.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "analysis/analyze.h"
#include "base/str.h"
#include "tests/unit/same_findings.h"
#include "trace/tuples/tuples.h"
#include "base/banned.h"

enum { FUNCTIONS = 3 };

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static struct trace *new_trace(void)
{
	static const char *const names[FUNCTIONS] = { "quiet", "busy", "same" };
	struct trace *t = trace_new();

	trace_add_string(t, &t->interval_names, "req");
	for (int i = 0; i < FUNCTIONS; i++)
		VEC_ADD(&t->functions, (struct function){ .name = names[i], .probed = true });
	return t;
}

/* The next interval of one thread: times[] in the functions one after the other, 10 ns besides. */
static void add(struct trace *t, const int64_t times_ns[FUNCTIONS], uint32_t weight, bool root_only)
{
	int64_t at = t->intervals.cnt ? t->intervals.items[t->intervals.cnt - 1].end_ns + 5 : 1000, start = at;
	uint64_t sid = t->intervals.cnt + 1;

	for (uint32_t i = 0; i < FUNCTIONS; i++, at += times_ns[i - 1])
		if (times_ns[i] && !root_only)
			VEC_ADD(&t->invocations, (struct invocation){ 1, sid, i, CALL_SITE_NONE, at,
				at + times_ns[i], (uint32_t)t->invocations.cnt });
	at += 10;
	VEC_ADD(&t->segments, (struct segment){ 1, sid, start, at, STATE_RUNNING, 0 });
	VEC_ADD(&t->intervals, (struct interval){ .sid = sid, .status = INTERVAL_COMPLETED, .weight = weight,
		.root_only = root_only, .start_tid = 1, .end_tid = 1, .start_ns = start, .end_ns = at });
}

/* In the busy half of the time `busy` varies, else `quiet`. */
static void times_of(uint64_t *random, bool is_busy, int64_t ret[FUNCTIONS])
{
	memset(ret, 0, FUNCTIONS * sizeof(*ret));
	ret[is_busy] = 1000 + (int64_t)(next_random(random) % (is_busy ? 3000 : 1500));
	ret[2] = 100 + (int64_t)(next_random(random) % 50);
}

static struct findings *findings_of(struct trace *t)
{
	struct findings *f = NULL;

	assert_int_equal(analyze(t, &(struct analyze_options){ .interval = NULL }, &f), 0);
	return f;
}

static void same(double a, double b)
{
	assert_memory_equal(&a, &b, sizeof(a));
}

static void same_shares(const struct findings *a, const struct findings *b)
{
	assert_int_equal(a->nodes.cnt, b->nodes.cnt);
	for (size_t i = 0; i < a->nodes.cnt; i++) {
		const struct node *x = &a->nodes.items[i], *y = &b->nodes.items[i];

		same(x->share, y->share);
		same(x->variance_ns2, y->variance_ns2);
		same(x->mean_ns, y->mean_ns);
		same(x->calls_per_interval, y->calls_per_interval);
		same(x->presence, y->presence);
	}
	assert_int_equal(a->covariances.cnt, b->covariances.cnt);
	for (size_t i = 0; i < a->covariances.cnt; i++)
		same(a->covariances.items[i].share, b->covariances.items[i].share);
	assert_int_equal(a->factors.cnt, b->factors.cnt);
	for (size_t i = 0; i < a->factors.cnt; i++) {
		const struct factor *x = &a->factors.items[i], *y = &b->factors.items[i];

		assert_int_equal(x->kind, y->kind);
		same(x->share, y->share);
		same(x->paper_contribution, y->paper_contribution);
		same(x->presence, y->presence);
		assert_true(x->has_tail == y->has_tail && (x->has_tail || x->kind == FACTOR_PAIR));
		if (x->has_tail)
			same(x->tail_share, y->tail_share);
	}
	assert_int_equal(a->parts.cnt, b->parts.cnt);
	for (size_t i = 0; i < a->parts.cnt; i++) {
		same(a->parts.items[i].share, b->parts.items[i].share);
		same(a->parts.items[i].slow_mean_ns, b->parts.items[i].slow_mean_ns);
		same(a->parts.items[i].fast_mean_ns, b->parts.items[i].fast_mean_ns);
		same(a->parts.items[i].slow_presence, b->parts.items[i].slow_presence);
	}
}

/* Weights 3, 6, 12, 24 in blocks of 100, against as many intervals of 1, 2, 4, 8. */
static void test_means_that_many(void **state)
{
	_cleanup_(trace_freep) struct trace *weighted = new_trace(), *repeated = new_trace(), *ignored = new_trace();
	_cleanup_(findings_freep) struct findings *w, *r, *i;
	struct analyze_options o = { .interval = NULL, .quantile = 0.9 };
	uint64_t random = 7;
	int64_t times_ns[FUNCTIONS];

	(void)state;
	for (int k = 0; k < 4000; k++) {
		int level = k / 100 % 4;

		times_of(&random, level > 1, times_ns);
		add(weighted, times_ns, 3u << level, false);
		add(ignored, times_ns, 1, false);
		for (int copy = 0; copy < 1 << level; copy++)
			add(repeated, times_ns, 0, false);
	}
	assert_int_equal(analyze(weighted, &o, &w), 0);
	assert_int_equal(analyze(repeated, &o, &r), 0);
	assert_int_equal(analyze(ignored, &o, &i), 0);
	assert_int_equal(w->interval.cnt, 4000);
	assert_int_equal(w->intervals.cnt, 4000);
	assert_int_equal(r->interval.cnt, 15000);
	same(w->interval.mean_ns, r->interval.mean_ns);
	same(w->interval.variance_ns2, r->interval.variance_ns2);
	assert_true(w->interval.p50_ns == r->interval.p50_ns && w->interval.p99_ns == r->interval.p99_ns);
	same_shares(w, r);
	assert_true(w->tail.cnt < r->tail.cnt);
	/* ... and it matters. */
	assert_true(fabs(i->factors.items[0].share - r->factors.items[0].share) > 0.03);
	assert_true(i->interval.mean_ns < 0.95 * r->interval.mean_ns);
}

/* A run whose rate never changed is not weighted, whatever the rate was. */
static void test_one_rate(void **state)
{
	_cleanup_(trace_freep) struct trace *a = new_trace(), *b = new_trace();
	_cleanup_(findings_freep) struct findings *fa = NULL, *fb = NULL;
	uint64_t random = 3;
	int64_t times_ns[FUNCTIONS];

	(void)state;
	for (int k = 0; k < 2000; k++) {
		times_of(&random, k / 50 % 2, times_ns);
		add(a, times_ns, 0, k % 16 == 15);
		add(b, times_ns, 16, k % 16 == 15);
	}
	fa = findings_of(a);
	fb = findings_of(b);
	assert_true(fa->probing.measured);
	same_findings(fa, fb);
}

static const struct factor *factor_of(const struct findings *f, const char *function)
{
	for (size_t i = 0; i < f->factors.cnt; i++)
		if (f->factors.items[i].kind == FACTOR_FUNCTION && !strcmp(f->factors.items[i].function, function))
			return &f->factors.items[i];
	return NULL;
}

enum { POPULATION = 12000, DRAWS = 150 };

/* 40 stretches, every other one busy; there one in eight is recorded, as if its calls were dear. */
static void test_unbiased(void **state)
{
	double truth, weighted = 0, ignored = 0;
	unsigned covered = 0;
	uint64_t random = 11;

	(void)state;
	{
		_cleanup_(trace_freep) struct trace *all = new_trace();
		_cleanup_(findings_freep) struct findings *f = NULL;
		int64_t times_ns[FUNCTIONS];

		for (int i = 0; i < POPULATION; i++) {
			times_of(&random, i / (POPULATION / 40) % 2, times_ns);
			add(all, times_ns, 0, false);
		}
		f = findings_of(all);
		truth = factor_of(f, "busy")->share;
	}
	for (int draw = 0; draw < DRAWS; draw++) {
		_cleanup_(trace_freep) struct trace *t = new_trace(), *plain = new_trace();
		_cleanup_(findings_freep) struct findings *f = NULL, *p = NULL;
		const struct factor *x;
		uint64_t population = 11, lot = 1000 + (uint64_t)draw;
		int64_t times_ns[FUNCTIONS];

		for (int i = 0; i < POPULATION; i++) {
			bool is_busy = i / (POPULATION / 40) % 2;

			times_of(&population, is_busy, times_ns);
			if (is_busy && next_random(&lot) % 8)
				continue;
			add(t, times_ns, is_busy ? 8 : 1, false);
			add(plain, times_ns, 0, false);
		}
		f = findings_of(t);
		p = findings_of(plain);
		x = factor_of(f, "busy");
		weighted += x->share / DRAWS;
		ignored += factor_of(p, "busy")->share / DRAWS;
		covered += x->has_ci95 && x->ci95[0] <= truth && truth <= x->ci95[1];
	}
	assert_true(fabs(weighted - truth) < 0.01);
	assert_true(fabs(ignored - truth) > 0.1);
	assert_true(covered >= DRAWS * 90 / 100);
}

/* Probes cost a tenth.  15 of 16 in full while it is quiet, 15 of 128 while intervals take three times as long. */
static void test_probing(void **state)
{
	unsigned covered = 0, covered_ignored = 0;

	(void)state;
	for (int draw = 0; draw < DRAWS; draw++) {
		_cleanup_(trace_freep) struct trace *t = new_trace(), *plain = new_trace();
		_cleanup_(findings_freep) struct findings *f = NULL, *p = NULL;
		uint64_t random = 500 + (uint64_t)draw;

		for (int i = 0; i < 6000; i++) {
			bool is_busy = i / 150 % 2;
			bool root_only = next_random(&random) % (is_busy ? 128 : 16) >= 15;
			int64_t own = (is_busy ? 30000 : 10000) + (int64_t)(next_random(&random) % 4000) - 10;
			const int64_t times_ns[FUNCTIONS] = { own + (root_only ? 0 : own / 10), 0, 0 };

			add(t, times_ns, is_busy ? 8 : 1, root_only);
			add(plain, times_ns, 0, root_only);
		}
		f = findings_of(t);
		p = findings_of(plain);
		assert_true(f->probing.measured);
		assert_int_equal(f->probing.root_only_cnt + f->interval.cnt, 6000);
		covered += f->probing.mean_low <= 0.1 && f->probing.mean_high >= 0.1;
		covered_ignored += p->probing.mean_low <= 0.1 && p->probing.mean_high >= 0.1;
		assert_true(fabs(f->probing.root_only_mean_ns / 22000 - 1) < 0.1);
	}
	assert_true(covered >= DRAWS * 93 / 100);
	assert_true(covered_ignored == 0);
}

/* The text form keeps weights, of completed intervals. */
static void test_tuples(void **state)
{
	_cleanup_(trace_freep) struct trace *t = new_trace(), *again = NULL;
	_cleanup_(freep) char *text = NULL;
	struct diag diag = DIAG_INIT;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	static const char aborted[] = "vprof-tuples 1\ninterval 1 req 1 10 1 20 aborted 4\n";

	(void)state;
	add(t, (const int64_t[]){ 5, 0, 0 }, 4, false);
	add(t, (const int64_t[]){ 5, 7, 0 }, 1, false);
	assert_int_equal(tuples_write(out, t), 0);
	fclose(out);
	assert_true(starts_with(text, "vprof-tuples 1\ninterval 1 req 1 1000 1 1015 completed 4\ninterval 2 req 1 1020 1 "));
	assert_int_equal(tuples_parse(text, len, "text", &again, &diag), 0);
	assert_int_equal(interval_weight(&again->intervals.items[0]), 4);
	assert_int_equal(interval_weight(&again->intervals.items[1]), 1);
	assert_true(tuples_parse(aborted, sizeof(aborted) - 1, "aborted", &again, &diag) < 0);
	assert_non_null(strstr(diag.text, "a WEIGHT for completed intervals only"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_means_that_many), cmocka_unit_test(test_one_rate),
		cmocka_unit_test(test_unbiased), cmocka_unit_test(test_probing), cmocka_unit_test(test_tuples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
