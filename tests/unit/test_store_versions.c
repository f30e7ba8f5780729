/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_store_versions.c - a vprof.db of an older program is brought up to date by whoever opens it.  An
 * older one is made by taking away what came later.
 */
#include <sqlite3.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "base/file.h"
#include "store/store.h"
#include "tests/unit/data_dir.h"

static struct store *open_store(void)
{
	struct diag d = DIAG_INIT;
	struct store *s = NULL;

	if (store_open(dir, true, &s, &d) < 0)
		fail_msg("%s", d.text);
	return s;
}

static void run_sql(const char *sql)
{
	_cleanup_(freep) char *path = path_join(dir, "vprof.db");
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

/* From before there was iterate. */
static void test_open_version_1(void **state)
{
	struct iteration i = { .run = 3, .first_run = 2, .policy = (char *)"paper", .recorded_cnt = 7,
			       .dormant_cnt = 1, .added_cnt = 2, .probe_cost = 0.25,
			       .selected = (char *)"f, g", .stop = (char *)"closed" };
	struct iteration first = { .run = 2, .first_run = 2, .policy = (char *)"paper",
				   .selected = (char *)"" };
	_cleanup_(iterations_release) iterations none = { 0 }, list = { 0 };
	struct store *s = open_store();

	(void)state;
	store_close(s);
	run_sql("DROP TABLE iteration; DROP TABLE observed_call; DROP TABLE probing;"
		"ALTER TABLE function DROP COLUMN no_return; PRAGMA user_version = 1");
	assert_int_equal(store_open(dir, false, &s, NULL), 0);
	assert_int_equal(iterations_read(s, &none, NULL), 0);
	assert_int_equal(none.cnt, 0);
	store_close(s);
	s = open_store();
	assert_int_equal(iteration_write(s, &i, NULL), 0);
	assert_int_equal(iteration_write(s, &first, NULL), 0);
	assert_int_equal(iterations_read(s, &list, NULL), 0);
	assert_int_equal(list.cnt, 2);
	assert_int_equal(list.items[0].run, 2);
	assert_null(list.items[0].stop);
	assert_int_equal(list.items[1].first_run, 2);
	assert_string_equal(list.items[1].policy, "paper");
	assert_int_equal(list.items[1].recorded_cnt + list.items[1].dormant_cnt, 8);
	assert_true(list.items[1].probe_cost == 0.25);
	assert_string_equal(list.items[1].selected, "f, g");
	assert_string_equal(list.items[1].stop, "closed");
	store_close(s);
	run_sql("SELECT stop FROM iteration");
}

/* From before there were observed calls. */
static void test_open_version_2(void **state)
{
	_cleanup_(project_freep) struct project *p = NULL;
	_cleanup_(findings_freep) struct findings *f = findings_new();
	struct store *s = open_store();

	(void)state;
	store_close(s);
	run_sql("DROP TABLE observed_call; DROP TABLE probing; ALTER TABLE function DROP COLUMN no_return;"
		"PRAGMA user_version = 2");
	assert_int_equal(store_open(dir, false, &s, NULL), 0);
	assert_int_equal(project_read(s, &p, NULL), 0);
	store_close(s);
	s = open_store();
	VEC_ADD(&f->observed, (struct observed_call){ 1, 2 });
	assert_int_equal(project_add_observed(s, 1, f, NULL), 0);
	store_close(s);
}

static uint64_t root_only_of(struct store *s, uint32_t run)
{
	_cleanup_(findings_freep) struct findings *f = NULL;
	struct diag d = DIAG_INIT;

	if (findings_read(s, run, NULL, &f, &d) < 0)
		fail_msg("%s", d.text);
	return f->probing.root_only_cnt;
}

/* From before intervals could be root-only. */
static void test_open_version_3(void **state)
{
	_cleanup_(findings_freep) struct findings *f = findings_new();
	struct store *s = open_store();
	struct run r = { .status = RUN_RECORDING };

	(void)state;
	assert_int_equal(run_create(s, &r, NULL), 0);
	assert_int_equal(findings_write(s, r.number, f, NULL), 0);
	store_close(s);
	run_sql("DROP TABLE probing; ALTER TABLE function DROP COLUMN no_return;"
		"PRAGMA user_version = 3");
	assert_int_equal(store_open(dir, false, &s, NULL), 0);
	assert_int_equal(root_only_of(s, r.number), 0);
	store_close(s);
	s = open_store();
	f->probing.root_only_cnt = 7;
	assert_int_equal(findings_write(s, r.number, f, NULL), 0);
	assert_int_equal(root_only_of(s, r.number), 7);
	f->probing.root_only_cnt = 0;
	assert_int_equal(findings_write(s, r.number, f, NULL), 0);
	assert_int_equal(root_only_of(s, r.number), 0);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)
		TEST(test_open_version_1), TEST(test_open_version_2), TEST(test_open_version_3),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
