/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_choose_plan.c - the plan of the example in choose_plan.c, by hand:
 *
 *	handle_request -> parse, log_append;  log_append -> log_write;  log_write -> deep
 *	flush_log releases; parse releases too
 */
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "project/build/choose_plan.h"

enum { HANDLE, PARSE, APPEND, WRITE, DEEP, FLUSH, FUNCTION_CNT };

static const char *const function_names[] = {
	"handle_request", "parse", "log_append", "log_write", "deep", "flush_log"
};

static void make_project(struct project *p)
{
	static const uint32_t calls[][2] = {
		{ WRITE, DEEP }, { HANDLE, PARSE }, { APPEND, WRITE }, { HANDLE, APPEND }, { DEEP, HANDLE },
	};

	memset(p, 0, sizeof(*p));
	for (uint32_t i = 0; i < FUNCTION_CNT; i++)
		VEC_ADD(&p->functions, (struct project_function){
			.key = function_key("/s/server.c", 10 * i, function_names[i]),
			.name = function_names[i], .file = "/s/server.c", .line = 10 * i,
			.releases = i == FLUSH || i == PARSE });
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		VEC_ADD(&p->calls, (struct project_call){ calls[i][0], calls[i][1], NULL, false, false, false });
}

static void drop_project(struct project *p)
{
	VEC_RELEASE(&p->functions);
	VEC_RELEASE(&p->calls);
}

static enum plan_level level(const struct project *p, const struct plan *plan, int function)
{
	return plan_level_of(plan, p->functions.items[function].key);
}

static void choose(const struct project *p, const char *start, unsigned depth, struct plan *plan,
		   size_t *root_cnt)
{
	struct interval_directive d = { .name = (char *)"r" };
	struct config c = { 0 };
	units none = { 0 };

	assert_int_equal(location_parse(start, &d.start, NULL), 0);
	assert_int_equal(location_parse(start[0] == 's' ? start : "handle_request", &d.end, NULL), 0);
	VEC_ADD(&c.intervals, d);
	choose_plan(p, &c, &none, depth, plan, root_cnt);
	location_release(&c.intervals.items[0].start);
	location_release(&c.intervals.items[0].end);
	VEC_RELEASE(&c.intervals);
}

static void test_depth_and_wakers(void **state)
{
	struct plan *plan = plan_new();
	struct project p;
	size_t roots;

	(void)state;
	make_project(&p);
	choose(&p, "handle_request", 2, plan, &roots);
	assert_int_equal(roots, 1);
	assert_int_equal(level(&p, plan, HANDLE), PLAN_IN_INTERVALS);
	assert_int_equal(level(&p, plan, APPEND), PLAN_IN_INTERVALS);
	assert_int_equal(level(&p, plan, WRITE), PLAN_IN_INTERVALS);
	assert_int_equal(level(&p, plan, DEEP), PLAN_OFF);
	assert_int_equal(level(&p, plan, PARSE), PLAN_ALWAYS);
	assert_int_equal(level(&p, plan, FLUSH), PLAN_ALWAYS);
	plan_free(plan);
	drop_project(&p);
}

/* server.c:33 is in log_write, whose body begins at 30. */
static void test_root_by_line(void **state)
{
	struct plan *plan = plan_new();
	struct project p;
	size_t roots;

	(void)state;
	make_project(&p);
	choose(&p, "server.c:33", 1, plan, &roots);
	assert_int_equal(roots, 1);
	assert_int_equal(level(&p, plan, WRITE), PLAN_ALWAYS);	/* entered before the interval begins */
	assert_int_equal(level(&p, plan, DEEP), PLAN_IN_INTERVALS);
	assert_int_equal(level(&p, plan, HANDLE), PLAN_OFF);
	plan_free(plan);
	drop_project(&p);
}

/* ---- what is called around the place where requests begin ---- */

enum { MAIN, LOOP, TAKE, SERVE, SAVE_ALL, SAVE_ONE, TICK, LOG, SETUP, RELOAD, ON_READABLE, PLAIN, BESIDE_CNT };

/*
 *	main -> setup, loop; loop -> take, save_all, tick, log; take -> serve (the interval); save_all -> save_one -> plain
 *	setup, save_all, save_one, tick, reload, on_readable and take -> log, a tool of all
 *	reload and on_readable: callbacks of one type; on_readable -> take
 */
static void make_loop(struct project *p)
{
	static const char *const names[BESIDE_CNT] = { "main", "loop", "take", "serve", "save_all", "save_one", "tick", "log", "setup", "reload",
						       "on_readable", "plain" };
	static const uint32_t calls[][2] = {
		{ MAIN, LOOP }, { MAIN, SETUP }, { LOOP, TAKE }, { LOOP, SAVE_ALL }, { LOOP, TICK }, { LOOP, LOG }, { TAKE, SERVE }, { TAKE, LOG },
		{ SAVE_ALL, SAVE_ONE }, { SAVE_ALL, LOG }, { SAVE_ONE, PLAIN }, { SAVE_ONE, LOG }, { SETUP, LOG }, { RELOAD, LOG },
		{ ON_READABLE, TAKE }, { ON_READABLE, LOG }, { SERVE, LOG },
	};

	memset(p, 0, sizeof(*p));
	for (uint32_t i = 0; i < BESIDE_CNT; i++)
		VEC_ADD(&p->functions, (struct project_function){
			.key = function_key("/s/loop.c", 100 * i, names[i]), .name = names[i], .file = "/s/loop.c", .line = 100 * i,
			.end_line = 100 * i + (i == TICK ? 2 : 50), .address_taken = i == RELOAD || i == ON_READABLE,
			.type = i == RELOAD || i == ON_READABLE ? "void (int, short, void *)" : "void (void)" });
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		VEC_ADD(&p->calls, (struct project_call){ calls[i][0], calls[i][1], NULL, false, false, false });
	project_sort_calls(p);
}

static void test_beside(void **state)
{
	static const enum plan_level expected[BESIDE_CNT] = {
		[SERVE] = PLAN_IN_INTERVALS,	/* the interval's */
		[SAVE_ALL] = PLAN_ALWAYS, [SETUP] = PLAN_ALWAYS,	/* around it */
		[SAVE_ONE] = PLAN_ALWAYS,	/* one call further down */
		[RELOAD] = PLAN_ALWAYS,		/* a callback, as the one that leads to it */
		[LOG] = PLAN_IN_INTERVALS,	/* serve calls it, so inside only */
		/* above it: main, loop, take, on_readable; too small: tick; too far: plain */
	};
	struct plan *plan = plan_new();
	struct interval_directive d = { .name = (char *)"r" };
	struct config c = { 0 };
	units none = { 0 };
	struct project p;
	size_t roots;

	(void)state;
	make_loop(&p);
	assert_int_equal(location_parse("serve", &d.start, NULL), 0);
	assert_int_equal(location_parse("serve", &d.end, NULL), 0);
	VEC_ADD(&c.intervals, d);
	choose_plan(&p, &c, &none, 3, plan, &roots);
	for (int i = 0; i < BESIDE_CNT; i++)
		if (level(&p, plan, i) != expected[i])
			fail_msg("%s: %d, not %d", p.functions.items[i].name, level(&p, plan, i), expected[i]);
	location_release(&c.intervals.items[0].start);
	location_release(&c.intervals.items[0].end);
	VEC_RELEASE(&c.intervals);
	plan_free(plan);
	drop_project(&p);
}

static void test_given_names(void **state)
{
	struct plan *plan = plan_new();
	struct diag d = DIAG_INIT;
	struct project p;

	(void)state;
	make_project(&p);
	assert_int_equal(plan_from_text(&p, "log_write, server.c:deep", plan, &d), 0);
	assert_int_equal(plan->entries.cnt, 2);
	assert_int_equal(level(&p, plan, DEEP), PLAN_ALWAYS);
	assert_true(plan_from_text(&p, "log_wirte", plan, &d) < 0);
	assert_string_equal(d.text, "no function of the project is called 'log_wirte'; the nearest is 'log_write'");
	assert_int_equal(d.status, EXIT_USAGE);
	assert_true(plan_from_text(&p, "other.c:deep", plan, &d) < 0);
	assert_int_equal(plan_from_text(&p, "all", plan, &d), 0);
	assert_int_equal(plan->all, PLAN_ALWAYS);
	plan_free(plan);
	drop_project(&p);
}

/* Two units with one inline function in both; what is dormant, or cannot take a probe, needs no number. */
static void test_more_than_have_numbers(void **state)
{
	struct plan *plan = plan_new(), *all = plan_new();
	struct unit one = { 0 }, other = { 0 };
	units scanned = { 0 };
	struct diag d = DIAG_INIT;

	(void)state;
	all->all = PLAN_ALWAYS;
	for (uint32_t i = 0; i < 8; i++) {
		char name[] = { 'f', (char)('0' + i), 0 };
		struct scan_function f = { .key = function_key("/s/a.c", i, name), .skipped = i == 7 ? "naked" : NULL };

		VEC_ADD(&one.functions, f);
		if (i == 0 || i == 7)
			VEC_ADD(&other.functions, f);
		if (i < 6)
			plan_add(plan, i == 5 ? PLAN_DORMANT : i % 2 ? PLAN_ALWAYS : PLAN_IN_INTERVALS, "/s/a.c", i, name);
	}
	VEC_ADD(&scanned, &one);
	VEC_ADD(&scanned, &other);
	assert_int_equal(plan_functions_max, 1 << 20);
	plan_functions_max = 5;
	assert_int_equal(plan_fits(plan, &scanned, &d), 0);
	assert_true(plan_fits(all, &scanned, &d) < 0);
	assert_int_equal(d.status, EXIT_USAGE);
	assert_non_null(strstr(d.text, "7 functions are to be recorded, and a recording has numbers for 5"));
	assert_non_null(strstr(d.remedy, "--functions FILE"));
	plan_functions_max = 4;
	assert_true(plan_fits(plan, &scanned, &d) < 0);
	plan_functions_max = 7;
	assert_int_equal(plan_fits(all, &scanned, &d), 0);
	VEC_RELEASE(&one.functions);
	VEC_RELEASE(&other.functions);
	VEC_RELEASE(&scanned);
	plan_free(plan);
	plan_free(all);
}

/* flush_log releases; looked through, it has no probe. */
static void test_folded(void **state)
{
	struct plan *plan = plan_new();
	struct project p;
	size_t roots;

	(void)state;
	make_project(&p);
	p.functions.items[FLUSH].looked_through = true;
	p.functions.items[APPEND].looked_through = true;
	choose(&p, "handle_request", 2, plan, &roots);
	assert_int_equal(level(&p, plan, FLUSH), PLAN_OFF);
	assert_int_equal(level(&p, plan, APPEND), PLAN_OFF);
	assert_int_equal(level(&p, plan, WRITE), PLAN_IN_INTERVALS);
	assert_int_equal(level(&p, plan, PARSE), PLAN_ALWAYS);
	plan_free(plan);
	drop_project(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_depth_and_wakers), cmocka_unit_test(test_root_by_line),
		cmocka_unit_test(test_given_names), cmocka_unit_test(test_more_than_have_numbers),
		cmocka_unit_test(test_beside), cmocka_unit_test(test_folded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
