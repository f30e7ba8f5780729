/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * query.c - the user's own SQL, for reading only.
 *
 * While the statement is compiled, an authorizer permits only reading: no INSERT, no ATTACH of other files, no PRAGMA
 * that sets something.  "SELECT 1; DROP TABLE run" is refused because it is two statements.
 *
 * Views in the file are not read, since another user may have made them (store.c), for example one that never ends.
 * Our own view is made anew, for this connection only.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "store/db.h"
#include "store/query.h"

/* These only describe the schema, or check the file, even with an argument. */
static const char *const reading_pragmas[] = {
	"table_info", "table_xinfo", "table_list", "index_list", "index_info", "foreign_key_list",
	"integrity_check", "quick_check",
};

static int allow_pragma(const char *name, const char *argument)
{
	for (size_t i = 0; i < ARRAY_SIZE(reading_pragmas); i++)
		if (sqlite3_stricmp(name, reading_pragmas[i]) == 0)
			return SQLITE_OK;
	if (!argument && sqlite3_stricmp(name, "user_version") == 0)
		return SQLITE_OK;
	return SQLITE_DENY;
}

static int allow(void *arg, int action, const char *first, const char *second, const char *database,
		 const char *trigger)
{
	(void)arg;
	(void)database;
	(void)trigger;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_FUNCTION:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_PRAGMA:
		return allow_pragma(first, second);
	default:
		return SQLITE_DENY;
	}
}

static void finalizep(sqlite3_stmt **st)
{
	sqlite3_finalize(*st);
}

static int refuse(struct diag *reterr, const char *why)
{
	diag_set(reterr, EXIT_USAGE, -EINVAL, "cannot run the query: %s", why);
	return diag_remedy(reterr, -EINVAL, "vprof sql --format csv \"SELECT sql FROM sqlite_schema\""
			   " prints the tables");
}

static int compile(struct store *s, const char *sql, sqlite3_stmt **ret, struct diag *reterr)
{
	const char *rest = NULL;
	int code, r = db_run(s, STMT_LATEST_FACTOR, reterr);

	if (r < 0)
		return r;
	sqlite3_set_authorizer(s->db, allow, NULL);
	code = sqlite3_prepare_v2(s->db, sql, -1, ret, &rest);
	sqlite3_set_authorizer(s->db, NULL, NULL);
	if (code == SQLITE_AUTH)
		return refuse(reterr, "it would do more than read");
	if (code != SQLITE_OK)
		return refuse(reterr, sqlite3_errmsg(s->db));
	if (!*ret)
		return refuse(reterr, "it is empty");
	if (!sqlite3_stmt_readonly(*ret))	/* VACUUM does not ask the authorizer */
		return refuse(reterr, "it would do more than read");
	while (isspace((unsigned char)*rest) || *rest == ';')
		rest++;
	if (*rest)
		return refuse(reterr, "it has more than one statement");
	return 0;
}

static struct value read_value(sqlite3_stmt *st, int column)
{
	struct value v = { .type = VALUE_NULL };

	switch (sqlite3_column_type(st, column)) {
	case SQLITE_INTEGER:
		v.type = VALUE_INTEGER;
		v.integer = sqlite3_column_int64(st, column);
		break;
	case SQLITE_FLOAT:
		v.type = VALUE_REAL;
		v.real = sqlite3_column_double(st, column);
		break;
	case SQLITE_TEXT:
		v.type = VALUE_TEXT;
		v.bytes = sqlite3_column_text(st, column);
		v.len = (size_t)sqlite3_column_bytes(st, column);
		break;
	case SQLITE_BLOB:
		v.type = VALUE_BLOB;
		v.bytes = sqlite3_column_blob(st, column);
		v.len = (size_t)sqlite3_column_bytes(st, column);
		break;
	}
	return v;
}

static void pass_columns(sqlite3_stmt *st, int cnt, const struct query_sink *sink)
{
	const char **names = xcalloc((size_t)cnt + 1, sizeof(*names));

	for (int i = 0; i < cnt; i++)
		names[i] = sqlite3_column_name(st, i);
	sink->columns(sink->arg, names, (size_t)cnt);
	free(names);
}

int store_query(struct store *s, const char *sql, const struct query_sink *sink,
		struct diag *reterr)
{
	_cleanup_(finalizep) sqlite3_stmt *st = NULL;
	_cleanup_(freep) struct value *values = NULL;
	int cnt, code;
	int r = compile(s, sql, &st, reterr);

	if (r < 0)
		return r;
	cnt = sqlite3_column_count(st);
	values = xcalloc((size_t)cnt + 1, sizeof(*values));
	pass_columns(st, cnt, sink);
	while ((code = sqlite3_step(st)) == SQLITE_ROW) {
		for (int i = 0; i < cnt; i++)
			values[i] = read_value(st, i);
		sink->row(sink->arg, values, (size_t)cnt);
	}
	if (code == SQLITE_DONE)
		return 0;
	/* Errors that only show during execution, e.g. an overflow in sum(). */
	if (code == SQLITE_ERROR || code == SQLITE_MISMATCH)
		return refuse(reterr, sqlite3_errmsg(s->db));
	return db_error(s, reterr);
}
