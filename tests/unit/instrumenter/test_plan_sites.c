/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_plan_sites.c - the plan file's calls that are recorded by place. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "tests/unit/cmocka_all.h"
#include "base/file.h"
#include "instrumenter/plan/plan.h"

static void test_sites(void **state)
{
	static const char *const bad[] = {
		"sites\t/a.c\t3\tf\n", "sites\t/a.c\t3\tf\t/b.c\tx\tg\n", "sites\t/a.c\t3\tf\t/b.c\t1\tg\tmore\n",
		"sites\t/a.c\t3\tf\t/b.c\t1\t\n", "sites-reached\t\t3\tf\t/b.c\t1\tg\n", "sites-seen\t/a.c\t3\tf\t/b.c\t1\tg\n",
	};
	const struct plan_entry caller = { .file = (char[]){ "/src/a.c" }, .name = (char[]){ "f" }, .line = 3, .key = function_key("/src/a.c", 3, "f") },
				callee = { .file = (char[]){ "/b.cc" }, .name = (char[]){ "g(int)" }, .line = 4, .key = function_key("/b.cc", 4, "g") };
	_cleanup_(plan_freep) struct plan *p = plan_new(), *q = NULL;
	struct diag d = DIAG_INIT;

	(void)state;
	plan_add_sites(p, &caller, &callee, false);
	plan_add_sites(p, &callee, &caller, true);
	assert_int_equal(plan_write("sites.tmp", p, &d), 0);
	assert_int_equal(plan_read("sites.tmp", &q, &d), 0);
	assert_int_equal(q->sites.cnt, 2);
	assert_string_equal(q->sites.items[0].callee.name, "g");	/* as in the file */
	assert_string_equal(q->sites.items[0].caller.file, "/src/a.c");
	assert_int_equal(q->sites.items[0].callee.line, 4);
	assert_true(!q->sites.items[0].is_reached && q->sites.items[1].is_reached);
	assert_true(plan_tells_callers(q, callee.key) && plan_tells_calls(q, caller.key));
	assert_false(plan_tells_calls(q, function_key("/src/c.c", 5, "g")));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_(freep) char *text = xasprintf("vprof-plan 1\n%s", bad[i]);
		struct plan *none = NULL;

		assert_int_equal(file_write("sites.tmp", text, strlen(text), 0600), 0);
		assert_int_equal(plan_read("sites.tmp", &none, &d), -EBADMSG);
		assert_null(none);
	}
	unlink("sites.tmp");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_sites) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
