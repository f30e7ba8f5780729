/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_leave_out.c - heights with and without the functions that report errors.
 *
 *	handle -> lock -> fail -> format -> allocate;  handle -> die;  die -> flush -> write;  log -> fail
 *
 * With everything: write 0, flush 1, die 2; allocate 0, format 1, fail 2, lock 3, log 3, handle 4.
 * Without calls of fail and die (noreturn): lock 0, handle 1, log 0; fail and die stay 2.
 */
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "project/runs/leave_out.h"
#include "project/runs/run_graph.h"

enum { HANDLE, LOCK, FAIL, FORMAT, ALLOCATE, DIE, FLUSH, WRITE, LOG, FUNCTION_CNT };

static const char *const names[] = {
	"handle", "lock", "fail", "format", "allocate", "die", "flush", "write", "log"
};

static struct project *sample(void)
{
	static const uint32_t calls[][2] = {
		{ HANDLE, LOCK }, { LOCK, FAIL }, { FAIL, FORMAT }, { FORMAT, ALLOCATE },
		{ HANDLE, DIE }, { DIE, FLUSH }, { FLUSH, WRITE }, { LOG, FAIL },
	};
	struct project *p = xcalloc(1, sizeof(*p));

	p->arena = arena_new();
	for (uint32_t i = 0; i < FUNCTION_CNT; i++)
		VEC_ADD(&p->functions, (struct project_function){ .name = names[i],
								  .no_return = i == DIE });
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		VEC_ADD(&p->calls, (struct project_call){ calls[i][0], calls[i][1], NULL, false, false, false });
	return p;
}

/* Heights in the order of names, and what matched nothing. */
static void check(const char *text, const uint32_t *heights, const char *unused)
{
	_cleanup_(config_release) struct config c = { 0 };
	_cleanup_(project_freep) struct project *p = sample();
	_cleanup_(freep) uint32_t *got = NULL;
	_cleanup_(str_release) struct str s = STR_INIT;

	assert_int_equal(config_parse(text, "vprof.conf", &c, NULL), 0);
	leave_out(p, &c);
	got = graph_heights(p);
	for (size_t i = 0; i < FUNCTION_CNT; i++)
		if (got[i] != heights[i])
			fail_msg("%s: height %u, not %u", names[i], got[i], heights[i]);
	leave_out_unused(p, &c, &s);
	assert_string_equal(str_cstr(&s), unused);
}

static void test_heights(void **state)
{
	static const uint32_t all[] = { 4, 3, 2, 1, 0, 2, 1, 0, 3 };
	static const uint32_t no_die[] = { 4, 3, 2, 1, 0, 2, 1, 0, 3 };
	static const uint32_t no_fail[] = { 1, 0, 2, 1, 0, 2, 1, 0, 0 };
	static const uint32_t die_counts[] = { 3, 0, 2, 1, 0, 2, 1, 0, 0 };

	(void)state;
	check("", no_die, "");
	check("[callgraph]\nleave-out =\n", all, "");
	check("[callgraph]\nleave-out = f[ab]il*\nleave-out = elog\n", no_fail,
	      "leave-out = elog");
	check("[callgraph]\nleave-out = elog\nleave-out =\nleave-out = fail\n", die_counts, "");
}

static void test_patterns(void **state)
{
	_cleanup_(config_release) struct config c = { 0 };
	_cleanup_(project_freep) struct project *p = sample();

	(void)state;
	assert_int_equal(config_parse("[callgraph]\nleave-out = l*\n", "vprof.conf", &c, NULL), 0);
	leave_out(p, &c);
	assert_true(p->functions.items[LOCK].left_out && p->functions.items[LOG].left_out);
	assert_true(p->functions.items[DIE].left_out);
	assert_false(p->functions.items[FLUSH].left_out || p->functions.items[HANDLE].left_out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heights),
		cmocka_unit_test(test_patterns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
