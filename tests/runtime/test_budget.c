/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_budget.c - drainer/budget.c: the level that calls, latencies and processor time lead to, as written to the arena; nothing
 * of a clock. drainer/usage.c: what a process took.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "drainer/budget.h"
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
	budget.call_ticks = budget.call_ns = 40;
	now_ns = 1000000000;
}

/* A tenth of a second: cnt intervals of that many ticks, full of them in full, with that many calls each. */
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
	/* Four are too few for the first decision, five are not. */
	assert_int_equal(look(200, 1000, 4, 100000), 4);
	assert_int_equal(look(200, 1000, 1, 100000), SAMPLE_LEVELS - 1);
	for (int i = 0; i < 10; i++)
		level = look(200, 1000, 60, 100000);
	assert_int_equal(level, SAMPLE_LEVELS - 1);
	/* Too few calls to decide: the level stays for a second, then falls. */
	budget.full_cnt = budget.calls = 0;
	for (int i = 0; i < 9; i++)
		assert_int_equal(look(1, 1000, 0, 0), SAMPLE_LEVELS - 1);
	assert_int_equal(look(1, 1000, 0, 0), SAMPLE_LEVELS - 2);
}

/*
 * The tenth of a second of budget.c's example: 1,040 ms of the program, 70 of the recorder, 60 of them for a million
 * records; 100 intervals in full of 1,000, with calls calls in all.  Their latencies allow anything.
 */
static unsigned int look_at_processors(double run_ms, double recorder_ms, double work_ms, double calls)
{
	budget.run_ns += run_ms * 1e6;
	budget.recorder_ns += recorder_ms * 1e6;
	budget.work_ns += work_ms * 1e6;
	budget.records += 1000000;
	budget.calls += calls;
	budget.full_cnt += 100;
	budget.latency_cnt += 1000;
	budget.ticks += 1e15;
	now_ns += LOOK_NS;
	budget_decide(&budget, now_ns);
	return control.sample_level - 1;
}

static void test_processors(void **state)
{
	unsigned int level = 0;

	(void)state;
	begin_budget(0.05);
	/* (50 - 10 - 100,000 * 100 ns) / 900 ms = .0333: level 5 has .0293, at once. */
	assert_int_equal(look_at_processors(1040, 70, 60, 900000), 5);
	for (int i = 0; i < 20; i++)
		level = look_at_processors(1040, 70, 60, 900000);
	assert_int_equal(level, 5);
	/* A recorder that wakes up more often, 30 ms more: less than a quarter is left, 12.5 / 900 = .0139: level 7 (.0073). */
	for (int i = 0; i < 20; i++)
		level = look_at_processors(1040, 100, 60, 900000);
	assert_int_equal(level, 7);
	/* 5 ms less than at first: 35 / 900 = .0389 is a quarter more than .0293, .031 (- 2 ms) is not. */
	begin_budget(0.05);
	look_at_processors(1040, 100, 60, 900000);
	for (int i = 0; i < 20; i++)
		level = look_at_processors(1040, 72, 60, 900000);
	assert_int_equal(level, 6);
	for (int i = 0; i < 20; i++)
		level = look_at_processors(1040, 65, 60, 900000);
	assert_int_equal(level, 5);
	/* Records that are cheaper for the recorder, 10 ns: (50 - 10 - 5) / 450 = .0778: level 4 (.0586). */
	for (int i = 0; i < 20; i++)
		level = look_at_processors(1040, 20, 10, 900000);
	assert_int_equal(level, 4);
	/* A program ten times as busy: (500 - 20) / 900 = .533, a quarter less is .427: level 2 (.234). */
	for (int i = 0; i < 20; i++)
		level = look_at_processors(10040, 70, 60, 900000);
	assert_int_equal(level, 2);
	/* Its clocks cannot be read: latencies alone. */
	begin_budget(0.05);
	for (int i = 0; i < 20; i++)
		level = look_at_processors(0, 70, 60, 900000);
	assert_int_equal(level, 0);
}

/* Few intervals, but dear ones: it stays where it is, second by second. */
static void test_few(void **state)
{
	unsigned int level = 0;

	(void)state;
	begin_budget(0.05);
	for (int i = 0; i < 100; i++) {
		budget.run_ns += 1e8;
		budget.calls += 1000000;
		budget.records += 1000000;
		budget.full_cnt += .2;
		budget.latency_cnt += 20;
		budget.ticks += 1e15;
		now_ns += LOOK_NS;
		budget_decide(&budget, now_ns);
		level = control.sample_level - 1;
		assert_true(level >= 4);
	}
	/* In a second 1000 - 10,000,000 * 40 ns = 600 ms, of which 30: all 200 in full would take 5,000,000 * 200 * 40 ns
	 * = 40 s. */
	assert_int_equal(level, SAMPLE_LEVELS - 1);
}

/* A process that has taken 50 ms of a processor, and waits. */
static pid_t start_process(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		while (usage_own_ns() < 50000000)
			;
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void test_usage(void **state)
{
	struct usage usage;
	pid_t pid = start_process();
	uint64_t ns;

	(void)state;
	begin_budget(0.05);
	usage_init(&usage, 1000000000);
	slots[1].pid = slots[2].pid = (uint32_t)pid;	/* two threads of it */
	slots[1].used = slots[2].used = 1;
	slots[1].pid_namespace = slots[2].pid_namespace = usage.pid_namespace;
	/* It may have begun in the second before: all of it counts, once; then nothing is new. */
	ns = usage_take(&usage, &arena, 2000000000);
	assert_in_range(ns, 50000000, 90000000);
	assert_in_range(usage_take(&usage, &arena, 3000000000), 0, 5000000);
	/* In ten milliseconds it cannot have taken 50. */
	usage_release(&usage);
	usage_init(&usage, 3000000000);
	assert_int_equal(usage_take(&usage, &arena, 3010000000), 0);
	/* Numbers of another namespace are those of other processes. */
	usage_release(&usage);
	usage_init(&usage, 3000000000);
	slots[1].pid_namespace++;
	slots[2].pid_namespace++;
	assert_int_equal(usage_take(&usage, &arena, 4000000000), 0);
	slots[1].pid_namespace = slots[2].pid_namespace = usage.pid_namespace;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(usage_take(&usage, &arena, 5000000000), 0);
	usage_release(&usage);
}

/* A fixed rate never changes. */
static void test_fixed(void **state)
{
	(void)state;
	begin_budget(0);
	for (int i = 0; i < 20; i++)
		look(200, 200000, 60, 2000);
	assert_int_equal(control.sample_level, 0);
}

/* The reader takes a rate for what was written. */
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
		cmocka_unit_test(test_processors), cmocka_unit_test(test_few), cmocka_unit_test(test_usage),
		cmocka_unit_test(test_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
