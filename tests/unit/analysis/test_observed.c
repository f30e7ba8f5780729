/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_observed.c - which calls a run shows that the call graph does not know.
 *
 * The graph: handle calls dispatch, dispatch calls get.  set has no known caller.
 */
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "analysis/analyze.h"
#include "base/banned.h"
#include "base/str.h"
#include "trace/tuples/tuples.h"

static const char graph[] =
	"vprof-tuples 1\n"
	"interval 1 r 1 0 1 100\n"
	"segment 1 1 0 100 running\n"
	"call handle dispatch\n"
	"call dispatch get\n";

/* "handle>set " for each call that the run shows, with the invocations of that text. */
static char *observed(const char *invocations, bool with_keys, bool root_only)
{
	_cleanup_(trace_freep) struct trace *t = NULL;
	_cleanup_(findings_freep) struct findings *f = NULL;
	_cleanup_(str_release) struct str text = STR_INIT;
	struct analyze_options o = { .interval = NULL };
	struct diag d = DIAG_INIT;
	struct str s = STR_INIT;

	str_addf(&text, "%s%s", graph, invocations);
	if (tuples_parse(str_cstr(&text), text.len, "t", &t, &d) < 0)
		fail_msg("%s", d.text);
	for (size_t i = 0; with_keys && i < t->functions.cnt; i++)
		t->functions.items[i].key = i + 1;
	t->intervals.items[0].root_only = root_only;
	assert_int_equal(analyze(t, &o, &f), 0);
	str_add(&s, "");
	for (size_t i = 0; i < f->observed.cnt; i++)
		str_addf(&s, "%s>%s ", t->functions.items[f->observed.items[i].caller - 1].name,
			 t->functions.items[f->observed.items[i].callee - 1].name);
	return str_take(&s);
}

static void expect(const char *invocations, const char *wanted)
{
	_cleanup_(freep) char *got = observed(invocations, true, false);

	assert_string_equal(got, wanted);
}

static void test_unexplained(void **state)
{
	(void)state;
	expect("invocation 1 1 handle 0 100\ninvocation 1 1 get 10 20\n", "");
	expect("invocation 1 1 handle 0 100\ninvocation 1 1 get 10 20\n"
	       "invocation 1 1 set 30 40\ninvocation 1 1 set 50 60\n", "handle>set ");
	/* Directly inside, not further out: set is get's. */
	expect("invocation 1 1 handle 0 100\ninvocation 1 1 get 10 40\n"
	       "invocation 1 1 set 20 30\n", "get>set ");
	/* Side by side is not inside; nor is a call of itself anything new. */
	expect("invocation 1 1 handle 0 20\ninvocation 1 1 set 20 40\n"
	       "invocation 1 1 set 50 90\ninvocation 1 1 set 60 70\n", "");
}

/* dispatch carries a probe, here seen at 60: get at 10 did not come through it. */
static void test_probed_between(void **state)
{
	(void)state;
	expect("invocation 1 1 handle 0 100\ninvocation 1 1 get 10 20\n"
	       "invocation 1 1 dispatch 60 90\ninvocation 1 1 get 70 80\n", "handle>get ");
	/* Outside intervals most probes are off: there it may have. */
	expect("invocation 1 - handle 200 300\ninvocation 1 - get 210 220\n"
	       "invocation 1 - set 230 240\ninvocation 1 1 dispatch 60 90\n", "handle>set ");
}

/* dispatch was called all the same, in an interval whose functions were not recorded. */
static void test_root_only(void **state)
{
	_cleanup_(freep) char *got = observed("invocation 1 1 handle 0 100\ninvocation 1 1 get 10 20\n"
					      "invocation 1 1 set 30 40\n"
					      "invocation 1 - dispatch 160 190\n", true, true);

	(void)state;
	assert_string_equal(got, "handle>set ");
}

static void test_unknown_functions(void **state)
{
	_cleanup_(freep) char *got = observed("invocation 1 1 handle 0 100\n"
					      "invocation 1 1 set 30 40\n", false, false);

	(void)state;
	assert_string_equal(got, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unexplained),
		cmocka_unit_test(test_probed_between),
		cmocka_unit_test(test_root_only),
		cmocka_unit_test(test_unknown_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
