/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_analysis.c - properties that hold for every trace, and sizes that no golden trace has.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "analysis/analyze.h"
#include "base/str.h"
#include "tests/oracle/random_trace.h"
#include "tests/unit/cmocka_all.h"
#include "trace/tuples/tuples.h"
#include "base/banned.h"

static struct findings *findings_of(struct trace *t)
{
	struct analyze_options o = { .interval = NULL };
	struct findings *f = NULL;

	assert_int_equal(analyze(t, &o, &f), 0);
	return f;
}

static const char *word(const char *s)
{
	return s ? s : "-";
}

/* Every number to its last bit. */
static char *findings_text(const struct findings *f)
{
	struct str s = STR_INIT;

	str_addf(&s, "%s %a %a %u\n", f->interval.name, f->interval.mean_ns,
		 f->interval.variance_ns2, f->root_height);
	for (size_t i = 0; i < f->nodes.cnt; i++) {
		const struct node *n = &f->nodes.items[i];

		str_addf(&s, "%u %u %d %s %s %d %a %a %a %a %a %d\n", n->id, n->parent, n->kind,
			 word(n->function), word(n->call_site), n->wait, n->mean_ns, n->variance_ns2,
			 n->share, n->calls_per_interval, n->presence, n->open);
	}
	for (size_t i = 0; i < f->covariances.cnt; i++)
		str_addf(&s, "%u %u %a\n", f->covariances.items[i].a, f->covariances.items[i].b,
			 f->covariances.items[i].covariance_ns2);
	for (int paper = 0; paper < 2; paper++) {
		struct select_options o = { .paper = paper, .all = true };
		_cleanup_(freep) uint32_t *order = NULL;
		size_t cnt = factors_select(f, &o, &order);

		for (size_t i = 0; i < cnt; i++) {
			const struct factor *x = &f->factors.items[order[i]];

			str_addf(&s, "%d %s %s %d %a %a %a %u\n", x->kind, word(x->function),
				 word(x->functions[1]), x->wait, x->share, x->variance_share,
				 x->paper_contribution, x->height);
			for (size_t j = 0; j < x->because_of.cnt; j++)
				str_addf(&s, "  %s %a\n", word(x->because_of.items[j].function),
					 x->because_of.items[j].share);
		}
	}
	for (size_t i = 0; i < f->warnings.cnt; i++)
		str_addf(&s, "%s: %s\n", f->warnings.items[i].code, f->warnings.items[i].text);
	return str_take(&s);
}

static void test_order_does_not_matter(void **state)
{
	(void)state;
	for (unsigned int seed = 0; seed < 400; seed++) {
		_cleanup_(trace_freep) struct trace *a = random_trace(seed, seed % 2);
		_cleanup_(trace_freep) struct trace *b = random_trace(seed, seed % 2);
		_cleanup_(findings_freep) struct findings *fa = findings_of(a), *fb = NULL;
		_cleanup_(freep) char *text_a = findings_text(fa), *text_b = NULL;

		shuffle_trace(b, seed);
		fb = findings_of(b);
		text_b = findings_text(fb);
		if (strcmp(text_a, text_b) != 0)
			fail_msg("seed %u:\n%s---\n%s", seed, text_a, text_b);
	}
}

static void test_tree_closes(void **state)
{
	(void)state;
	for (unsigned int seed = 0; seed < 400; seed++) {
		_cleanup_(trace_freep) struct trace *t = random_trace(seed, seed % 2);
		_cleanup_(findings_freep) struct findings *f = findings_of(t);
		_cleanup_(freep) double *variance = xcalloc(f->nodes.cnt + 1, sizeof(*variance));
		_cleanup_(freep) double *share = xcalloc(f->nodes.cnt + 1, sizeof(*share));

		for (size_t i = 1; i < f->nodes.cnt; i++) {
			variance[f->nodes.items[i].parent] += f->nodes.items[i].variance_ns2;
			share[f->nodes.items[i].parent] += f->nodes.items[i].share;
			assert_true(f->nodes.items[i].parent < i);
		}
		for (size_t i = 0; i < f->covariances.cnt; i++)
			variance[f->covariances.items[i].parent] +=
				2 * f->covariances.items[i].covariance_ns2;
		for (size_t i = 1; i < f->nodes.cnt; i++) {
			uint32_t p = f->nodes.items[i].parent;

			assert_true(fabs(variance[p] - f->nodes.items[p].variance_ns2) < 1e-6);
			assert_true(fabs(share[p] - f->nodes.items[p].share) < 1e-9);
		}
	}
}

/* ---- traces of one thread: interval i takes times[i][j] in function j, and `body` besides --- */

static struct trace *flat_trace(size_t row_cnt, size_t function_cnt,
				int64_t (*time)(size_t row, size_t function), int64_t body_ns)
{
	struct trace *t = trace_new();
	int64_t at_ns = 1000;

	trace_add_string(t, &t->interval_names, "req");
	for (size_t j = 0; j < function_cnt; j++) {
		struct function *f = VEC_EXTEND(&t->functions);

		f->name = arena_printf(t->arena, "f%zu", j);
		f->probed = true;
	}
	for (size_t i = 0; i < row_cnt; i++) {
		struct interval iv = { .sid = i, .status = INTERVAL_COMPLETED, .start_tid = 1,
				       .end_tid = 1, .start_ns = at_ns };
		struct segment s = { .tid = 1, .sid = i, .start_ns = at_ns };

		for (size_t j = 0; j < function_cnt; j++) {
			struct invocation inv = { .tid = 1, .sid = i, .function = (uint32_t)j,
						  .call_site = CALL_SITE_NONE, .start_ns = at_ns,
						  .order = (uint32_t)t->invocations.cnt };

			at_ns += time(i, j);
			inv.end_ns = at_ns;
			if (inv.start_ns < inv.end_ns)
				VEC_ADD(&t->invocations, inv);
		}
		at_ns += body_ns;
		iv.end_ns = s.end_ns = at_ns;
		VEC_ADD(&t->intervals, iv);
		VEC_ADD(&t->segments, s);
	}
	return t;
}

static int64_t mixed(size_t row, size_t function)
{
	return (int64_t)((row * 7919 + function * 104729 + row * function * 31) % 97);
}

static void test_constant_changes_no_variance(void **state)
{
	_cleanup_(trace_freep) struct trace *a = flat_trace(500, 4, mixed, 1);
	_cleanup_(trace_freep) struct trace *b = flat_trace(500, 4, mixed, 1000000000000);
	_cleanup_(findings_freep) struct findings *fa = findings_of(a), *fb = findings_of(b);

	(void)state;
	assert_true(fa->interval.variance_ns2 > 0);
	assert_true(fa->interval.variance_ns2 == fb->interval.variance_ns2);
	assert_true(fb->interval.mean_ns - fa->interval.mean_ns == 999999999999.0);
	assert_int_equal(fa->nodes.cnt, fb->nodes.cnt);
	for (size_t i = 0; i < fa->nodes.cnt; i++) {
		assert_true(fa->nodes.items[i].variance_ns2 == fb->nodes.items[i].variance_ns2);
		assert_true(fa->nodes.items[i].share == fb->nodes.items[i].share);
	}
	for (size_t i = 0; i < fa->covariances.cnt; i++)
		assert_true(fa->covariances.items[i].covariance_ns2 ==
			    fb->covariances.items[i].covariance_ns2);
}

/* More siblings than fit a dense table of pairs: the sum still closes. */
static int64_t one_of_many(size_t row, size_t function)
{
	return function % 40 == row ? (int64_t)function + 1 : 0;
}

static void test_many_siblings(void **state)
{
	_cleanup_(trace_freep) struct trace *t = flat_trace(40, 1100, one_of_many, 0);
	_cleanup_(findings_freep) struct findings *f = findings_of(t);
	_cleanup_(freep) double *rest = NULL;
	double sum = 0;

	(void)state;
	assert_int_equal(f->nodes.cnt, 1101);
	for (size_t i = 1; i < f->nodes.cnt; i++)
		sum += f->nodes.items[i].variance_ns2;
	for (size_t i = 0; i < f->covariances.cnt; i++)
		sum += 2 * f->covariances.items[i].covariance_ns2;
	rest = findings_other_covariances(f);
	assert_true(fabs(sum + 2 * rest[0] - f->interval.variance_ns2) < 1e-6 * f->interval.variance_ns2);
	assert_true(isnan(rest[1]));		/* all its pairs are listed */
}

enum { WIDE_ROWS = 60, WIDE_FUNCTIONS = 150 };

/* Three functions an interval that meet others each time; f0 to f9 are long, so that many pairs are above a thousandth. */
static int64_t wide(size_t row, size_t function)
{
	size_t chosen[] = { row % 10, 10 + row * 7 % 70, 80 + row * 11 % 70 };

	for (size_t i = 0; i < ARRAY_SIZE(chosen); i++)
		if (chosen[i] == function)
			return 1000 * (i == 0 ? 9 : 2) + (int64_t)(row * 7919 % 5000);
	return 0;
}

/* The definition, by the times themselves: the pairs of a thousandth and more, and no others. */
static void test_pairs_that_are_kept(void **state)
{
	_cleanup_(trace_freep) struct trace *t = flat_trace(WIDE_ROWS, WIDE_FUNCTIONS, wide, 0);
	_cleanup_(findings_freep) struct findings *f = findings_of(t);
	static double covariances[WIDE_FUNCTIONS][WIDE_FUNCTIONS];
	size_t wanted = 0;

	(void)state;
	for (size_t x = 0; x < WIDE_FUNCTIONS; x++) {
		for (size_t y = 0; y < x; y++) {
			double xy = 0, sum_x = 0, sum_y = 0;

			for (size_t row = 0; row < WIDE_ROWS; row++) {
				xy += (double)wide(row, x) * (double)wide(row, y) / WIDE_ROWS;
				sum_x += (double)wide(row, x) / WIDE_ROWS;
				sum_y += (double)wide(row, y) / WIDE_ROWS;
			}
			covariances[x][y] = covariances[y][x] = xy - sum_x * sum_y;
			wanted += fabs(2 * covariances[x][y] / f->interval.variance_ns2) >= 0.001;
		}
	}
	assert_in_range(wanted, 100, WIDE_FUNCTIONS * (WIDE_FUNCTIONS - 1) / 2 - 100);
	assert_int_equal(f->covariances.cnt, wanted);
	for (size_t i = 0; i < f->covariances.cnt; i++) {
		const struct covariance *c = &f->covariances.items[i];
		size_t x = strtoul(f->nodes.items[c->a].function + 1, NULL, 10);
		size_t y = strtoul(f->nodes.items[c->b].function + 1, NULL, 10);

		assert_true(c->a < c->b && fabs(c->share) >= 0.001);
		assert_true(fabs(c->covariance_ns2 - covariances[x][y]) < 1e-6 * f->interval.variance_ns2);
		covariances[x][y] = covariances[y][x] = NAN;		/* none stands twice */
	}
}

/*
 * 10,000 intervals: f0 10 and f1 5, but in 150 of them f0 70 and f1 45: beyond p99 there are
 * 60 more of f0 and 40 more of f1, of 100 more latency.  With 90 of them it is too few to say.
 */
static size_t slow_cnt;

static int64_t tail(size_t row, size_t function)
{
	if (row < slow_cnt)
		return function == 0 ? 70 : 45;
	return function == 0 ? 10 : 5;
}

static void test_tail_share(void **state)
{
	(void)state;
	for (int enough = 0; enough < 2; enough++) {
		_cleanup_(trace_freep) struct trace *t = NULL;
		_cleanup_(findings_freep) struct findings *f = NULL;

		slow_cnt = enough ? 150 : 90;
		t = flat_trace(enough ? 10000 : 9000, 2, tail, 0);
		f = findings_of(t);
		for (size_t i = 0; i < f->factors.cnt; i++) {
			const struct factor *x = &f->factors.items[i];

			if (x->kind != FACTOR_FUNCTION)
				continue;
			assert_int_equal(x->has_tail, enough);
			if (enough)
				assert_true(fabs(x->tail_share -
						 (x->function[1] == '0' ? 0.6 : 0.4)) < 1e-12);
		}
	}
}

/* Latencies whose squares do not fit are no latencies: left out, counted, said. */
static void test_impossible_latencies(void **state)
{
	static const char text[] = "vprof-tuples 1\n"
		"interval 1 req 1 0 1 9223372036854775807\ninterval 2 req 1 0 1 9223372036854775807\n"
		"interval 3 req 1 0 1 9223372036854775807\ninterval 4 req 1 0 1 10\n";
	_cleanup_(trace_freep) struct trace *t = NULL;
	_cleanup_(findings_freep) struct findings *f = NULL;
	bool said = false;

	(void)state;
	assert_int_equal(tuples_parse(text, strlen(text), "t", &t, NULL), 0);
	f = findings_of(t);
	assert_int_equal(f->interval.cnt, 1);
	assert_int_equal(f->interval.dropped_bad_path, 3);
	for (size_t i = 0; i < f->warnings.cnt; i++)
		said |= strcmp(f->warnings.items[i].code, "bad-path") == 0;
	assert_true(said);
}

/* Thread i waits for thread i + 1, and all are let go at the same moment: no recursion. */
/* Calls of one function from more places than are remembered: each is found again where it was. */
static void test_many_call_sites(void **state)
{
	enum { SITES = 3000, ROUNDS = 2 };
	_cleanup_(trace_freep) struct trace *t = trace_new();
	_cleanup_(findings_freep) struct findings *f = NULL;
	struct interval iv = { .sid = 1, .status = INTERVAL_COMPLETED, .start_tid = 1, .end_tid = 1,
			       .end_ns = 10 * SITES * ROUNDS };
	struct segment s = { .tid = 1, .sid = 1, .end_ns = iv.end_ns, .state = STATE_RUNNING };

	(void)state;
	iv.name = trace_add_string(t, &t->interval_names, "req");
	VEC_ADD(&t->intervals, iv);
	VEC_ADD(&t->segments, s);
	VEC_ADD(&t->functions, (struct function){ .name = "f", .probed = true });
	for (uint32_t i = 0; i < SITES; i++)
		VEC_ADD(&t->call_sites, arena_printf(t->arena, "server.c:%u", i + 1));
	for (uint32_t i = 0; i < SITES * ROUNDS; i++)
		VEC_ADD(&t->invocations, (struct invocation){ .tid = 1, .sid = 1, .call_site = i * 7 % SITES, .order = i,
							      .start_ns = 10 * i, .end_ns = 10 * i + 1 + i * 7 % SITES % 9 });
	f = findings_of(t);
	assert_int_equal(f->interval.cnt, 1);
	assert_int_equal(f->nodes.cnt, 1 + SITES + 1);		/* the interval, calls, the interval's body */
	for (size_t i = 0; i < f->nodes.cnt; i++)
		if (f->nodes.items[i].kind == NODE_FUNCTION)
			assert_true(f->nodes.items[i].calls_per_interval == ROUNDS);
}

static void test_deep_chain(void **state)
{
	enum { THREADS = 20000 };
	_cleanup_(trace_freep) struct trace *t = trace_new();
	_cleanup_(findings_freep) struct findings *f = NULL;
	struct interval iv = { .sid = 1, .status = INTERVAL_COMPLETED, .start_tid = 1, .end_tid = 1,
			       .end_ns = 100 };

	(void)state;
	iv.name = trace_add_string(t, &t->interval_names, "req");
	VEC_ADD(&t->intervals, iv);
	for (uint64_t tid = 1; tid <= THREADS; tid++) {
		struct segment s = { .tid = tid, .sid = 1, .end_ns = 100, .state = STATE_LOCK };
		struct wakeup w = { tid, tid + 1, 100 };

		VEC_ADD(&t->segments, s);
		VEC_ADD(&t->wakeups, w);
	}
	f = findings_of(t);
	assert_int_equal(f->interval.cnt, 1);
	assert_int_equal(f->interval.dropped_bad_path, 0);
}

/* f0 calls f1 calls f2 ...: heights without recursion. */
static void test_deep_call_graph(void **state)
{
	enum { FUNCTIONS = 200000 };
	_cleanup_(trace_freep) struct trace *t = trace_new();
	_cleanup_(findings_freep) struct findings *f = NULL;

	(void)state;
	trace_add_string(t, &t->interval_names, "f0");
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		struct call c = { i, i + 1, CALL_SITE_NONE, false };

		VEC_EXTEND(&t->functions)->name = arena_printf(t->arena, "f%u", i);
		if (i + 1 < FUNCTIONS)
			VEC_ADD(&t->calls, c);
	}
	f = findings_of(t);
	assert_int_equal(f->root_height, FUNCTIONS - 1);
}

/* Damaged here and there, but well formed: the analysis survives what the reader lets pass. */
static void test_any_numbers(void **state)
{
	struct random r = { 7 };

	(void)state;
	for (unsigned int n = 0; n < 4000; n++) {
		_cleanup_(trace_freep) struct trace *model = random_trace(n % 50, RANDOM_ANY);
		_cleanup_(trace_freep) struct trace *t = NULL;
		_cleanup_(freep) char *text = NULL;
		size_t len = 0;
		FILE *stream = open_memstream(&text, &len);

		tuples_write(stream, model);
		fclose(stream);
		for (int k = 0; k < 3; k++) {
			char *digit = text + random_below(&r, (uint32_t)len);

			if (*digit >= '0' && *digit <= '9')
				*digit = (char)('0' + random_below(&r, 10));
			else if (*digit == ' ' && k == 0)
				*digit = '9';
		}
		if (tuples_parse(text, len, "t", &t, NULL) == 0) {
			_cleanup_(findings_freep) struct findings *f = findings_of(t);

			assert_int_equal(f->interval.dropped_bad_path, 0);
		}
	}
}

/* 30 in full, 15 of 100 us and 15 of 120; 30 root-only, 15 of 95 and 15 of 105.  By hand:
 * means 110 and 100; s^2 = 100 * 30/29 = 103.448 and 25.8621, together 64.6552, which counts for the
 * smaller; se^2 of the ratio 1.1 is (3.44828 + 1.21 * 2.15517) / 100^2 = 6.05603e-4, se 0.0246090;
 * degrees of freedom 6.05603^2 / ((3.44828^2 + 2.60776^2) / 29) = 56.9, t 2.00254: half 0.04928.
 * The variances' ratio is 4; together they have sum d^2 = 30 * 100 + 30 * 25 = 3,750, sum d^4 = 30 *
 * 10,000 + 30 * 625 = 318,750, kurtosis 60 * 318,750 / 3,750^2 = 1.36: se^2 of the logarithm 2 * .36 / 30 =
 * 0.024, 58 degrees of freedom, t 2.00172: a factor of exp(0.31010) = 1.36356 either way. */
static void test_probing_cost(void **state)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	_cleanup_(trace_freep) struct trace *t = NULL;
	_cleanup_(findings_freep) struct findings *f = NULL, *fewer = NULL;
	static const int latencies[] = { 100000, 95000, 120000, 105000 };

	(void)state;
	str_add(&text, "vprof-tuples 1\n");
	for (int i = 0; i < 60; i++)
		str_addf(&text, "interval %d req 1 %d 1 %d\n", i + 1, i * 200000,
			 i * 200000 + latencies[i % 4]);
	assert_int_equal(tuples_parse(str_cstr(&text), text.len, "x", &t, NULL), 0);
	for (size_t i = 1; i < 60; i += 2)
		t->intervals.items[i].root_only = true;
	f = findings_of(t);
	assert_int_equal(f->interval.cnt, 30);
	assert_int_equal(f->probing.root_only_cnt, 30);
	assert_true(f->probing.measured && f->probing.has_variance);
	assert_true(fabs(f->probing.mean - 0.1) < 1e-12);
	assert_true(fabs(f->probing.mean_low - (0.1 - 0.04928)) < 2e-5);
	assert_true(fabs(f->probing.mean_high - (0.1 + 0.04928)) < 2e-5);
	assert_true(fabs(f->probing.variance - 3) < 1e-12);
	assert_true(fabs(f->probing.variance_low - (4 / 1.36356 - 1)) < 1e-4);
	assert_true(fabs(f->probing.variance_high - (4 * 1.36356 - 1)) < 1e-4);
	assert_string_equal(f->warnings.items[1].code, "probe-cost");
	t->intervals.items[0].lost = true;	/* 29 are not enough */
	fewer = findings_of(t);
	assert_false(fewer->probing.measured);
	assert_int_equal(fewer->probing.root_only_cnt, 30);
	assert_int_equal(fewer->warnings.cnt, 2);	/* few-intervals, losses */
}

/* A splitmix64 stream: the same everywhere. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* In how many of 400 runs is the truth inside the 95 % confidence interval?  Probes cost 10 us.  swing:
 * the load goes up and down by a factor of two, 50 intervals each; tail: one interval in a
 * hundred takes 5 ms more; root_only: one interval in this number is root-only. */
static unsigned int count_covered(bool swing, bool tail, uint64_t root_only_of)
{
	uint64_t random = 20;
	unsigned int inside = 0;

	for (int run = 0; run < 400; run++) {
		_cleanup_(trace_freep) struct trace *t = trace_new();
		_cleanup_(findings_freep) struct findings *f = NULL;
		uint32_t name = trace_add_string(t, &t->interval_names, "req");
		double truth, sum = 0;

		for (int i = 0; i < 800; i++) {
			int64_t start = i * 10000000LL, own = 100000 + (swing && i / 50 % 2) * 100000 +
					(int64_t)(next_random(&random) % 40000);
			bool root_only = next_random(&random) % root_only_of == 0;

			own += tail && next_random(&random) % 100 == 0 ? 5000000 : 0;
			sum += (double)own;
			VEC_ADD(&t->intervals, (struct interval){ .sid = (uint64_t)i + 1, .name = name, .status = INTERVAL_COMPLETED,
				.root_only = root_only, .weight = 1, .start_tid = 1, .end_tid = 1, .start_ns = start,
				.end_ns = start + own + (root_only ? 0 : 10000) });
		}
		truth = 10000 / (sum / 800);
		f = findings_of(t);
		assert_int_equal(f->probing.measured, !tail);	/* a tail's ratio means nothing */
		inside += !f->probing.measured || (f->probing.mean_low <= truth && truth <= f->probing.mean_high);
	}
	return inside;
}

/* 380 would be 95 %; four standard errors below are 363. */
static void test_probing_coverage(void **state)
{
	(void)state;
	assert_in_range(count_covered(true, false, 2), 363, 400);
	assert_in_range(count_covered(false, true, 2), 363, 400);
	assert_in_range(count_covered(false, true, 16), 363, 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_does_not_matter),
		cmocka_unit_test(test_tree_closes),
		cmocka_unit_test(test_constant_changes_no_variance),
		cmocka_unit_test(test_many_siblings),
		cmocka_unit_test(test_pairs_that_are_kept),
		cmocka_unit_test(test_tail_share),
		cmocka_unit_test(test_impossible_latencies),
		cmocka_unit_test(test_many_call_sites),
		cmocka_unit_test(test_deep_chain),
		cmocka_unit_test(test_deep_call_graph),
		cmocka_unit_test(test_any_numbers),
		cmocka_unit_test(test_probing_cost),
		cmocka_unit_test(test_probing_coverage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
