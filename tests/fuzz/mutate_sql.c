/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mutate_sql.c - statements that turn a good vprof.db into an inconsistent one.
 *
 *	UPDATE OR REPLACE node SET parent = -1 WHERE id IN (SELECT id FROM node LIMIT 1 OFFSET 3);
 *	INSERT OR REPLACE INTO factor SELECT finding, 4294967296, kind, ... FROM factor LIMIT 2;
 *	DROP TABLE part;  CREATE VIEW part AS WITH RECURSIVE ...;
 *
 * Tables and columns are those of store/schema.sql.  One time in eight the text is changed as bytes, by libFuzzer,
 * which also knows the words of tests/fuzz/corpus/db.
 */
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "tests/fuzz/mutate.h"

enum { TABLES_MAX = 64, COLUMNS_MAX = 40, STATEMENTS_MAX = 12 };

static const char schema[] =
#include "store/schema.inc"
	;

static struct table {
	char *name, *columns[COLUMNS_MAX];
	size_t column_cnt;
} tables[TABLES_MAX];
static size_t table_cnt;

static const char *const values[] = {
	"NULL", "0", "1", "-1", "2", "3", "2147483647", "-2147483648", "4294967295", "4294967296",
	"9223372036854775807", "-9223372036854775808", "9007199254740993", "0.5", "-0.25", "1e-320", "1e300",
	"-1e300", "9e999", "-9e999", "''", "'f'", "'g'", "'handle'", "'other'", "'lock'", "'queue'",
	"'function'", "'body'", "'wait'", "'blame'", "'pair'", "'interval'", "'running'", "'record'", "'merge'",
	"'recording'", "'wait:lock in f'", "x'ff'", "x'c0af'", "x'00'", "CAST(x'66ff2566' AS TEXT)",
	"CAST(x'6600' AS TEXT)", "char(27) || '[2J'", "char(10)", "'%s%n'", "'a,b\"c'", "zeroblob(70000)",
	"printf('%.*c', 9000, 'f')", "printf('%.*c', 300, char(8240))",
};

static void add_column(const char *table, const char *column)
{
	struct table *t = &tables[table_cnt ? table_cnt - 1 : 0];

	if (!table_cnt || strcmp(t->name, table) != 0) {
		if (table_cnt == TABLES_MAX)
			return;
		t = &tables[table_cnt++];
		t->name = xstrdup(table);
	}
	if (t->column_cnt < COLUMNS_MAX)
		t->columns[t->column_cnt++] = xstrdup(column);
}

static void read_schema(void)
{
	sqlite3_stmt *st = NULL;
	sqlite3 *db = NULL;

	if (sqlite3_open(":memory:", &db) || sqlite3_exec(db, schema, NULL, NULL, NULL) ||
	    sqlite3_prepare_v2(db, "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c"
			       " WHERE m.type = 'table' ORDER BY m.rowid, c.cid", -1, &st, NULL)) {
		fprintf(stderr, "fuzz: schema: %s\n", sqlite3_errmsg(db));
		exit(99);
	}
	while (sqlite3_step(st) == SQLITE_ROW)
		add_column((const char *)sqlite3_column_text(st, 0), (const char *)sqlite3_column_text(st, 1));
	sqlite3_finalize(st);
	sqlite3_close(db);
}

static size_t any(size_t cnt)
{
	return (size_t)rand() % cnt;
}

static const char *any_value(const struct table *t)
{
	return any(6) ? values[any(ARRAY_SIZE(values))] : t->columns[any(t->column_cnt)];
}

/* Chooses all rows, some, or one. */
static void add_where(struct str *s, const struct table *t)
{
	const char *key = t->columns[any(t->column_cnt)];

	switch (any(4)) {
	case 0:
		break;
	case 1:
		str_addf(s, " WHERE %s = %s", key, any_value(t));
		break;
	case 2:
		str_addf(s, " WHERE %s %% %zu = 0", key, 2 + any(5));
		break;
	default:
		str_addf(s, " WHERE %s IN (SELECT %s FROM %s LIMIT 1 OFFSET %zu)", key, key, t->name, any(12));
	}
}

static void add_insert(struct str *s, const struct table *t)
{
	size_t changed = any(t->column_cnt), also = any(t->column_cnt);

	str_addf(s, "INSERT OR REPLACE INTO %s SELECT ", t->name);
	for (size_t i = 0; i < t->column_cnt; i++)
		str_addf(s, "%s%s", i ? ", " : "", i == changed || i == also ? any_value(t) : t->columns[i]);
	str_addf(s, " FROM %s LIMIT %zu;\n", t->name, 1 + any(5));
}

static void add_schema_change(struct str *s, const struct table *t)
{
	const char *column = t->columns[any(t->column_cnt)];

	switch (any(9)) {
	case 0:
		str_addf(s, "DROP TABLE %s;\n", t->name);
		break;
	case 1:
		str_addf(s, "ALTER TABLE %s RENAME TO old; CREATE VIEW %s AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
			 "SELECT i + 1 FROM n) SELECT old.* FROM old, n;\n", t->name, t->name);
		break;
	case 2:
		str_addf(s, "CREATE TRIGGER t%zu BEFORE %s ON %s BEGIN INSERT OR REPLACE INTO setting WITH RECURSIVE "
			 "n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, i FROM n; END;\n", any(9),
			 any(2) ? "DELETE" : "INSERT", t->name);
		break;
	case 3:
		str_addf(s, "ALTER TABLE %s RENAME COLUMN %s TO %s;\n", t->name, column, any(2) ? "gone" : "rowid");
		break;
	case 4:
		str_addf(s, "ALTER TABLE %s DROP COLUMN %s;\n", t->name, column);
		break;
	case 5:
		str_addf(s, "DROP TABLE %s; CREATE VIRTUAL TABLE %s USING fts5(%s, x);\n", t->name, t->name, column);
		break;
	case 6:
		str_addf(s, "ALTER TABLE %s DROP COLUMN %s; ALTER TABLE %s ADD COLUMN %s GENERATED ALWAYS AS "
			 "(hex(zeroblob(60000)));\n", t->name, column, t->name, column);
		break;
	case 7:
		str_addf(s, "PRAGMA user_version = %zu;\n", any(4));
		break;
	default:
		str_addf(s, "CREATE INDEX i%zu ON %s(%s, lower(%s));\n", any(9), t->name, column, column);
	}
}

static void add_statement(struct str *s)
{
	const struct table *t = &tables[any(table_cnt)];

	switch (any(12)) {
	case 0:
		str_addf(s, "DELETE FROM %s", t->name);
		add_where(s, t);
		str_add(s, ";\n");
		break;
	case 1:
	case 2:
	case 3:
		add_insert(s, t);
		break;
	case 4:
		add_schema_change(s, t);
		break;
	default:
		str_addf(s, "UPDATE OR REPLACE %s SET %s = %s", t->name, t->columns[any(t->column_cnt)],
			 any_value(t));
		if (!any(3))
			str_addf(s, ", %s = %s", t->columns[any(t->column_cnt)], any_value(t));
		add_where(s, t);
		str_add(s, ";\n");
	}
}

/* Lines of text that stay; one may go, or come again. */
static void keep_lines(struct str *s, const char *text, size_t len)
{
	size_t line = 0, odd = any(STATEMENTS_MAX);
	bool doubled = any(4) == 0;

	while (len && line < STATEMENTS_MAX) {
		const char *end = memchr(text, '\n', len);
		size_t cnt = end ? (size_t)(end - text) + 1 : len;

		for (size_t i = line++ == odd ? doubled ? 0 : 2 : 1; i < 2; i++)
			str_addn(s, text, cnt);
		text += cnt;
		len -= cnt;
	}
}

size_t mutate_sql(uint8_t *data, size_t len, size_t cap, unsigned int seed)
{
	_cleanup_(str_release) struct str s = STR_INIT;

	if (!table_cnt)
		read_schema();
	srand(seed);
	if ((len > 15 && !memcmp(data, "SQLite format 3", 15)) || any(8) == 0)
		return LLVMFuzzerMutate(data, len, cap);
	keep_lines(&s, (const char *)data, len);
	add_statement(&s);
	if (s.len > cap)
		return LLVMFuzzerMutate(data, len, cap);
	memcpy(data, s.data, s.len);
	return s.len;
}
