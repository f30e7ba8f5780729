/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_store_hostile.c - a vprof.db in which somebody put what SQLite would run by itself.  More of its kind is in
 * tests/fuzz/corpus/db.
 *
 * Views and triggers that came to be run would not end: then this test hangs.
 */
#include <sqlite3.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "store/query.h"
#include "tests/unit/sample_findings.h"
#include "tests/unit/store/data_dir.h"

#define ENDLESS "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n) "

/* A store with one run, to which sql was done. */
static struct store *store_after(const char *sql)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	_cleanup_(freep) char *path = path_join(dir, "vprof.db");
	struct run run = { .status = RUN_RECORDED };
	struct diag d = DIAG_INIT;
	struct store *s = NULL;
	char *message = NULL;
	sqlite3 *db;

	assert_int_equal(store_open(dir, true, &s, &d), 0);
	assert_int_equal(setting_set(s, "build.command", "make", &d), 0);
	assert_int_equal(run_create(s, &run, &d), 0);
	assert_int_equal(findings_write(s, run.number, &f, 1, &d), 0);
	store_close(s);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_exec(db, sql, NULL, NULL, &message);
	if (message)
		fail_msg("%s: %s", sql, message);
	sqlite3_close(db);
	assert_int_equal(store_open(dir, false, &s, &d), 0);
	return s;
}

static void expect_unreadable(const char *sql, const char *why)
{
	_cleanup_(store_closep) struct store *s = store_after(sql);
	struct findings *f = NULL;
	struct diag d = DIAG_INIT;

	assert_true(findings_read(s, 1, NULL, &f, &d) < 0);
	assert_null(f);
	assert_int_equal(d.status, EXIT_DATA);
	if (!strstr(d.text, why))
		fail_msg("'%s' does not say '%s'", d.text, why);
}

static void test_endless_view_for_a_table(void **state)
{
	(void)state;
	expect_unreadable("ALTER TABLE node RENAME TO old; CREATE VIEW node AS " ENDLESS
			  "SELECT old.* FROM old, n", "cannot use");
}

static void test_view_for_a_table(void **state)
{
	(void)state;
	expect_unreadable("ALTER TABLE tail RENAME TO old; CREATE VIEW tail AS SELECT * FROM old", "view");
}

static void test_module_for_a_table(void **state)
{
	(void)state;
	expect_unreadable("DROP TABLE part; CREATE VIRTUAL TABLE part USING fts5(finding, position)",
			  "no such module");
}

static void test_no_column(void **state)
{
	(void)state;
	expect_unreadable("ALTER TABLE tail RENAME COLUMN quantile TO place", "another version of vprof made it");
}

static void test_trigger(void **state)
{
	_cleanup_(store_closep) struct store *s = store_after(
		"CREATE TRIGGER endless BEFORE DELETE ON node BEGIN INSERT OR REPLACE INTO setting "
		ENDLESS "SELECT i, i FROM n; END;"
		"CREATE TRIGGER other AFTER INSERT ON finding BEGIN"
		" UPDATE setting SET value = 'rm -rf /'; END");
	_cleanup_(findings_freep) struct findings *f = sample_server();
	struct diag d = DIAG_INIT;
	char *command;

	(void)state;
	assert_int_equal(findings_write(s, 1, &f, 1, &d), 0);
	command = setting_get(s, "build.command");
	assert_string_equal(command, "make");
	free(command);
}

static void test_null(void **state)
{
	_cleanup_(store_closep) struct store *s = store_after(
		"DROP TABLE setting; CREATE TABLE setting(name, value);"
		"INSERT INTO setting VALUES ('build.command', NULL)");

	(void)state;
	assert_null(setting_get(s, "build.command"));
}

/* Times that no clock shows: sums of them would not be numbers any more. */
static void test_times(void **state)
{
	static const struct {
		const char *sql;
		bool is_good;
	} cases[] = {
		{ "UPDATE run SET duration_ns = 4000000000000000000, started_ns = 4000000000000000000", true },
		{ "UPDATE run SET started_ns = 0, duration_ns = 4000000000000000001", false },
		{ "UPDATE run SET started_ns = 0, duration_ns = -1", false },
		{ "UPDATE run SET duration_ns = 0, started_ns = 9223372036854775807", false },
		{ "UPDATE run SET duration_ns = 0, started_ns = -9223372036854775808", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_(store_closep) struct store *s = store_after(cases[i].sql);
		_cleanup_(run_release) struct run run = { 0 };
		struct diag d = DIAG_INIT;
		int r = run_find(s, NULL, &run, &d);

		if (cases[i].is_good != (r == 0))
			fail_msg("%s: %d %s", cases[i].sql, r, d.text);
		if (r < 0)
			assert_int_equal(d.status, EXIT_DATA);
	}
}

static void count_columns(void *arg, const char *const *names, size_t cnt)
{
	(void)arg, (void)names, (void)cnt;
}

static void count_row(void *arg, const struct value *values, size_t cnt)
{
	(void)values, (void)cnt;
	++*(size_t *)arg;
}

/* A view of the file's is not read by a query either, nor is one that only has our name. */
static void test_views_of_queries(void **state)
{
	_cleanup_(store_closep) struct store *s = store_after(
		"DROP VIEW latest_factor; CREATE VIEW latest_factor AS " ENDLESS "SELECT i FROM n;"
		"CREATE VIEW theirs AS " ENDLESS "SELECT i FROM n");
	size_t rows = 0;
	struct query_sink sink = { count_columns, count_row, &rows };
	struct diag d = DIAG_INIT;

	(void)state;
	assert_true(store_query(s, "SELECT * FROM theirs", &sink, &d) < 0);
	assert_int_equal(d.status, EXIT_USAGE);
	assert_true(store_query(s, "SELECT * FROM main.latest_factor", &sink, &d) < 0);
	assert_int_equal(rows, 0);
	assert_int_equal(store_query(s, "SELECT function, share FROM latest_factor", &sink, &d), 0);
	assert_in_range(rows, 2, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_endless_view_for_a_table, make_dir, drop_dir),
		cmocka_unit_test_setup_teardown(test_view_for_a_table, make_dir, drop_dir),
		cmocka_unit_test_setup_teardown(test_module_for_a_table, make_dir, drop_dir),
		cmocka_unit_test_setup_teardown(test_no_column, make_dir, drop_dir),
		cmocka_unit_test_setup_teardown(test_trigger, make_dir, drop_dir),
		cmocka_unit_test_setup_teardown(test_null, make_dir, drop_dir),
		cmocka_unit_test_setup_teardown(test_times, make_dir, drop_dir),
		cmocka_unit_test_setup_teardown(test_views_of_queries, make_dir, drop_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
