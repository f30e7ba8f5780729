/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_budget.c - runtime/budget.c: the level that calls and latencies lead to, told to the arena; nothing of a clock.
 */
#include <stdlib.h>
#include <string.h>
#include "runtime/budget.h"
#include "tests/unit/cmocka_all.h"

enum { LOOK_NS = 100000000 };

static struct arena_control control;
static struct arena_slot slots[3];
static struct arena_function functions[3];
static struct arena_map arena = { .control = &control, .slots = slots, .functions = functions };
static struct budget budget;
static uint64_t now_ns;

static void begin_budget(double part)
{
	memset(&control, 0, sizeof(control));
	memset(slots, 0, sizeof(slots));
	functions[1].level = 1;		/* inside intervals */
	functions[2].level = 2;		/* always */
	control.thread_cnt = 2;
	budget_init(&budget, part, &arena);
	budget.call_ticks = 40;
	now_ns = 1000000000;
}

/* A tenth of a second: cnt intervals of so many ticks, full of them in full, with so many calls each. */
static unsigned int look(unsigned int cnt, uint64_t ticks, unsigned int full, unsigned int calls)
{
	static const uint64_t in_full[3] = { 1, 7, 0 }, root_only[3] = { 1, 7, BEGIN_ROOT_ONLY };

	for (unsigned int i = 0; i < cnt; i++) {
		budget_event(&budget, EVENT_BEGIN, i < full ? in_full : root_only);
		slots[1 + i % 2].ended_cnt++;
		slots[1 + i % 2].ended_ticks += ticks;
		for (unsigned int k = 0; i < full && k < calls; k++)
			budget_call(&budget, 1);
		budget_call(&budget, 2);	/* costs as well, but a rate changes nothing about it */
	}
	now_ns += LOOK_NS;
	budget_turn(&budget, now_ns);
	return control.sample_level - 1;
}

/* 5 % of 200,000 ticks for 2,000 calls of 40: p = .125, and level 3 has 15/128. */
static void test_level(void **state)
{
	unsigned int level = 0;

	(void)state;
	begin_budget(0.05);
	assert_int_equal(control.sample_level, 5);	/* it begins at level 4 */
	for (int i = 0; i < 20; i++)
		level = look(200, 200000, 60, 2000);
	assert_int_equal(level, 4);			/* 3 would fit, but is not a quarter below */
	for (int i = 0; i < 20; i++)
		level = look(200, 300000, 60, 2000);
	assert_int_equal(level, 3);
	/* A load that is ten times as dear: at once. */
	for (int i = 0; i < 6; i++)
		level = look(200, 300000, 60, 20000);
	assert_int_equal(level, 6);
	/* ... and one without any: a level a look. */
	for (int i = 0; i < 30; i++)
		level = look(200, 300000, 60, 0);
	assert_int_equal(level, 0);
}

static void test_bounds(void **state)
{
	unsigned int level = 0;

	(void)state;
	begin_budget(0.05);
	for (int i = 0; i < 10; i++)
		level = look(200, 1000, 60, 100000);
	assert_int_equal(level, SAMPLE_LEVELS - 1);
	/* Too few to tell anything: nothing for a second, then down. */
	budget.full_cnt = budget.calls = 0;
	for (int i = 0; i < 9; i++)
		assert_int_equal(look(1, 1000, 0, 0), SAMPLE_LEVELS - 1);
	assert_int_equal(look(1, 1000, 0, 0), SAMPLE_LEVELS - 2);
}

/* A fixed rate is nobody's to change. */
static void test_fixed(void **state)
{
	(void)state;
	begin_budget(0);
	for (int i = 0; i < 20; i++)
		look(200, 200000, 60, 2000);
	assert_int_equal(control.sample_level, 0);
}

/* What is told of a rate is what the reader takes for it. */
static void test_weights(void **state)
{
	(void)state;
	for (unsigned int level = 0; level < SAMPLE_LEVELS; level++)
		assert_int_equal(begin_weight(begin_rate(level) | BEGIN_ROOT_ONLY), 1u << level);
	assert_int_equal(begin_weight(BEGIN_ROOT_ONLY), 1);
	assert_int_equal(begin_weight(begin_rate(SAMPLE_LEVELS)), 1);
	assert_int_equal(begin_weight(UINT64_MAX), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_level), cmocka_unit_test(test_bounds), cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
