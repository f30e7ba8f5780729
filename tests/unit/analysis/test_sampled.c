/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_sampled.c - shares of running time by samples (analysis/tree/place_samples.c, analysis/pass/sampled.c): by hand, of random requests
 * against the definition, and by simulation whether they are right on average and how far off they are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analyze.h"
#include "recorder/sample_periods.h"
#include "tests/unit/cmocka_all.h"
#include "trace/windows/slices.h"
#include "trace/windows/stream.h"

enum { THREAD = 7 };

static struct trace *new_trace(int64_t period_ns, int64_t cost_ns)
{
	struct trace *t = trace_new();

	VEC_ADD(&t->interval_names, "port 80");
	VEC_ADD(&t->chains, (struct chain){ 0, FUNCTION_NONE });
	t->look = (struct look){ .is_one = true, .sample_ns = period_ns, .sample_cost_ns = cost_ns };
	return t;
}

/* A function of that name, and the chain down to it: the number of both. */
static uint32_t function(struct trace *t, const char *name, uint32_t parent)
{
	VEC_ADD(&t->functions, (struct function){ .name = name, .probed = true });
	VEC_ADD(&t->chains, (struct chain){ parent, (uint32_t)t->functions.cnt - 1 });
	return (uint32_t)t->chains.cnt - 1;
}

static void request(struct trace *t, uint64_t sid, int64_t start_ns, int64_t end_ns)
{
	VEC_ADD(&t->intervals, (struct interval){ .sid = sid, .status = INTERVAL_COMPLETED, .start_tid = THREAD, .end_tid = THREAD,
						  .start_ns = start_ns, .end_ns = end_ns });
}

static void runs(struct trace *t, uint64_t sid, int64_t start_ns, int64_t end_ns)
{
	VEC_ADD(&t->segments, (struct segment){ THREAD, sid, start_ns, end_ns, STATE_RUNNING, 0 });
}

static void sample(struct trace *t, int64_t ns, uint32_t chain)
{
	VEC_ADD(&t->samples, (struct stack_sample){ THREAD, ns, chain });
}

static struct findings *analyzed(struct trace *t)
{
	struct analyze_options o = { .interval = NULL };
	struct findings *f = NULL;

	trace_sort(t);
	assert_int_equal(analyze(t, &o, &f), 0);
	return f;
}

/* The factor of a function; NULL: of the time in no function. */
static const struct factor *factor_of(const struct findings *f, const char *name)
{
	for (size_t i = 0; i < f->factors.cnt; i++) {
		const struct factor *x = &f->factors.items[i];

		if (name ? x->kind == FACTOR_FUNCTION && strcmp(x->function, name) == 0 : x->kind == FACTOR_BODY && !x->function)
			return x;
	}
	return NULL;
}

static void assert_share(const struct findings *f, const char *name, double share, uint64_t samples)
{
	const struct factor *x = factor_of(f, name);

	assert_non_null(x);
	if (fabs(x->share - share) > 1e-9)
		print_error("%s: share %.12f, not %.12f\n", name ? name : "(none)", x->share, share);
	assert_true(fabs(x->share - share) < 1e-9);
	assert_int_equal(x->samples, samples);
}

/* 200 requests of 20 with a sample in f at 5, 200 of 60 with one in f at 5 and three in main > g later. */
static struct trace *two_kinds(int64_t cost_ns, size_t pairs)
{
	struct trace *t = new_trace(10, cost_ns);
	uint32_t in_main = function(t, "main", 0), f = function(t, "f", in_main), g = function(t, "g", in_main);
	int64_t at_ns = 0;

	for (size_t i = 0; i < 2 * pairs; i++) {
		int64_t length_ns = i % 2 ? 60 : 20;

		request(t, i + 1, at_ns, at_ns + length_ns);
		runs(t, i + 1, at_ns, at_ns + length_ns);
		sample(t, at_ns + 5, f);
		for (int64_t k = 15; i % 2 && k < 45; k += 10)
			sample(t, at_ns + k, g);
		at_ns += 100;
	}
	return t;
}

/*
 * Var(T) = 20^2.  f: 10 in each, no covariance.  g: 30 in the slow, none in the fast: Cov = 30 * 20 / 2 = 300, of 400.  Time in no
 * sample: 10 and 60 - 40 = 20, Cov = 10 * 20 / 2 = 100.
 */
static void test_by_hand(void **state)
{
	_cleanup_(trace_freep) struct trace *t = two_kinds(0, 200);
	_cleanup_(findings_freep) struct findings *f = analyzed(t);

	(void)state;
	assert_share(f, "f", 0, 400);
	assert_share(f, "g", .75, 600);
	assert_share(f, NULL, .25, 1000);
	assert_true(f->interval.variance_ns2 == 400);
	assert_int_equal(f->nodes.items[0].samples, 0);		/* all of it is exact */
	assert_true(factor_of(f, "g")->variance_share == 0);
	assert_true(factor_of(f, "g")->has_ci95);
	for (size_t i = 0; i < f->covariances.cnt; i++) {
		assert_int_equal(f->nodes.items[f->covariances.items[i].a].samples, 0);
		assert_int_equal(f->nodes.items[f->covariances.items[i].b].samples, 0);
	}
	for (size_t i = 0; i < f->factors.cnt; i++)
		assert_int_not_equal(f->factors.items[i].kind, FACTOR_PAIR);
	assert_int_equal(f->part_pairs.cnt, 0);
}

/* With a cost of 1 the fast ones took 19, the slow ones 56: Var(T) = 18.5^2, and Cov of g is 30 * 18.5 / 2. */
static void test_cost(void **state)
{
	_cleanup_(trace_freep) struct trace *t = two_kinds(1, 200);
	_cleanup_(findings_freep) struct findings *f = analyzed(t);

	(void)state;
	assert_share(f, "g", 15 / 18.5, 600);
	assert_true(fabs(f->interval.variance_ns2 - 18.5 * 18.5) < 1e-9);
	assert_true(f->interval.mean_ns == 37.5);
	assert_int_equal(f->intervals.items[1].end_ns - f->intervals.items[1].start_ns, 56);
}

/* 60 pairs: 120 samples in f and 180 in g are too few, 300 in main are enough; 40: 200 in main, all weigh the same; 39: 195. */
static void test_too_few(void **state)
{
	static const struct { size_t pairs; bool in_main, in_g; } cases[] = {
		{ 67, true, true }, { 66, true, false }, { 60, true, false }, { 40, true, false }, { 39, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(trace_freep) struct trace *t = two_kinds(0, cases[i].pairs);
		_cleanup_(findings_freep) struct findings *f = analyzed(t);
		uint64_t told = cases[i].in_main ? 5 * cases[i].pairs : 0;
		const struct node *n;
		size_t nodes = 0;

		for (n = f->nodes.items; n < f->nodes.items + f->nodes.cnt; n++)
			nodes += n->kind == NODE_FUNCTION;
		assert_int_equal(nodes, (size_t)cases[i].in_main + cases[i].in_g);
		if (cases[i].in_g)
			assert_share(f, "g", .75, 3 * cases[i].pairs);
		if (!told)
			assert_true(f->nodes.cnt == 1);		/* all running, in no function */
		else
			assert_share(f, NULL, .25, told);
		assert_true(fabs(f->nodes.items[0].share - 1) < 1e-12);
	}
}

/* A trace is analysed in windows: the samples, and what they rest on, are in each. */
static void test_windows(void **state)
{
	_cleanup_(trace_freep) struct trace *t = two_kinds(1, 200);
	_cleanup_(analyzer_freep) struct analyzer *a = analyzer_new();
	_cleanup_(trace_slices_freep) struct trace_slices *slices = NULL;
	_cleanup_(findings_freep) struct findings *f = NULL;
	struct analyze_options o = { .interval = NULL };
	const struct trace_window *w;
	size_t before = trace_stream_records, cnt = 0;

	(void)state;
	trace_sort(t);
	trace_stream_records = 40;
	slices = trace_slices_new(t);
	for (; (w = trace_slices_next(slices)); cnt++)
		analyzer_add(a, &(struct analysis_window){ w->t, w->before_ns, w->until_ns });
	trace_stream_records = before;
	assert_true(cnt > 4);
	assert_int_equal(analyzer_finish(a, t, &o, &f), 0);
	assert_share(f, "g", 15 / 18.5, 600);
	assert_true(f->interval.mean_ns == 37.5);
}

/* Two come at once every 100: the first one's turn is 0..30, with samples in g, or without, and 10 long; the second waits for it. */
static void test_others(void **state)
{
	_cleanup_(trace_freep) struct trace *t = new_trace(10, 0);
	_cleanup_(findings_freep) struct findings *f = NULL;
	uint32_t g = function(t, "g", 0);
	bool found = false;

	(void)state;
	VEC_ADD(&t->interval_names, "port 81");
	for (size_t i = 0; i < 400; i++) {
		int64_t at_ns = (int64_t)i * 100, turn_ns = i % 2 ? 30 : 10;

		request(t, 2 * i + 1, at_ns, at_ns + turn_ns);
		t->intervals.items[2 * i].name = 1;
		request(t, 2 * i + 2, at_ns, at_ns + turn_ns + 5);
		runs(t, 2 * i + 1, at_ns, at_ns + turn_ns);
		runs(t, 2 * i + 2, at_ns + turn_ns, at_ns + turn_ns + 5);
		VEC_ADD(&t->creations, (struct creation){ THREAD, THREAD, at_ns, at_ns + turn_ns, NAME_NONE, 2 * i + 2, 0 });
		for (int64_t k = 5; i % 2 && k < 30; k += 10)
			sample(t, at_ns + k, g);
	}
	f = analyzed(t);
	assert_string_equal(f->interval.name, "port 80");
	for (size_t i = 0; i < f->nodes.cnt; i++) {
		const struct node *n = &f->nodes.items[i];

		if (n->kind == NODE_WAIT)
			assert_true(n->samples == 0 && fabs(n->share - 1) < 1e-9);
		if (n->kind == NODE_BLAME && n->function && strcmp(n->function, "g") == 0) {
			/* 30 in the slow, of a difference of 20 */
			assert_true(fabs(n->share - 1.5) < 1e-9);
			assert_int_equal(n->samples, 600);
			found = true;
		}
	}
	assert_true(found);
}

/* ---- the definition, of random requests ---- */

enum { REQUESTS = 1500, FUNCTIONS = 12 };

static uint32_t draw(uint32_t below)
{
	return (uint32_t)rand() % below;
}

struct drawn {
	uint32_t parents[FUNCTIONS + 1];	/* of chains */
	int64_t latency_ns[REQUESTS];		/* less what its samples cost */
	uint32_t in[REQUESTS][FUNCTIONS + 1];	/* samples, by chain: in that function itself */
};

static struct trace *draw_requests(struct drawn *d, int64_t period_ns, int64_t cost_ns)
{
	struct trace *t = new_trace(period_ns, cost_ns);
	static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l" };
	int64_t at_ns = 1000, next_ns = at_ns + draw((uint32_t)period_ns);

	memset(d, 0, sizeof(*d));
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		d->parents[i + 1] = i ? draw(i + 1) : 0;
		function(t, names[i], d->parents[i + 1]);
	}
	for (size_t i = 0; i < REQUESTS; i++) {
		int64_t length_ns = 200 + draw(300) + (draw(4) ? 0 : 200 + draw(1500));

		request(t, i + 1, at_ns, at_ns + length_ns);
		runs(t, i + 1, at_ns, at_ns + length_ns);
		d->latency_ns[i] = length_ns;
		for (; next_ns <= at_ns + length_ns; next_ns += period_ns) {
			/* Slow ones are in later functions. */
			uint32_t chain = draw(10) ? 1 + draw(length_ns > 500 ? FUNCTIONS : FUNCTIONS / 2) : 0;

			sample(t, next_ns, chain);
			d->in[i][chain]++;
			d->latency_ns[i] -= cost_ns;
		}
		at_ns += length_ns + 1 + draw(50);
		for (; next_ns <= at_ns; next_ns += period_ns)		/* between requests: in none */
			sample(t, next_ns, 1);
	}
	return t;
}

static uint32_t in_function(const struct drawn *d, size_t request, uint32_t chain)
{
	uint32_t cnt = d->in[request][chain];

	for (uint32_t i = chain + 1; i <= FUNCTIONS; i++)
		if (d->parents[i] == chain)
			cnt += in_function(d, request, i);
	return cnt;
}

struct defined {
	double share, effective;
	uint64_t samples;
};

static struct defined define(const struct drawn *d, uint32_t chain, int64_t period_ns)
{
	double mean = 0, variance = 0, squares = 0, fourths = 0;
	struct defined r = { 0, 0, 0 };

	for (size_t i = 0; i < REQUESTS; i++)
		mean += (double)d->latency_ns[i] / REQUESTS;
	for (size_t i = 0; i < REQUESTS; i++) {
		double deviation = (double)d->latency_ns[i] - mean;
		uint32_t cnt = in_function(d, i, chain);

		variance += deviation * deviation / REQUESTS;
		r.share += cnt * (double)period_ns * deviation / REQUESTS;
		r.samples += cnt;
		squares += cnt * deviation * deviation;
		fourths += cnt * deviation * deviation * deviation * deviation;
	}
	r.share /= variance;
	r.effective = fourths > 0 ? squares * squares / fourths : 0;
	return r;
}

static void test_definition(void **state)
{
	static struct drawn d;
	size_t told = 0, untold = 0;

	(void)state;
	srand(5);
	for (int round = 0; round < 30; round++) {
		int64_t period_ns = 150 + draw(300), cost_ns = draw(3) ? draw(40) : 0;
		_cleanup_(trace_freep) struct trace *t = draw_requests(&d, period_ns, cost_ns);
		_cleanup_(findings_freep) struct findings *f = analyzed(t);

		for (uint32_t chain = 1; chain <= FUNCTIONS; chain++) {
			const char *name = t->functions.items[chain - 1].name;
			struct defined x = define(&d, chain, period_ns);

			if (fabs(x.effective - 200) < 1e-6)
				continue;
			if (x.effective >= 200) {
				assert_share(f, name, x.share, x.samples);
				told++;
			} else {
				assert_null(factor_of(f, name));
				untold++;
			}
		}
	}
	assert_true(told > 100 && untold > 100);
}

/* ---- simulation: right on average, and off as far as it says ---- */

static double uniform(void)
{
	return ((double)rand() + .5) / ((double)RAND_MAX + 1);
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

enum scenario { LOGNORMAL, RARE, LOCKED };

struct times {
	double f_ns, g_ns, wait_ns;
};

static struct times draw_times(enum scenario what)
{
	if (what == LOGNORMAL)
		return (struct times){ 400000 * exp(.3 * normal()), 100000 + 500000 * uniform() * uniform(), 0 };
	if (what == RARE)
		return (struct times){ 300000 + 60000 * uniform(), uniform() < .1 ? 2e6 : 0, 0 };
	return (struct times){ 200000 + 400000 * uniform() * uniform(), 150000, uniform() < .3 ? 300000 * uniform() : 0 };
}

struct simulated {
	double share, low, high;	/* of f, or of g where that is rare */
	double exact;			/* what it would be with a probe in it */
};

/* In both halves of a pair together there are as many samples as in twice a mean period each, less what is lost where they begin. */
static void test_periods(void **state)
{
	struct sample_periods p = { .random = 9 };
	uint64_t random = 9, shortest = UINT64_MAX, longest = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		uint64_t holds_ns = sample_pair_holds_ns(&random), first = sample_next_period_ns(&p, 1000000);
		uint64_t second = sample_next_period_ns(&p, 1000000), both[] = { first, second };

		assert_true(holds_ns >= 80000000 && holds_ns < 120000000);
		assert_true(fabs(1e6 / ((double)first + 5000) + 1e6 / ((double)second + 5000) - 2) < 1e-5);
		for (size_t k = 0; k < 2; k++) {
			shortest = both[k] < shortest ? both[k] : shortest;
			longest = both[k] > longest ? both[k] : longest;
		}
	}
	assert_true(shortest > 900000 && shortest < 910000 && longest < 1112000 && longest > 1100000);
}

struct clock {				/* of recorder/sampler.c, which looks at the time every 50 ms */
	struct sample_periods periods;
	uint64_t random, holds_ns, held_ns;
	double to_next_ns, to_look_ns, period_ns;
};

/* As much time passes as is left, or up to the next sample: true. */
static bool ticks(struct clock *c, double *left_ns)
{
	while (c->to_next_ns > *left_ns || c->to_look_ns < c->to_next_ns) {
		double passes_ns = *left_ns < c->to_look_ns ? *left_ns : c->to_look_ns;

		*left_ns -= passes_ns;
		c->to_next_ns -= passes_ns;
		c->to_look_ns -= passes_ns;
		if (c->to_look_ns > 0)
			return false;
		c->to_look_ns = 50e6;
		c->held_ns += 50000000;
		if (c->held_ns < c->holds_ns)
			continue;
		if (!c->periods.is_second)
			c->holds_ns = sample_pair_holds_ns(&c->random);
		c->held_ns = 0;
		c->to_next_ns = c->period_ns = (double)sample_next_period_ns(&c->periods, 1000000);
	}
	*left_ns -= c->to_next_ns;
	c->to_look_ns -= c->to_next_ns;
	c->to_next_ns = c->period_ns;
	return true;
}

static struct simulated simulate(enum scenario what, size_t requests, int64_t cost_ns)
{
	_cleanup_(trace_freep) struct trace *t = new_trace(1000000, cost_ns);
	_cleanup_(findings_freep) struct findings *f = NULL;
	uint32_t in_f = function(t, "f", 0), in_g = function(t, "g", 0);
	struct clock c = { .periods = { .random = (uint64_t)rand() }, .random = (uint64_t)rand(), .to_next_ns = 1e6 * uniform(), .period_ns = 1e6 };
	double x_sum = 0, t_sum = 0, xt = 0, tt = 0;
	const struct factor *x;
	int64_t at_ns = 1000;
	struct simulated r;

	for (size_t i = 0; i < requests; i++) {
		struct times drawn = draw_times(what);
		double at, left, works = drawn.f_ns + drawn.g_ns, latency = works + drawn.wait_ns, told = what == RARE ? drawn.g_ns : drawn.f_ns;
		int64_t start_ns = at_ns, cnt = 0;

		for (left = works; ticks(&c, &left); cnt++) {
			at = works - left;
			sample(t, start_ns + (int64_t)at + cnt * cost_ns + 1, at < drawn.f_ns ? in_f : in_g);
		}
		runs(t, i + 1, start_ns, at_ns + (int64_t)works + cnt * cost_ns + 2);
		at_ns += (int64_t)works + cnt * cost_ns + 2;
		if (drawn.wait_ns > 1)
			VEC_ADD(&t->segments, (struct segment){ THREAD, i + 1, at_ns, at_ns + (int64_t)drawn.wait_ns, STATE_LOCK, 0 });
		at_ns += (int64_t)drawn.wait_ns;
		request(t, i + 1, start_ns, at_ns);
		at_ns += (int64_t)(5e5 * uniform());
		x_sum += told;
		t_sum += latency;
		xt += told * latency;
		tt += latency * latency;
	}
	f = analyzed(t);
	x = factor_of(f, what == RARE ? "g" : "f");
	assert_non_null(x);
	assert_true(x->samples > 0 && x->has_ci95);
	r = (struct simulated){ x->share, x->ci95[0], x->ci95[1],
				(xt - x_sum * t_sum / (double)requests) / (tt - t_sum * t_sum / (double)requests) };
	return r;
}

/* The mean is known to a fifth of a point or so; of the intervals 92 % hold the share that all runs have. */
static void assert_simulation(enum scenario what, size_t runs_cnt, size_t requests, int64_t cost_ns)
{
	_cleanup_(freep) struct simulated *all = xcalloc(runs_cnt, sizeof(*all));
	double error = 0, errors = 0, exact = 0;
	size_t covered = 0;

	for (size_t i = 0; i < runs_cnt; i++) {
		all[i] = simulate(what, requests, cost_ns);
		error += (all[i].share - all[i].exact) / (double)runs_cnt;
		errors += (all[i].share - all[i].exact) * (all[i].share - all[i].exact) / (double)runs_cnt;
		exact += all[i].exact / (double)runs_cnt;
	}
	for (size_t i = 0; i < runs_cnt; i++)
		covered += all[i].low <= exact && exact <= all[i].high;
	print_message("bias %.2f points of %.1f, sd %.2f; %zu of %zu intervals cover it\n", 100 * error, 100 * exact, 100 * sqrt(errors), covered,
		      runs_cnt);
	assert_true(fabs(error) < .005);
	assert_true((double)covered >= .92 * (double)runs_cnt);
}

static void test_simulation(void **state)
{
	(void)state;
	srand(3);
	assert_simulation(LOGNORMAL, 300, 5000, 0);
	assert_simulation(RARE, 150, 8000, 0);
	assert_simulation(LOCKED, 300, 5000, 30000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand), cmocka_unit_test(test_cost), cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_others), cmocka_unit_test(test_windows),
		cmocka_unit_test(test_definition), cmocka_unit_test(test_periods), cmocka_unit_test(test_simulation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
