/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_fold_inline.c - what is folded: inline, short, and in many units; all three.
 */
#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "cmd/fold_inline.h"

/* Whether a function of so many lines in so many units is folded. */
static bool folds(bool is_inline, uint32_t lines, unsigned unit_cnt)
{
	_cleanup_(project_freep) struct project *p = xcalloc(1, sizeof(*p));
	struct scan_function here = { .key = 7 };
	struct unit unit = { .functions = { &here, 1, 1 } };
	units scanned = { NULL, 0, 0 };
	bool folded;

	for (unsigned i = 0; i < unit_cnt; i++)
		VEC_ADD(&scanned, &unit);
	p->arena = arena_new();
	VEC_ADD(&p->functions, (struct project_function){ .key = 7, .line = 10, .end_line = 9 + lines,
							  .is_inline = is_inline });
	fold_inline(p, &scanned);
	folded = p->functions.items[0].folded;
	VEC_RELEASE(&scanned);
	return folded;
}

static void test_all_three(void **state)
{
	(void)state;
	assert_true(folds(true, 4, 17));
	assert_true(folds(true, 16, 900));
	assert_false(folds(false, 4, 900));
	assert_false(folds(true, 17, 900));
	assert_false(folds(true, 4, 16));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_three),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
