/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which variables lock:NAME means, by their symbols; and that this program's own are found. */
#include <string.h>
#include "base/elf.h"
#include "base/text/symbol.h"
#include "tests/unit/cmocka_all.h"

int planted_lock[10];

static void test_names(void **state)
{
	(void)state;
	assert_true(symbol_is_variable("log_lock", "log_lock"));
	assert_true(symbol_is_variable("log_lock.3", "log_lock"));	/* static, in a function */
	assert_false(symbol_is_variable("log_lock2", "log_lock"));
	assert_false(symbol_is_variable("log_lock.part", "log_lock"));
	assert_false(symbol_is_variable("my_log_lock", "log_lock"));
	assert_true(symbol_is_variable("_ZL8log_lock", "log_lock"));
	assert_true(symbol_is_variable("_ZN6server8log_lockE", "log_lock"));
	assert_true(symbol_is_variable("_ZN6server8log_lockE", "server::log_lock"));
	assert_true(symbol_is_variable("_ZN12_GLOBAL__N_18log_lockE", "log_lock"));
	assert_true(symbol_is_variable("_ZZ3runvE8log_lock", "log_lock"));
	assert_false(symbol_is_variable("_ZN6server8log_lockE", "client::log_lock"));
	assert_false(symbol_is_variable("_ZL9log_locks", "log_lock"));
	assert_false(symbol_is_variable("_ZL12more_8log_lock", "log_lock.x"));
	assert_false(symbol_is_variable("_Z", "log_lock"));
}

static void take(void *arg, const struct elf_function *v)
{
	uint64_t *found = arg;

	if (strcmp(v->name, "planted_lock") == 0)
		*found = v->bytes;
	assert_string_not_equal(v->name, "main");	/* no functions */
}

static void test_variables(void **state)
{
	_cleanup_(elf_closep) struct elf *e = NULL;
	uint64_t found = 0;

	(void)state;
	assert_int_equal(elf_open("/proc/self/exe", &e), 0);
	elf_variables(e, take, &found);
	assert_int_equal(found, sizeof(planted_lock));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names), cmocka_unit_test(test_variables) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
