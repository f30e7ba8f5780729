/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_refine_questions.c - what vprof iterate --ask asks for, and what becomes of the answers.
 *
 * The project: r calls a and b, a calls c, b calls d.  r, a and b are recorded; the latency varies
 * by 60 % with a and by 40 % with b.
 */
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "analysis/refine/refine.h"

enum { R, A, B, C, D, FUNCTION_CNT };

static const struct refine_function functions[FUNCTION_CNT] = {
	{ .name = "r", .file = "/s/a.c", .line = 1, .root = true },
	{ .name = "a", .file = "/s/a.c", .line = 2 }, { .name = "b", .file = "/s/a.c", .line = 3 },
	{ .name = "c", .file = "/s/a.c", .line = 4 }, { .name = "d", .file = "/s/a.c", .line = 5 },
};
static const struct refine_call calls[] = { { R, A, 1, 0 }, { R, B, 1, 0 }, { A, C, 1, 0 }, { B, D, 1, 0 } };
static const struct refine_project project = { functions, FUNCTION_CNT, calls, 4 };

static struct refinement *start(enum refine_policy policy, uint32_t k)
{
	const struct refine_options o = {
		.policy = policy, .k = k, .threshold = 0.05, .max_runs = 5, .overhead = 0.05,
		.probe_ns = 10, .dormant_ns = 1, .census_functions = 2,
	};
	struct refinement *r = refinement_new(&project, &o);

	r->levels[A] = r->levels[B] = REFINE_IN_INTERVALS;
	return r;
}

static void add_function(struct findings *f, uint32_t function, uint32_t parent, double share)
{
	VEC_ADD(&f->nodes, (struct node){
		.id = (uint32_t)f->nodes.cnt, .parent = parent, .kind = NODE_FUNCTION,
		.function = functions[function].name, .file = "a.c",
		.line = functions[function].line, .share = share, .calls_per_interval = 1 });
}

static struct findings *found(void)
{
	struct findings *f = findings_new();

	f->interval = (struct interval_summary){ .name = "r", .cnt = 100, .mean_ns = 100000,
						 .variance_ns2 = 1 };
	VEC_ADD(&f->nodes, (struct node){ .parent = NODE_NONE, .share = 1 });
	add_function(f, R, 0, 1);
	add_function(f, A, 1, 0.6);
	add_function(f, B, 1, 0.4);
	for (uint32_t i = A; i <= B; i++) {
		double share = f->nodes.items[i + 1].share;

		VEC_ADD(&f->factors, (struct factor){
			.kind = FACTOR_FUNCTION, .function = functions[i].name, .file = "a.c",
			.line = functions[i].line, .share = share, .paper_contribution = share,
			.score = share, .paper_score = share });
	}
	return f;
}

/* No to a, yes to b: only d is recorded besides. */
static void check_one_declined(enum refine_policy policy)
{
	struct refinement *r = start(policy, 1);
	struct findings *f = found();
	struct refine_question q = { .factor = 0 };

	refinement_look(r, f);
	assert_true(refinement_question(r, f, &q));
	assert_int_equal(q.functions.cnt, 1);
	assert_int_equal(q.functions.items[0], A);
	assert_int_equal(q.callees.cnt, 1);
	assert_int_equal(q.callees.items[0], C);
	assert_true(q.share > 0.59 && q.share < 0.61);
	refinement_answer(r, &q, false);
	assert_true(refinement_question(r, f, &q));
	assert_int_equal(q.functions.items[0], B);
	refinement_answer(r, &q, true);
	assert_false(refinement_question(r, f, &q));
	assert_int_equal(refinement_decide(r, f), REFINE_GOES_ON);
	assert_int_equal(r->levels[C], REFINE_OUT);
	assert_int_equal(r->levels[D], REFINE_IN_INTERVALS);
	/* a is declined, not broken down to its end. */
	assert_int_equal(r->verdicts.items[0].factor, 0);
	assert_int_equal(r->verdicts.items[0].kind, REFINE_VERDICT_OPEN);
	/* It is not asked for again. */
	add_function(f, D, 3, 0.4);
	refinement_look(r, f);
	assert_false(refinement_question(r, f, &q));
	assert_int_equal(refinement_decide(r, f), REFINE_CLOSED);
	refine_question_release(&q);
	findings_free(f);
	refinement_free(r);
}

static void test_one_declined(void **state)
{
	(void)state;
	check_one_declined(REFINE_BUDGET);
	check_one_declined(REFINE_PAPER);
}

/* There is no question where there will be no next run: too few intervals, or it was the last. */
static void test_no_next_run(void **state)
{
	struct refinement *r = start(REFINE_BUDGET, 3);
	struct findings *f = found();
	struct refine_question q = { .factor = 0 };

	(void)state;
	f->interval.cnt = FINDINGS_INTERVALS_MIN - 1;
	refinement_look(r, f);
	assert_false(refinement_question(r, f, &q));
	f->interval.cnt = 100;
	r->run_cnt = r->options.max_runs;
	assert_false(refinement_question(r, f, &q));
	refine_question_release(&q);
	findings_free(f);
	refinement_free(r);
}

/* The pair (a, b) is all there is.  Its functions are asked for together; a yes to a holds. */
static void test_pair(void **state)
{
	struct refinement *r = start(REFINE_PAPER, 3);
	struct findings *f = found();
	struct refine_question q = { .factor = 0 };

	(void)state;
	f->factors.cnt = 1;
	f->factors.items[0].kind = FACTOR_PAIR;
	f->factors.items[0].functions[0] = "a";
	f->factors.items[0].functions[1] = "body of b";
	refinement_look(r, f);
	assert_true(refinement_question(r, f, &q));
	assert_int_equal(q.functions.cnt, 2);
	assert_int_equal(q.callees.cnt, 2);
	r->answers[A] = REFINE_YES;
	assert_true(refinement_question(r, f, &q));
	assert_int_equal(q.functions.cnt, 1);
	refinement_answer(r, &q, false);
	assert_int_equal(refinement_decide(r, f), REFINE_GOES_ON);
	assert_int_equal(r->levels[C], REFINE_IN_INTERVALS);
	assert_int_equal(r->levels[D], REFINE_OUT);
	refine_question_release(&q);
	findings_free(f);
	refinement_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_declined),
		cmocka_unit_test(test_no_next_run),
		cmocka_unit_test(test_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
