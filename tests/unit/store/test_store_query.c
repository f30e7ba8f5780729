/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_store_query.c - the user's SQL: reading works, everything else is refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "base/file.h"
#include "store/query.h"
#include "tests/unit/sample_findings.h"
#include "tests/unit/store/data_dir.h"

struct collected {
	size_t columns, rows;
	char first[64];
};

static void collect_columns(void *arg, const char *const *names, size_t cnt)
{
	struct collected *c = arg;

	(void)names;
	c->columns = cnt;
}

static void collect_row(void *arg, const struct value *values, size_t cnt)
{
	struct collected *c = arg;

	(void)cnt;
	c->rows++;
	if (values[0].type == VALUE_TEXT)
		snprintf(c->first, sizeof(c->first), "%s", (const char *)values[0].bytes);
}

static int query(struct store *s, const char *sql, struct collected *c, struct diag *d)
{
	struct query_sink sink = { collect_columns, collect_row, c };

	*c = (struct collected){ 0 };
	return store_query(s, sql, &sink, d);
}

static void test_query(void **state)
{
	static const char *const refused[] = {
		"DELETE FROM run", "INSERT INTO run VALUES (1)", "DROP TABLE run", "VACUUM",
		"PRAGMA user_version = 9", "PRAGMA journal_mode = wal", "ATTACH 'x.db' AS x",
		"CREATE TABLE x(y)", "BEGIN", "SELECT 1; SELECT 2", "", "  ", "SELEC 1",
		"SELECT nothing FROM run", "SELECT sum(9223372036854775807 + 1) FROM nowhere",
	};
	_cleanup_(store_closep) struct store *s = NULL;
	_cleanup_(findings_freep) struct findings *f = sample_server();
	struct run run = { .status = RUN_RECORDED };
	struct collected c;
	struct diag d = DIAG_INIT;

	(void)state;
	assert_int_equal(store_open(dir, true, &s, &d), 0);
	assert_int_equal(run_create(s, &run, &d), 0);
	assert_int_equal(findings_write(s, run.number, &f, 1, &d), 0);
	assert_int_equal(query(s, "SELECT function, wait FROM latest_factor WHERE kind = 'wait'"
			       " ORDER BY share DESC ; ", &c, &d), 0);
	assert_int_equal(c.columns, 2);
	assert_int_equal(c.rows, 2);
	assert_int_equal(query(s, "SELECT b.function FROM because_of b ORDER BY share DESC LIMIT 1",
			       &c, &d), 0);
	assert_string_equal(c.first, "flush_log");
	assert_int_equal(query(s, "PRAGMA integrity_check", &c, &d), 0);
	assert_int_equal(query(s, "PRAGMA table_info(run)", &c, &d), 0);
	assert_int_equal(c.rows, 11);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		assert_true(query(s, refused[i], &c, &d) < 0);
		assert_int_equal(d.status, EXIT_USAGE);
	}
	assert_int_equal(query(s, "SELECT * FROM run", &c, &d), 0);
	assert_int_equal(c.rows, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_query, make_dir, drop_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
