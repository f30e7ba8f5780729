/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_contained.c - which factors are listed for people: functions that only contain one before them are not.
 *
 * outer calls inner, which waits for a lock; aside is called by outer as well:
 *
 *	T = 10, 20, 30, 40 in 40 intervals: lock 0, 8, 16, 24, aside 0, 2, 4, 6; Var(T) 125
 *	lock .8, inner .8, aside .2, outer 1; scores 3.2, 3.2, .8, 1
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/analyze.h"
#include "base/str.h"
#include "tests/unit/cmocka_all.h"
#include "trace/tuples/tuples.h"

/* aside_ns, lock_ns: for each step. */
static struct findings *analyse(int64_t aside_ns, int64_t lock_ns)
{
	struct str s = STR_INIT;
	struct diag diag = DIAG_INIT;
	struct trace *t = NULL;
	struct findings *f = NULL;

	str_add(&s, "vprof-tuples 1\ncall outer inner\ncall outer aside\n");
	for (long i = 1; i <= 40; i++) {
		long at = 1000 * i, lock = (long)lock_ns * (i % 4), aside = (long)aside_ns * (i % 4), end = at + 10 + lock + aside;

		str_addf(&s, "interval %ld r 7 %ld 7 %ld\nsegment 7 %ld %ld %ld running\n", i, at, end, i, at, at + 5);
		if (lock)
			str_addf(&s, "segment 7 %ld %ld %ld lock\n", i, at + 5, at + 5 + lock);
		str_addf(&s, "segment 7 %ld %ld %ld running\n", i, at + 5 + lock, end);
		str_addf(&s, "invocation 7 %ld outer %ld %ld\ninvocation 7 %ld inner %ld %ld\ninvocation 7 %ld aside %ld %ld\n", i, at + 1,
			 end - 1, i,
			 at + 2, at + 7 + lock, i, at + 8 + lock, at + 8 + lock + aside);
	}
	assert_int_equal(tuples_parse(str_cstr(&s), s.len, "made", &t, &diag), 0);
	assert_int_equal(analyze(t, &(struct analyze_options){ .interval = NULL }, &f), 0);
	trace_free(t);
	str_release(&s);
	return f;
}

/* "lock in inner, aside, " */
static char *told(const struct findings *f, const struct select_options *o)
{
	struct str s = STR_INIT;
	uint32_t *order;
	size_t cnt = factors_select_reported(f, o, &order);

	for (size_t i = 0; i < cnt; i++) {
		const struct factor *x = &f->factors.items[order[i]];

		str_addf(&s, "%s%s ", x->kind == FACTOR_WAIT ? "wait:" : x->kind == FACTOR_BODY ? "body:" : "", x->function);
	}
	free(order);
	return str_take(&s);
}

static void check(int64_t aside_ns, int64_t lock_ns, struct select_options o, const char *expected)
{
	struct findings *f = analyse(aside_ns, lock_ns);
	char *list = told(f, &o);

	assert_string_equal(list, expected);
	free(list);
	findings_free(f);
}

static void test_contained(void **state)
{
	(void)state;
	/* outer has all of inner and of aside, but of neither alone. */
	check(2, 8, (struct select_options){ 0, .05, false, false }, "wait:inner outer aside ");
	/* outer has nothing but the lock. */
	check(0, 8, (struct select_options){ 0, .05, false, false }, "wait:inner ");
	/* k counts what is reported. */
	check(2, 8, (struct select_options){ 2, .05, false, false }, "wait:inner outer ");
}

static void test_all(void **state)
{
	struct findings *f = analyse(2, 8);
	uint32_t *told_order, *order;

	(void)state;
	for (int paper = 0; paper < 2; paper++) {
		struct select_options o = { 3, .05, paper, !paper };
		size_t cnt = factors_select(f, &o, &order);

		assert_int_equal(factors_select_reported(f, &o, &told_order), cnt);
		assert_memory_equal(order, told_order, cnt * sizeof(*order));
		free(order);
		free(told_order);
	}
	findings_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_contained), cmocka_unit_test(test_all) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
