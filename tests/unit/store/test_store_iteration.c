/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_store_iteration.c - what an iteration needs to go on: its start, the answers, the plans.
 */
#include <errno.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "base/file.h"
#include "store/iteration_start.h"
#include "tests/unit/store/store_dir.h"

static void test_start(void **state)
{
	struct iteration_start start = {
		.first_run = 7, .command = (char *)"./bench.sh 'a b'", .policy = (char *)"paper",
		.k = 3, .max_runs = 12, .threshold = 0.05, .overhead = 0.1,
		.sources = UINT64_MAX - 1, .configuration = 5,
	};
	_cleanup_(iteration_start_release) struct iteration_start back = { 0 };
	struct store *s = open_store(true);

	(void)state;
	assert_int_equal(iteration_start_read(s, 7, &back, NULL), -ENOENT);
	assert_int_equal(iteration_start_write(s, &start, NULL), 0);
	start.max_runs = 20;
	assert_int_equal(iteration_start_write(s, &start, NULL), 0);	/* replaced */
	assert_int_equal(iteration_start_read(s, 7, &back, NULL), 0);
	assert_string_equal(back.command, "./bench.sh 'a b'");
	assert_string_equal(back.policy, "paper");
	assert_int_equal(back.k, 3);
	assert_int_equal(back.max_runs, 20);
	assert_true(back.threshold == 0.05 && back.overhead == 0.1);
	assert_true(back.sources == UINT64_MAX - 1 && back.configuration == 5);
	store_close(s);
}

static void test_answers(void **state)
{
	const struct iteration_answer no = { 1, false }, yes = { UINT64_MAX, true };
	iteration_answers list;
	struct store *s = open_store(true);

	(void)state;
	assert_int_equal(iteration_answer_write(s, 7, &yes, NULL), 0);
	assert_int_equal(iteration_answer_write(s, 7, &no, NULL), 0);
	assert_int_equal(iteration_answer_write(s, 8, &no, NULL), 0);
	assert_int_equal(iteration_answers_read(s, 7, &list, NULL), 0);
	assert_int_equal(list.cnt, 2);
	assert_true(list.items[0].function == UINT64_MAX && list.items[0].deeper);	/* -1 in SQLite */
	assert_true(list.items[1].function == 1 && !list.items[1].deeper);
	VEC_RELEASE(&list);
	store_close(s);
}

/* Planned 10, 11, 12 dormant and 13.  The program has 10 (called twice), 11 and 14: not planned by name. */
static void test_planned(void **state)
{
	const struct planned_function plan[] = {
		{ 10, PLANNED_IN_INTERVALS, UINT32_MAX }, { 11, PLANNED_ALWAYS, UINT32_MAX },
		{ 12, PLANNED_DORMANT, UINT32_MAX }, { 13, PLANNED_IN_INTERVALS, UINT32_MAX },
	};
	struct trace *t = trace_new();
	planned_functions list;
	struct store *s = open_store(true);

	(void)state;
	for (uint64_t key = 10; key <= 14; key++)
		VEC_ADD(&t->functions, (struct function){ .name = "f", .key = key,
							  .probed = key != 12, .registered = key != 13 });
	assert_int_equal(planned_write(s, 3, plan, 1, NULL), 0);
	assert_int_equal(planned_write(s, 3, plan, 4, NULL), 0);
	assert_int_equal(planned_count(s, 3, t, (const uint32_t[]){ 2, 0, 0, 0, 1 }, NULL), 0);
	assert_int_equal(planned_read(s, 3, &list, NULL), 0);
	assert_int_equal(list.cnt, 5);
	assert_int_equal(list.items[0].calls, 2);
	assert_int_equal(list.items[0].level, PLANNED_IN_INTERVALS);
	assert_int_equal(list.items[1].calls, 0);
	assert_int_equal(list.items[2].level, PLANNED_DORMANT);
	assert_true(list.items[2].calls == UINT32_MAX && list.items[3].calls == UINT32_MAX);
	assert_int_equal(list.items[4].calls, 1);
	VEC_RELEASE(&list);
	assert_int_equal(planned_read(s, 4, &list, NULL), 0);
	assert_int_equal(list.cnt, 0);
	run_sql("UPDATE planned SET level = 'often'");
	assert_true(planned_read(s, 3, &list, NULL) < 0);
	store_close(s);
	trace_free(t);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_start), TEST(test_answers), TEST(test_planned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
