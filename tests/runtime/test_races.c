/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_races.c - the threaded scenarios, runtime and program built with ThreadSanitizer.  A race
 * makes it exit with a status of its own.
 */
#include "tests/runtime/record.h"
#include "tests/unit/cmocka_all.h"

static void test_races(void **state)
{
	static const char *const scenarios[] = { "crowd", "mutex", "cond", "barrier", "sem", "rwlock",
		"spin", "join", "home-made", "never-spins", "handover", "cancel", "mixed", "signals", "fork" };

	(void)state;
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		struct recorded r = record("tests/runtime/target_races", scenarios[i], 2, 1 << 20);

		if (r.exit_status)
			fail_msg("%s: exit status %d", scenarios[i], r.exit_status);
		recorded_release(&r);
	}
}

/* The same words of the arena, from all sides. */
static void test_sampled(void **state)
{
	const struct drainer_options o = { .default_level = PROBE_IN_INTERVALS, .sample_full = 1,
					   .sample_of = 2, .arena_bytes = 1 << 20 };
	static const char *const scenarios[] = { "relay", "relay-forks", "mixed" };

	(void)state;
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		struct recorded r = record_with("tests/runtime/target_races", scenarios[i], &o);

		if (r.exit_status)
			fail_msg("%s: exit status %d", scenarios[i], r.exit_status);
		recorded_release(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_races), cmocka_unit_test(test_sampled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
