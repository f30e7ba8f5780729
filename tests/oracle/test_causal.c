/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_causal.c - random programs, once with a function really faster and once virtually faster: the gains are the same, by
 * the rules of doc/design/causal.md.  By Coz's and BCOZ's rules they differ, which shows that the machine notices a wrong rule.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "runtime/shared/shift.h"
#include "tests/oracle/causal_machine.h"
#include "tests/unit/cmocka_all.h"

enum { PROGRAMS = 200, PROGRAMS_OF_OTHERS = 50, PROGRAMS_A_RULE = 30, SPEEDS = 4 };

struct errors {				/* points */
	double mean, median, p90, worst;
};

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct errors measure(const struct machine_rules *rules, uint32_t program_cnt)
{
	static double errors[PROGRAMS * SPEEDS];
	uint32_t cnt = 0;
	double sum = 0;

	for (uint32_t i = 0; i < program_cnt; i++) {
		struct machine_program p;
		uint32_t function;
		double plain;

		machine_random(&p, i + 1);
		function = p.ops[0][p.ops[0][0].kind > OP_IO].what;	/* one that is executed */
		plain = machine_run(&p, function, 0, NULL);
		for (uint32_t speed = 250; speed <= 1000; speed += 250) {
			double really = 1 - machine_run(&p, function, speed, NULL) / plain;
			double virtually = 1 - machine_run(&p, function, speed, rules) / plain;

			errors[cnt] = fabs(virtually - really) * 100;
			sum += errors[cnt++];
		}
	}
	qsort(errors, cnt, sizeof(errors[0]), by_size);
	return (struct errors){ sum / cnt, errors[cnt / 2], errors[cnt * 9 / 10], errors[cnt - 1] };
}

static void print(const char *what, struct errors e)
{
	printf("%s: mean %.2f, median %.2f, p90 %.2f, worst %.1f points\n", what, e.mean, e.median, e.p90, e.worst);
}

static void test_gains(void **state)
{
	struct errors ours = measure(&machine_ours, PROGRAMS), few = measure(&machine_ours, PROGRAMS_OF_OTHERS);
	struct errors coz = measure(&machine_coz, PROGRAMS_OF_OTHERS), bcoz = measure(&machine_bcoz, PROGRAMS_OF_OTHERS);

	(void)state;
	print("ours", ours);
	print("Coz", coz);
	print("BCOZ", bcoz);
	assert_true(ours.mean <= 0.2);
	assert_true(ours.p90 <= 0.5);
	assert_true(coz.mean >= 2 * few.mean && coz.p90 >= 2 * few.p90);
	assert_true(bcoz.mean >= 2 * few.mean && bcoz.p90 >= 2 * few.p90);
}

/* Waits that no code of ours sees, but the kernel: as exact, although the thread notices them late.  Without them it is not. */
static void test_table(void **state)
{
	struct errors all = measure(&machine_table, PROGRAMS);
	struct machine_rules blind = machine_table;

	(void)state;
	print("by the kernel's table", all);
	assert_true(all.mean <= 0.3);
	assert_true(all.p90 <= 0.7);
	blind.counts_io = false;
	assert_true(measure(&blind, PROGRAMS_A_RULE).mean >= 0.1 + 2 * measure(&machine_table, PROGRAMS_A_RULE).mean);
}

static bool takes(const struct machine_program *p, uint32_t lock)
{
	for (uint32_t t = 0; t < p->thread_cnt; t++)
		for (uint32_t i = 0; i < p->op_cnt[t]; i++)
			if (p->ops[t][i].kind == OP_LOCK && p->ops[t][i].what == lock)
				return true;
	return false;
}

/* Work under a lock goes faster, whichever thread holds the lock. */
static void test_locks(void **state)
{
	double sum = 0, worst = 0, most = 0;
	uint32_t cnt = 0;

	(void)state;
	for (uint32_t i = 0; i < PROGRAMS; i++) {
		struct machine_program p;
		double plain;

		machine_random(&p, i + 1);
		if (!takes(&p, 0))
			continue;
		plain = machine_run(&p, MACHINE_LOCK, 0, NULL);
		for (uint32_t speed = 250; speed <= 1000; speed += 250) {
			double really = 1 - machine_run(&p, MACHINE_LOCK, speed, NULL) / plain;
			double error = fabs(1 - machine_run(&p, MACHINE_LOCK, speed, &machine_ours) / plain - really) * 100;

			sum += error;
			worst = fmax(worst, error);
			most = fmax(most, really * 100);
			cnt++;
		}
	}
	printf("locks: mean %.2f, worst %.1f points, of gains up to %.0f; %u experiments\n", sum / cnt, worst, most, cnt);
	assert_true(cnt >= 100 && most > 50);
	assert_true(sum / cnt <= 0.5);
}

/* Each rule is needed: without it the gains differ.  Only at_release makes no difference: a woken thread runs 20 us later. */
static void test_each_rule(void **state)
{
	static const char *const names[] = { "counted live", "paid until gone", "settles first", "settles to lock", "credit", "I/O" };
	struct errors all = measure(&machine_ours, PROGRAMS_A_RULE);

	(void)state;
	for (size_t rule = 0; rule < sizeof(names) / sizeof(names[0]); rule++) {
		struct machine_rules r = machine_ours;
		bool *of[] = { &r.counts_live, &r.until_gone, &r.settles_first, &r.settles_to_lock, &r.credits, &r.counts_io };
		struct errors e;

		*of[rule] = false;
		e = measure(&r, PROGRAMS_A_RULE);
		print(names[rule], e);
		assert_true(e.mean >= 0.1 + 2 * all.mean);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_gains), cmocka_unit_test(test_table), cmocka_unit_test(test_locks), cmocka_unit_test(test_each_rule) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
