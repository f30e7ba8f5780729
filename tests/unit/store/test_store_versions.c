/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_store_versions.c - a database of an older version is brought up to date by whoever opens it; one of a newer version,
 * or from before the first release, is refused and stays as it was.
 *
 * This program's schema has version 1, so the test has two later ones:
 *
 *	2	table machine, column unit.compiler
 *	3	column machine.cpus
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "base/file.h"
#include "store/schema.h"
#include "tests/unit/same_findings.h"
#include "tests/unit/sample_findings.h"
#include "tests/unit/store/store_dir.h"

static const struct new_column columns[] = {
	{ 1, 2, "ALTER TABLE unit ADD COLUMN compiler TEXT DEFAULT 'cc'" },
	{ 2, 3, "ALTER TABLE machine ADD COLUMN cpus INTEGER NOT NULL DEFAULT 7" },
};

static const struct schema version_2 = {
	2, "PRAGMA user_version = 2; CREATE TABLE IF NOT EXISTS machine (name TEXT);", columns, 1,
};

static const struct schema version_3 = {
	3, "PRAGMA user_version = 3; CREATE TABLE IF NOT EXISTS machine (name TEXT, cpus INTEGER NOT NULL DEFAULT 7);",
	columns, 2,
};

static struct store *open_as(const struct schema *schema, bool create)
{
	struct diag d = DIAG_INIT;
	struct store *s = NULL;

	if (store_open_schema(dir, create, schema, &s, &d) < 0)
		fail_msg("%s", d.text);
	return s;
}

/* A run with findings, a unit of the project, and a setting, by this program. */
static void make_version_1(void)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	struct run r = { .status = RUN_ANALYSED };
	struct store *s = open_store(true);

	assert_int_equal(run_create(s, &r, NULL), 0);
	assert_int_equal(findings_write(s, r.number, &f, 1, NULL), 0);
	assert_int_equal(setting_set(s, "build.command", "make", NULL), 0);
	store_close(s);
	run_sql("INSERT INTO unit VALUES ('/p/a.o', '/p/a.c', '/p', NULL, NULL)");
}

static void check_kept(struct store *s)
{
	_cleanup_(findings_freep) struct findings *f = NULL, *before = sample_server();
	_cleanup_(freep) char *command = setting_get(s, "build.command");

	assert_string_equal(command, "make");
	assert_int_equal(findings_read(s, 1, NULL, &f, NULL), 0);
	same_findings(before, f);
}

/* The answer of a query that has one number; -1: there is none. */
static int number_of(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *st = NULL;
	int n = -1;

	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
		n = sqlite3_column_int(st, 0);
	sqlite3_finalize(st);
	return n;
}

static void check_version(struct store *s, int version)
{
	assert_int_equal(number_of(s->db, "PRAGMA user_version"), version);
	assert_int_equal(number_of(s->db, "SELECT count(*) FROM unit"), 1);
	assert_int_equal(number_of(s->db, "SELECT count(*) FROM unit WHERE compiler = 'cc'"), version > 1 ? 1 : -1);
	assert_int_equal(number_of(s->db, "SELECT count(*) FROM machine"), version > 1 ? 0 : -1);
	assert_int_equal(number_of(s->db, "SELECT count(cpus) FROM machine"), version > 2 ? 0 : -1);
	check_kept(s);
}

/* Twice: what is up to date is left alone. */
static void check_upgrade(const struct schema *schema, bool create)
{
	for (size_t i = 0; i < 2; i++) {
		struct store *s = open_as(schema, create);

		check_version(s, schema->version);
		store_close(s);
	}
}

static void test_upgrade(void **state)
{
	for (int create = 0; create < 2; create++) {	/* to look, and to write */
		make_version_1();
		check_upgrade(&store_schema, create);
		check_upgrade(&version_2, create);
		check_upgrade(&version_3, create);
		drop_dir(state);
		make_dir(state);
	}
}

/* The table comes with the column that later versions added to it. */
static void test_over_two(void **state)
{
	(void)state;
	make_version_1();
	check_upgrade(&version_3, true);
}

/* The tables of the version must be those of schema.sql. */
static void test_new(void **state)
{
	struct store *s = open_store(true);

	(void)state;
	assert_int_equal(number_of(s->db, "PRAGMA user_version"), store_schema.version);
	store_close(s);
	store_close(open_store(true));
}

static void check_refused(const char *text, const char *remedy)
{
	_cleanup_(freep) char *path = path_join(dir, "vprof.db"), *before = NULL;
	size_t before_len;

	assert_int_equal(file_read(path, &before, &before_len), 0);
	for (int create = 0; create < 2; create++) {
		_cleanup_(freep) char *after = NULL;
		struct diag d = DIAG_INIT;
		struct store *s = NULL;
		size_t after_len;

		assert_int_equal(store_open(dir, create, &s, &d), -EBADMSG);
		assert_null(s);
		assert_int_equal(d.status, EXIT_DATA);
		assert_non_null(strstr(d.text, path));
		assert_non_null(strstr(d.text, text));
		assert_non_null(strstr(d.remedy, remedy));
		assert_int_equal(file_read(path, &after, &after_len), 0);
		assert_int_equal(after_len, before_len);
		assert_memory_equal(after, before, before_len);
	}
}

static void test_newer(void **state)
{
	(void)state;
	make_version_1();
	store_close(open_as(&version_2, true));
	check_refused("newer vprof (schema 2, this program knows 1)", "use that vprof");
}

static void test_before_the_first_release(void **state)
{
	(void)state;
	run_sql("PRAGMA application_id = 0x7670726f; PRAGMA user_version = 19; CREATE TABLE run (number INTEGER)");
	check_refused("from before the first release", "move");
	run_sql("PRAGMA user_version = 1");
	check_refused("from before the first release", "move");
}

/* In a directory that others may write to it is only looked at: the file stays as it was, and is read all the same. */
static void test_only_looked_at(void **state)
{
	_cleanup_(freep) char *path = path_join(dir, "vprof.db"), *before = NULL, *after = NULL;
	size_t before_len, after_len;
	struct diag d = DIAG_INIT;
	struct store *s;

	(void)state;
	make_version_1();
	assert_int_equal(file_read(path, &before, &before_len), 0);
	assert_int_equal(chmod(dir, 0777), 0);
	s = open_as(&version_2, false);
	check_version(s, 2);
	assert_int_equal(store_check_ours(s, &d), -EPERM);
	assert_non_null(strstr(d.text, "other users may write to"));
	store_close(s);
	assert_int_equal(file_read(path, &after, &after_len), 0);
	assert_int_equal(after_len, before_len);
	assert_memory_equal(after, before, before_len);
	assert_int_equal(store_open_schema(dir, true, &version_2, &s, &d), -EPERM);
	assert_int_equal(chmod(dir, 0700), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)
		TEST(test_upgrade), TEST(test_over_two), TEST(test_new), TEST(test_newer),
		TEST(test_before_the_first_release), TEST(test_only_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
