/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_header_functions.c - what is looked through: short in many units, or of any length in very many; and which functions release
 * then: the callers of such a function that does.
 */
#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "project/build/header_functions.h"

/* Whether a function of that many lines in that many units is looked through. */
static bool folds(uint32_t lines, unsigned unit_cnt)
{
	_cleanup_(project_freep) struct project *p = xcalloc(1, sizeof(*p));
	struct scan_function here = { .key = 7 };
	struct unit unit = { .functions = { &here, 1, 1 } };
	units scanned = { NULL, 0, 0 };
	bool looked_through;

	for (unsigned i = 0; i < unit_cnt; i++)
		VEC_ADD(&scanned, &unit);
	p->arena = arena_new();
	VEC_ADD(&p->functions, (struct project_function){ .key = 7, .line = 10, .end_line = 9 + lines });
	look_through_header_functions(p, &scanned);
	looked_through = p->functions.items[0].looked_through;
	VEC_RELEASE(&scanned);
	return looked_through;
}

static void test_short(void **state)
{
	(void)state;
	assert_true(folds(4, 17));
	assert_true(folds(16, 128));
	assert_false(folds(17, 17));
	assert_false(folds(4, 16));
}

static void test_any_length(void **state)
{
	(void)state;
	assert_true(folds(90, 129));
	assert_false(folds(90, 128));
}

enum { COMMIT, UNLOCK_TABLE, UNLOCK, POINTER, OTHER, FUNCTION_CNT };

/* commit calls unlock_table calls unlock, both of these short and in 20 units; unlock calls a primitive.  pointer calls it
 * through a pointer, other has a call the other way round. */
static void test_callers_release(void **state)
{
	static const struct project_call calls[] = {
		{ COMMIT, UNLOCK_TABLE, NULL, false, false, false }, { UNLOCK_TABLE, UNLOCK, NULL, false, false, false },
		{ POINTER, UNLOCK, NULL, true, false, false }, { UNLOCK, OTHER, NULL, false, false, false },
	};
	_cleanup_(project_freep) struct project *p = xcalloc(1, sizeof(*p));
	struct scan_function both[] = { { .key = UNLOCK_TABLE }, { .key = UNLOCK } };
	struct unit unit = { .functions = { both, 2, 2 } };
	units scanned = { NULL, 0, 0 };

	(void)state;
	p->arena = arena_new();
	for (int i = 0; i < 20; i++)
		VEC_ADD(&scanned, &unit);
	for (uint64_t i = 0; i < FUNCTION_CNT; i++)
		VEC_ADD(&p->functions, (struct project_function){ .key = i, .line = 10, .end_line = 12,
								  .releases = i == UNLOCK });
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		VEC_ADD(&p->calls, calls[i]);
	look_through_header_functions(p, &scanned);
	assert_true(p->functions.items[UNLOCK].looked_through && p->functions.items[UNLOCK_TABLE].looked_through);
	assert_false(p->functions.items[COMMIT].looked_through);
	assert_true(p->functions.items[COMMIT].releases);
	assert_false(p->functions.items[POINTER].releases);
	assert_false(p->functions.items[OTHER].releases);
	VEC_RELEASE(&scanned);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_any_length),
		cmocka_unit_test(test_callers_release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
