/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_refine.c - what to record next, on trees small enough to follow by hand.
 *
 * A probe costs 10 ns here and a dormant one 1 ns; the threshold is 5 %.
 */
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "tests/unit/analysis/refine/refine_world.h"

/* ---- budget ---- */

static const char *const server[] = { "handle", "parse", "mix", "log", NULL };
static const char *const server_calls[] = { "hp", "hm", "hl", NULL };

/* Mean 100 us.  parse 1, mix 1000, log 2 calls, handle 1: 10,040 ns.  Without them 89,960 ns, of
 * which 5 % are 4,498: handle, parse and log are 40, mix does not fit and is dormant for 1,000. */
static void test_hot_function_is_left_out(void **state)
{
	struct world w;
	struct findings *f;
	uint32_t h;

	(void)state;
	world_make(&w, server, server_calls);
	world_start(&w, REFINE_BUDGET, 3);
	assert_string_equal(world_recorded(&w), "hpml");
	f = found_new(100, 100000);
	h = found_function(f, &w, 'h', 0, 1, 1);
	found_function(f, &w, 'p', h, 0.01, 1);
	found_function(f, &w, 'm', h, 0.02, 1000);
	found_function(f, &w, 'l', h, 0.95, 2);
	found_factor(f, &w, 'l', 0.95);
	assert_int_equal(world_step(&w, f), REFINE_GOES_ON);
	assert_true(w.r->cost > 0.1003 && w.r->cost < 0.1005);
	assert_string_equal(world_recorded(&w), "hpl");
	assert_int_equal(w.r->levels[world_index(&w, 'm')], REFINE_DORMANT);
	assert_int_equal(w.r->dormant_cnt, 1);

	f = found_new(100, 91000);	/* 40 + 1,000 dormant of 91,000 */
	h = found_function(f, &w, 'h', 0, 1, 1);
	found_node(f, &w, NODE_BODY, 'h', h, 0.04, 0);
	found_function(f, &w, 'p', h, 0.01, 1);
	found_function(f, &w, 'l', h, 0.95, 2);
	found_factor(f, &w, 'l', 0.95);
	assert_int_equal(world_step(&w, f), REFINE_CLOSED);
	assert_true(w.r->cost > 0.0114 && w.r->cost < 0.0115);
	assert_int_equal(w.r->verdicts.cnt, 1);
	assert_int_equal(w.r->verdicts.items[0].kind, REFINE_VERDICT_END);
	refinement_free(w.r);
}

/* The same, but what varies is the body that holds mix: it calls too often, whatever is dropped. */
static void test_too_dear(void **state)
{
	struct world w;
	struct findings *f;
	uint32_t h;

	(void)state;
	world_make(&w, server, server_calls);
	world_start(&w, REFINE_BUDGET, 3);
	for (int run = 0; run < 2; run++) {
		f = found_new(100, 100000);
		h = found_function(f, &w, 'h', 0, 1, 1);
		found_node(f, &w, NODE_BODY, 'h', h, run ? 0.9 : 0.1, 0);
		if (!run)
			found_function(f, &w, 'm', h, 0.8, 1000);
		found_factor(f, &w, 'h', 1);
		assert_int_equal(world_step(&w, f), run ? REFINE_TOO_DEAR : REFINE_GOES_ON);
	}
	assert_int_equal(w.r->verdicts.items[0].kind, REFINE_VERDICT_OPEN);
	refinement_free(w.r);
}

/* The latency goes up and down, so that m, 1,000 calls of 10 ns, fits every other time.  It is tried
 * twice; that the last plan is a new one, because l is out of it, does not help.  80 intervals are too
 * few for all of it in one of two. */
static void test_in_and_out(void **state)
{
	struct world w;
	struct findings *f;
	uint32_t h, mix;

	(void)state;
	world_make(&w, server, server_calls);
	world_start(&w, REFINE_BUDGET, 3);
	mix = world_index(&w, 'm');
	for (int run = 0; run < 4; run++) {
		bool recorded = w.r->levels[mix] >= REFINE_IN_INTERVALS;

		f = found_new(80, recorded ? 100000 : 1000000);
		h = found_function(f, &w, 'h', 0, 1, 1);
		found_node(f, &w, NODE_BODY, 'h', h, 0.9, 0);
		if (recorded) {
			found_function(f, &w, 'm', h, 0.1, 1000);
			found_function(f, &w, 'l', h, 0, run == 2 ? 5000 : 1);
		}
		found_factor(f, &w, 'h', 1);
		assert_int_equal(recorded, run == 0 || run == 2);
		assert_int_equal(world_step(&w, f), run == 3 ? REFINE_TOO_DEAR : REFINE_GOES_ON);
	}
	refinement_free(w.r);
}

/* a's own part is large; c, which it calls, was recorded and never called: what is below c stays out. */
static void test_below_never_called(void **state)
{
	static const char *const names[] = { "r", "a", "c", "d", "e", NULL };
	static const char *const calls[] = { "ra", "ac", "cd", "ae", NULL };
	struct world w;
	struct findings *f;

	(void)state;
	world_make(&w, names, calls);
	world_start(&w, REFINE_BUDGET, 3);
	w.r->levels[world_index(&w, 'd')] = REFINE_OUT;
	w.r->levels[world_index(&w, 'e')] = REFINE_OUT;
	assert_string_equal(world_recorded(&w), "rac");
	f = found_new(100, 100000);
	found_function(f, &w, 'a', found_function(f, &w, 'r', 0, 1, 1), 1, 1);
	found_factor(f, &w, 'a', 1);
	assert_int_equal(world_step(&w, f), REFINE_GOES_ON);
	assert_string_equal(world_recorded(&w), "race");
	refinement_free(w.r);
}

/* a calls c, c and d each other, and x, that is never called, d.  600 calls of c do not fit.  d does, being
 * called by no known function, but is no reason for another run. */
static void test_behind_unknown(void **state)
{
	static const char *const names[] = { "r", "x", "d", "c", "a", NULL };
	static const char *const calls[] = { "rx", "xd", "dc", "cd", "ra", "ac", NULL };
	struct world w;
	struct findings *f = found_new(80, 200000);	/* too few for one in two */

	(void)state;
	world_make(&w, names, calls);
	world_start(&w, REFINE_BUDGET, 3);
	assert_string_equal(world_recorded(&w), "rxa");
	found_function(f, &w, 'a', found_function(f, &w, 'r', 0, 1, 1), 0.9, 600);
	found_factor(f, &w, 'a', 0.9);
	assert_int_equal(world_step(&w, f), REFINE_TOO_DEAR);
	refinement_free(w.r);
}

/* With more intervals there is a way: one in three.  Run 2: mean 100,000 less its own 10 + 1,000 dormant
 * is 98,990, 5 % are 4,949.5.  handle and mix are 10,010 in full, 1,001 dormant: (10,010 - 1,001) /
 * (4,949.5 - 1,001) = 2.28.  That needs 3 * 45 intervals.  On average it costs 1,001 + 9,009 / 3 =
 * 4,004 of 100,000 (run 3: 30 intervals of 106,000, 60 of 97,000). */
static void test_one_in_three(void **state)
{
	struct world w;
	struct findings *f;
	uint32_t h, cnt;

	(void)state;
	for (cnt = 134; cnt <= 135; cnt++) {
		world_make(&w, server, server_calls);
		world_start(&w, REFINE_BUDGET, 3);
		for (int run = 0; run < 2; run++) {
			assert_int_equal(w.r->gate, 1);
			f = found_new(cnt, 100000);
			h = found_function(f, &w, 'h', 0, 1, 1);
			found_node(f, &w, NODE_BODY, 'h', h, run ? 0.9 : 0.1, 0);
			if (!run)
				found_function(f, &w, 'm', h, 0.8, 1000);
			found_factor(f, &w, 'h', 1);
			world_step(&w, f);
		}
		assert_int_equal(w.r->stop, cnt < 135 ? REFINE_TOO_DEAR : REFINE_GOES_ON);
		assert_int_equal(w.r->gate_intervals, cnt < 135 ? 135 : 0);
		assert_int_equal(w.r->gate, cnt < 135 ? 1 : 3);
		if (cnt < 135)
			refinement_free(w.r);
	}
	assert_string_equal(world_recorded(&w), "hpml");
	assert_int_equal(w.r->verdicts.items[0].kind, REFINE_VERDICT_DEEPER);
	f = found_new(30, 106000);
	f->probing.root_only_cnt = 60;
	f->probing.root_only_mean_ns = 97000;
	h = found_function(f, &w, 'h', 0, 1, 1);
	found_function(f, &w, 'm', h, 0.9, 1000);
	found_factor(f, &w, 'm', 0.9);
	assert_int_equal(world_step(&w, f), REFINE_CLOSED);
	assert_true(w.r->cost > 0.04003 && w.r->cost < 0.04005);
	refinement_free(w.r);
}

/* One interval in a hundred calls a, whose body is the cause: one in three in full would have it in too few. */
static void test_rare_cause(void **state)
{
	static const char *const names[] = { "r", "a", "m", NULL };
	static const char *const calls[] = { "ra", "am", NULL };
	struct world w;

	(void)state;
	for (uint32_t cnt = 13499; cnt <= 13500; cnt++) {
		world_make(&w, names, calls);
		world_start(&w, REFINE_BUDGET, 3);
		for (int run = 0; run < 2; run++) {
			struct findings *f = found_new(cnt, 100000);
			uint32_t a = found_function(f, &w, 'a', found_function(f, &w, 'r', 0, 1, 1), 0.9, 0.01);

			found_node(f, &w, NODE_BODY, 'a', a, run ? 0.9 : 0.1, 0);
			if (!run)
				found_function(f, &w, 'm', a, 0.8, 1000);
			found_factor(f, &w, 'a', 1);
			world_step(&w, f);
		}
		assert_int_equal(w.r->stop, cnt < 13500 ? REFINE_TOO_DEAR : REFINE_GOES_ON);
		assert_int_equal(w.r->gate_intervals, cnt < 13500 ? 13500 : 0);
		assert_int_equal(w.r->gate, cnt < 13500 ? 1 : 3);
		refinement_free(w.r);
	}
}

/* Without mix the latency turns out to be 10 us: then even its dormant probe, 1,000 ns, is too much. */
static void test_dormant_goes_too(void **state)
{
	struct world w;
	struct findings *f;
	uint32_t h, mix;

	(void)state;
	world_make(&w, server, server_calls);
	world_start(&w, REFINE_BUDGET, 3);
	mix = world_index(&w, 'm');
	for (int run = 0; run < 3; run++) {
		f = found_new(100, run ? 10000 : 100000);
		h = found_function(f, &w, 'h', 0, 1, 1);
		found_node(f, &w, NODE_BODY, 'h', h, run ? 0.9 : 0.1, 0);
		if (!run)
			found_function(f, &w, 'm', h, 0.8, 1000);
		found_factor(f, &w, 'h', 1);
		assert_int_equal(world_step(&w, f), run == 2 ? REFINE_TOO_DEAR : REFINE_GOES_ON);
		assert_int_equal(w.r->levels[mix], run ? REFINE_OUT : REFINE_DORMANT);
	}
	assert_true(w.r->cost < 0.05);
	refinement_free(w.r);
}

/* r calls a and b, a calls c, c calls d, b calls e.  At most three functions in the first run: r, a and b.
 * a's own part is large: all below it at once.  e is not: b has nothing to do with it. */
static void test_levels_at_once(void **state)
{
	static const char *const names[] = { "r", "a", "b", "c", "d", "e", "f", NULL };
	static const char *const calls[] = { "ra", "rb", "ac", "cd", "be", "df", "fc", NULL };
	struct world w;
	struct findings *f;
	uint32_t r, a, c;

	(void)state;
	world_make(&w, names, calls);	/* c, d, f are a circle */
	world_start(&w, REFINE_BUDGET, 3);
	assert_string_equal(world_recorded(&w), "rab");
	f = found_new(100, 100000);
	r = found_function(f, &w, 'r', 0, 1, 1);
	found_function(f, &w, 'a', r, 0.97, 2);
	found_function(f, &w, 'b', r, 0.03, 1);
	found_factor(f, &w, 'a', 0.97);
	assert_int_equal(world_step(&w, f), REFINE_GOES_ON);
	assert_string_equal(world_recorded(&w), "rabcdf");
	assert_int_equal(w.r->verdicts.items[0].kind, REFINE_VERDICT_DEEPER);
	assert_true(w.r->added[world_index(&w, 'd')] && !w.r->added[world_index(&w, 'a')]);

	f = found_new(100, 100000);	/* f was never called */
	r = found_function(f, &w, 'r', 0, 1, 1);
	a = found_function(f, &w, 'a', r, 0.97, 2);
	c = found_function(f, &w, 'c', a, 0.97, 2);
	found_function(f, &w, 'd', c, 0.97, 2);
	found_function(f, &w, 'b', r, 0.03, 1);
	found_factor(f, &w, 'd', 0.97);
	assert_int_equal(world_step(&w, f), REFINE_CLOSED);
	refinement_free(w.r);
}

/* b was not called: that it is not recorded later leaves nothing open. */
static void test_never_called(void **state)
{
	static const char *const names[] = { "r", "a", "b", "c", NULL };
	static const char *const calls[] = { "ra", "rb", "bc", NULL };
	struct world w;
	struct findings *f;

	(void)state;
	world_make(&w, names, calls);
	world_start(&w, REFINE_BUDGET, 3);
	f = found_new(100, 100000);
	found_function(f, &w, 'a', found_function(f, &w, 'r', 0, 1, 1), 1, 1);
	found_factor(f, &w, 'a', 1);
	assert_int_equal(world_step(&w, f), REFINE_CLOSED);

	w.r->levels[2] = w.r->levels[3] = REFINE_OUT;
	f = found_new(100, 100000);
	found_function(f, &w, 'a', found_function(f, &w, 'r', 0, 1, 1), 0.5, 1);
	found_node(f, &w, NODE_BODY, 'r', 1, 0.5, 0);
	assert_int_equal(world_step(&w, f), REFINE_NOTHING);
	refinement_free(w.r);
}

/* 500 calls fit.  a, called 200 times, calls b and c through one pointer: 100 times each, and b calls a
 * back, which is no further call of a.  Together 401. */
static void test_estimates(void **state)
{
	static const char *const names[] = { "r", "a", "b", "c", NULL };
	static const char *const calls[] = { "ra", "ab", "ac", "ba", NULL };
	struct world w;
	struct findings *f;

	(void)state;
	world_make(&w, names, calls);
	w.calls[1].weight = w.calls[2].weight = 0.5;
	world_start(&w, REFINE_BUDGET, 3);
	w.r->levels[2] = w.r->levels[3] = REFINE_OUT;
	f = found_new(100, 102010);
	found_function(f, &w, 'a', found_function(f, &w, 'r', 0, 1, 1), 1, 200);
	found_factor(f, &w, 'a', 1);
	assert_int_equal(world_step(&w, f), REFINE_GOES_ON);
	assert_string_equal(world_recorded(&w), "rabc");
	refinement_free(w.r);
}

/* ---- paper ---- */

static const char *const tree[] = { "r", "a", "b", "c", "d", NULL };
static const char *const tree_calls[] = { "ra", "rb", "ac", "bd", NULL };

static struct findings *tree_findings(const struct world *w, bool with_c, bool with_d)
{
	struct findings *f = found_new(100, 100000);
	uint32_t r = found_function(f, w, 'r', 0, 1, 1), a = found_function(f, w, 'a', r, 0.6, 1);
	uint32_t b = found_function(f, w, 'b', r, 0.4, 1);

	if (with_c)
		found_function(f, w, 'c', a, 0.6, 1);
	if (with_d)
		found_function(f, w, 'd', b, 0.4, 1);
	found_factor(f, w, 'a', 0.6);
	found_factor(f, w, 'b', 0.4);
	return f;
}

/* One factor a run: r, then a, then b although a is still the best; then all is broken down. */
static void test_paper(void **state)
{
	struct world w;
	struct findings *f;

	(void)state;
	world_make(&w, tree, tree_calls);
	world_start(&w, REFINE_PAPER, 1);
	assert_string_equal(world_recorded(&w), "r");
	f = found_new(100, 100000);
	found_function(f, &w, 'r', 0, 1, 1);
	found_factor(f, &w, 'r', 1);
	assert_int_equal(world_step(&w, f), REFINE_GOES_ON);
	assert_string_equal(world_recorded(&w), "rab");
	assert_int_equal(world_step(&w, tree_findings(&w, false, false)), REFINE_GOES_ON);
	assert_string_equal(world_recorded(&w), "rabc");
	assert_int_equal(world_step(&w, tree_findings(&w, true, false)), REFINE_GOES_ON);
	assert_string_equal(world_recorded(&w), "rabcd");
	assert_int_equal(world_step(&w, tree_findings(&w, true, true)), REFINE_CLOSED);
	assert_int_equal(w.r->run_cnt, 4);
	refinement_free(w.r);
}

/* A pair is above the threshold, its members are not: both are broken down. */
static void test_paper_pair(void **state)
{
	struct world w;
	struct findings *f;
	struct factor *x;
	uint32_t r;

	(void)state;
	world_make(&w, tree, tree_calls);
	world_start(&w, REFINE_PAPER, 3);
	w.r->levels[1] = w.r->levels[2] = REFINE_IN_INTERVALS;	/* a, b */
	f = found_new(100, 100000);
	r = found_function(f, &w, 'r', 0, 1, 1);
	found_function(f, &w, 'a', r, 0.04, 1);
	found_function(f, &w, 'b', r, 0.04, 1);
	x = found_factor(f, &w, 'a', 0.3);
	x->kind = FACTOR_PAIR;
	x->functions[0] = "a";
	x->functions[1] = "body of b";
	assert_int_equal(world_step(&w, f), REFINE_GOES_ON);
	assert_string_equal(world_recorded(&w), "rabcd");
	refinement_free(w.r);
}

/* r waits in a because of w, on another thread; w calls x and y: recorded outside intervals, too. */
static void check_waker(enum refine_policy policy)
{
	static const char *const names[] = { "r", "a", "w", "x", "y", NULL };
	static const char *const calls[] = { "ra", "wx", "wy", NULL };
	struct because because = { .function = "w", .file = "a.c", .share = 0.9 };
	struct world w;
	struct findings *f;
	struct factor *x;
	uint32_t wait;

	world_make(&w, names, calls);
	w.functions[2].always = true;
	world_start(&w, policy, 3);
	w.r->levels[1] = REFINE_IN_INTERVALS;
	for (int run = 0; run < 2; run++) {
		f = found_new(100, 100000);
		wait = found_node(f, &w, NODE_WAIT, 'a', found_function(f, &w, 'a', found_function(f, &w, 'r', 0,
				1, 1), 1, 1), 1, 0);
		found_node(f, &w, NODE_BLAME, 'w', wait, 0.9, 0);
		x = found_factor(f, &w, 'a', 1);
		x->kind = FACTOR_WAIT;
		x->because_of.items = &because;
		x->because_of.cnt = 1;
		assert_int_equal(world_step(&w, f), run ? REFINE_CLOSED : REFINE_GOES_ON);
		assert_string_equal(world_recorded(&w), "raWXY");
	}
	refinement_free(w.r);
}

static void test_waker(void **state)
{
	(void)state;
	check_waker(REFINE_PAPER);
	check_waker(REFINE_BUDGET);
}

/* Others wait in the queue while the thread is in a, for them: what a calls is recorded inside. */
static void test_queue(void **state)
{
	struct because because = { .function = "a", .file = "a.c", .share = 0.9 };
	struct factor x = { .kind = FACTOR_WAIT, .wait = STATE_QUEUE, .share = 0.98, .score = 1,
			    .because_of = { &because, 1, 1 } };
	struct world w;
	struct findings *f = found_new(100, 100000);
	uint32_t wait;

	(void)state;
	world_make(&w, tree, tree_calls);
	world_start(&w, REFINE_BUDGET, 3);
	w.r->levels[3] = REFINE_OUT;
	found_function(f, &w, 'a', found_function(f, &w, 'r', 0, 0.02, 1), 0.02, 1);
	wait = found_node(f, &w, NODE_WAIT, 'r', 0, 0.98, 0);
	f->nodes.items[wait].wait = STATE_QUEUE;
	found_node(f, &w, NODE_BLAME, 'a', wait, 0.9, 0);
	VEC_ADD(&f->factors, x);
	assert_int_equal(world_step(&w, f), REFINE_GOES_ON);
	assert_string_equal(world_recorded(&w), "rabc");
	refinement_free(w.r);
}

/* r > a > c is one cause, reported as c; b, with d half of it, is another, and d a third. */
static void test_chain_is_one_line(void **state)
{
	struct world w;
	struct findings *f;
	uint32_t r, a, b;

	(void)state;
	world_make(&w, tree, tree_calls);
	world_start(&w, REFINE_BUDGET, 3);
	f = found_new(100, 100000);
	r = found_function(f, &w, 'r', 0, 1, 1);
	a = found_function(f, &w, 'a', r, 0.6, 1);
	b = found_function(f, &w, 'b', r, 0.4, 1);
	found_function(f, &w, 'c', a, 0.5, 1);
	found_function(f, &w, 'd', b, 0.2, 1);
	found_factor(f, &w, 'c', 0.5);
	found_factor(f, &w, 'a', 0.6);
	found_factor(f, &w, 'd', 0.2);
	found_factor(f, &w, 'b', 0.4);
	for (uint32_t i = 0; i < 4; i++)	/* in this order */
		f->factors.items[i].score = 10 - i;
	refinement_step(w.r, f);
	assert_int_equal(w.r->verdicts.cnt, 3);
	assert_int_equal(w.r->verdicts.items[0].factor, 0);
	assert_int_equal(w.r->verdicts.items[1].factor, 2);
	assert_int_equal(w.r->verdicts.items[2].factor, 3);
	for (uint32_t i = 0; i < 4; i++)	/* and backward: where a's turn comes, c is reported */
		f->factors.items[i].score = i;
	refinement_step(w.r, f);
	assert_int_equal(w.r->verdicts.cnt, 3);
	assert_int_equal(w.r->verdicts.items[0].factor, 3);
	assert_int_equal(w.r->verdicts.items[1].factor, 2);
	assert_int_equal(w.r->verdicts.items[2].factor, 0);
	findings_free(f);
	refinement_free(w.r);
}

/* ---- stopping ---- */

static void test_stops(void **state)
{
	struct world w;
	struct findings *f;

	(void)state;
	world_make(&w, tree, tree_calls);
	world_start(&w, REFINE_PAPER, 1);
	f = found_new(FINDINGS_INTERVALS_MIN - 1, 100000);
	found_function(f, &w, 'r', 0, 1, 1);
	found_factor(f, &w, 'r', 1);
	assert_int_equal(world_step(&w, f), REFINE_UNRESOLVED);
	refinement_free(w.r);

	world_start(&w, REFINE_PAPER, 1);
	f = found_new(FINDINGS_INTERVALS_MIN, 100000);
	found_function(f, &w, 'r', 0, 1, 1);
	found_factor(f, &w, 'r', 1);
	assert_int_equal(world_step(&w, f), REFINE_GOES_ON);
	refinement_free(w.r);

	world_start(&w, REFINE_PAPER, 1);
	f = found_new(100, 100000);
	found_factor(f, &w, 'r', 0.05);
	assert_int_equal(world_step(&w, f), REFINE_NOTHING);	/* above it, not at it */
	refinement_free(w.r);

	world_start(&w, REFINE_PAPER, 1);
	w.r->options.max_runs = 1;
	f = found_new(100, 100000);
	found_function(f, &w, 'r', 0, 1, 1);
	found_factor(f, &w, 'r', 1);
	assert_int_equal(world_step(&w, f), REFINE_MAX_RUNS);
	assert_int_equal(w.r->verdicts.items[0].kind, REFINE_VERDICT_OPEN);
	assert_string_equal(world_recorded(&w), "r");
	refinement_free(w.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hot_function_is_left_out),
		cmocka_unit_test(test_too_dear),
		cmocka_unit_test(test_in_and_out),
		cmocka_unit_test(test_below_never_called),
		cmocka_unit_test(test_behind_unknown),
		cmocka_unit_test(test_one_in_three),
		cmocka_unit_test(test_rare_cause),
		cmocka_unit_test(test_dormant_goes_too),
		cmocka_unit_test(test_levels_at_once),
		cmocka_unit_test(test_never_called),
		cmocka_unit_test(test_estimates),
		cmocka_unit_test(test_paper),
		cmocka_unit_test(test_paper_pair),
		cmocka_unit_test(test_waker),
		cmocka_unit_test(test_queue),
		cmocka_unit_test(test_chain_is_one_line),
		cmocka_unit_test(test_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
