/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_iterate_plan.c - the graph that is refined: no calls inside what waits; where threads begin.  Where probes stand.
 *
 *	handle -> lock -> sleep_on;  handle -> unlock -> wake
 */
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "cmd/iterate/iterate_plan.h"

enum { HANDLE, LOCK, SLEEP_ON, UNLOCK, WAKE, FUNCTION_CNT };

static const char *const names[] = { "handle", "lock", "sleep_on", "unlock", "wake" };
static const uint32_t calls[][2] = {
	{ HANDLE, LOCK }, { LOCK, SLEEP_ON }, { HANDLE, UNLOCK }, { UNLOCK, WAKE },
};

/* Is there such a call in the graph, when sync says which functions wait? */
static bool has_call(const primitives *sync, uint32_t caller, uint32_t callee)
{
	_cleanup_(project_freep) struct project *p = xcalloc(1, sizeof(*p));
	_cleanup_(iterate_graph_release) struct iterate_graph g;
	struct config c = { 0 };
	units none = { NULL, 0, 0 };
	bool found = false;

	p->arena = arena_new();
	for (uint32_t i = 0; i < FUNCTION_CNT; i++)
		VEC_ADD(&p->functions, (struct project_function){ .name = names[i] });
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		VEC_ADD(&p->calls, (struct project_call){ calls[i][0], calls[i][1], NULL, false, false, false });
	iterate_graph_make(p, &c, sync, &none, &g);
	for (size_t i = 0; i < g.calls.cnt; i++)
		found |= g.calls.items[i].caller == caller && g.calls.items[i].callee == callee;
	return found;
}

static void test_waits_are_closed(void **state)
{
	_cleanup_(primitives_release) primitives sync = { 0 }, nothing = { 0 };

	(void)state;
	assert_int_equal(primitive_parse(ROLE_ACQUIRE, "lock(arg0)", VEC_EXTEND(&sync), NULL), 0);
	assert_int_equal(primitive_parse(ROLE_RELEASE, "unlock(arg0)", VEC_EXTEND(&sync), NULL), 0);
	assert_false(has_call(&sync, LOCK, SLEEP_ON));
	assert_true(has_call(&sync, HANDLE, LOCK));
	assert_true(has_call(&sync, UNLOCK, WAKE));
	assert_true(has_call(&nothing, LOCK, SLEEP_ON));
}

static void test_starts(void **state)
{
	static const struct { const char *name, *type; bool address_taken, start; } cases[] = {
		{ "main", "int (int, char **)", false, true },
		{ "serve", "void *(void *)", true, true },
		{ "called_serve", "void *(void *)", false, false },
		{ "on_signal", "void (int)", true, true },		/* no function of the project calls it */
		{ "by_key", "int (const void *, const void *)", true, false },	/* qsort() does, often */
		{ "operation", "void (int)", true, false },		/* main does, through a pointer */
	};
	_cleanup_(project_freep) struct project *p = xcalloc(1, sizeof(*p));
	_cleanup_(iterate_graph_release) struct iterate_graph g;
	_cleanup_(primitives_release) primitives sync = { 0 };
	struct config c = { 0 };
	units none = { NULL, 0, 0 };

	(void)state;
	p->arena = arena_new();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		VEC_ADD(&p->functions, (struct project_function){ .name = cases[i].name, .type = cases[i].type,
								  .address_taken = cases[i].address_taken });
	VEC_ADD(&p->calls, (struct project_call){ 0, 5, NULL, true, false, false });
	iterate_graph_make(p, &c, &sync, &none, &g);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(g.functions[i].start, cases[i].start);
}

/* run calls sort, whose span ends before it calls generic, which hands over to step, in a circle with generic; sort also calls note.
 * Each call says who hands over. */
static void test_handed_over(void **state)
{
	enum { RUN, SORT, GENERIC, STEP, NOTE, OTHER, CNT };
	static const struct project_call all[] = {
		{ RUN, SORT, NULL, false, false, false }, { SORT, GENERIC, NULL, false, false, true },
		{ SORT, NOTE, NULL, false, false, false }, { SORT, OTHER, NULL, true, false, true },
		{ GENERIC, STEP, NULL, false, false, true }, { STEP, GENERIC, NULL, false, false, true },
	};
	_cleanup_(project_freep) struct project *p = xcalloc(1, sizeof(*p));
	_cleanup_(iterate_graph_release) struct iterate_graph g;
	_cleanup_(primitives_release) primitives sync = { 0 };
	unsigned int cnt[CNT][CNT][CNT + 1] = { 0 };	/* the last: via, as in struct refine_call */
	struct config c = { 0 };
	units none = { NULL, 0, 0 };

	(void)state;
	p->arena = arena_new();
	for (size_t i = 0; i < CNT; i++)
		VEC_ADD(&p->functions, (struct project_function){ .name = "f" });
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		VEC_ADD(&p->calls, all[i]);
	iterate_graph_make(p, &c, &sync, &none, &g);
	for (size_t i = 0; i < g.calls.cnt; i++)
		cnt[g.calls.items[i].caller][g.calls.items[i].callee][g.calls.items[i].via]++;
	for (size_t via = 0; via <= CNT; via++) {
		assert_int_equal(cnt[RUN][GENERIC][via], via == SORT + 1 || via == STEP + 1);
		assert_int_equal(cnt[RUN][STEP][via], via == GENERIC + 1);
		assert_int_equal(cnt[RUN][NOTE][via] + cnt[RUN][OTHER][via], 0);
		assert_int_equal(cnt[SORT][STEP][via], via == GENERIC + 1);
		assert_int_equal(cnt[SORT][GENERIC][via], via == 0);
	}
}

/* In the census, and where few intervals are recorded, all probes stand aside; else those that are dormant. */
static void test_sampled(void **state)
{
	static const struct { enum refine_policy policy; uint32_t run_cnt, gate; bool hot_aside; } cases[] = {
		{ REFINE_BUDGET, 0, 1, true }, { REFINE_BUDGET, 1, 1, false }, { REFINE_BUDGET, 1, 2, true },
		{ REFINE_PAPER, 0, 1, false },
	};
	_cleanup_(project_freep) struct project *p = xcalloc(1, sizeof(*p));
	enum refine_level levels[] = { REFINE_IN_INTERVALS, REFINE_DORMANT, REFINE_OUT };

	(void)state;
	p->arena = arena_new();
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		VEC_ADD(&p->functions, (struct project_function){ .name = "f", .file = "a.c", .line = (uint32_t)i });
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct refinement r = { .options.policy = cases[i].policy, .run_cnt = cases[i].run_cnt,
					.gate = cases[i].gate, .levels = levels };
		_cleanup_(plan_freep) struct plan *plan = iterate_plan(p, &r);

		assert_int_equal(plan->entries.cnt, 2);
		assert_int_equal(plan_is_aside(plan, plan->entries.items[0].key), cases[i].hot_aside);
		assert_true(plan_is_aside(plan, plan->entries.items[1].key));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sampled),
		cmocka_unit_test(test_starts), cmocka_unit_test(test_handed_over),
		cmocka_unit_test(test_waits_are_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
