/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_cpu_words.c - why requests waited for a CPU: others had it, too many threads of their own wanted it, or it was idle.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "report/words/cpu_words.h"

static char *reason(struct cpu_found cpu)
{
	struct findings f = { .cpu = cpu };
	struct str s = STR_INIT;

	cpu_add_reason(&s, &f, (struct cpu_claim){ .is_runqueue = true, .is_wait = true, .share = .6 });
	return str_take(&s);
}

static struct cpu_found two_cpus(double runnable, struct cpu_other *other)
{
	struct cpu_found c = { .is_known = true, .is_exact = true, .cpu_cnt = 2, .allowed_cnt = 2, .runnable = runnable };

	if (other) {
		c.others.items = other;
		c.others.cnt = c.others.cap = 1;
	}
	return c;
}

static void test_others(void **state)
{
	struct cpu_other other = { "cc1", 1.5 };
	_cleanup_(freep) char *crowded = reason(two_cpus(5.1, &other)), *alone = reason(two_cpus(5.1, NULL));

	(void)state;
	assert_string_equal(crowded, " Why: the machine had 5.1 runnable threads for 2 CPUs (others used 1.5: cc1 1.5); measure on a quieter machine.");
	assert_string_equal(alone,
			    " Why: the machine had 5.1 runnable threads for 2 CPUs (nobody else used them); run fewer threads, or on more CPUs.");
}

/* Fewer threads than CPUs on average: they cannot always have been too many. */
static void test_at_times(void **state)
{
	struct cpu_other other = { "load", .4 };
	_cleanup_(freep) char *text = reason(two_cpus(.6, &other));

	(void)state;
	assert_string_equal(text, " Why: the machine had 0.6 runnable threads for 2 CPUs on average, and more at times (others used 0.4: load 0.4); "
			    "measure on a quieter machine.");
}

static void test_idle(void **state)
{
	struct cpu_other other = { "load", .4 };
	struct cpu_found c = two_cpus(.6, &other);
	_cleanup_(freep) char *mostly = NULL, *seldom = NULL;

	(void)state;
	c.has_from_idle = true;
	c.from_idle = .93;
	mostly = reason(c);
	assert_non_null(strstr(mostly, " Why: in 93 % of it a CPU was idle and took so long to wake up"));
	assert_null(strstr(mostly, "quieter"));
	c.from_idle = .4;
	seldom = reason(c);
	assert_null(strstr(seldom, "idle"));
	assert_non_null(strstr(seldom, "measure on a quieter machine"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_at_times),
		cmocka_unit_test(test_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
