/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * db.c - SQLite as store/ uses it.
 *
 * Every load is one transaction, so a reader (another vprof, or sqlite3) sees the state before
 * or after it and a crash in the middle leaves the state before.  The rollback journal is kept
 * (not WAL): a database in a directory that may not be written can then still be read.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "store/db.h"

/* SQLite's errors in the user's words.  A code that is not listed is reported in SQLite's. */
static const struct {
	int code;
	int err;
	enum exit_status status;
	const char *what, *remedy;
} errors[] = {
	{ SQLITE_FULL, -ENOSPC, EXIT_ENVIRONMENT, "the disk is full",
	  "make room, then run the command again: the database is unchanged" },
	{ SQLITE_BUSY, -EBUSY, EXIT_ENVIRONMENT, "another program keeps it locked",
	  "wait for the other vprof (or sqlite3) to end, then run the command again" },
	{ SQLITE_LOCKED, -EBUSY, EXIT_ENVIRONMENT, "another program keeps it locked",
	  "wait for the other vprof (or sqlite3) to end, then run the command again" },
	{ SQLITE_READONLY, -EACCES, EXIT_ENVIRONMENT, "it may not be written",
	  "check the permissions of the data directory, or name another one with -d DIR" },
	{ SQLITE_CANTOPEN, -EACCES, EXIT_ENVIRONMENT, "it cannot be opened",
	  "check the permissions of the data directory, or name another one with -d DIR" },
	{ SQLITE_PERM, -EACCES, EXIT_ENVIRONMENT, "it may not be accessed",
	  "check the permissions of the data directory, or name another one with -d DIR" },
	{ SQLITE_IOERR, -EIO, EXIT_ENVIRONMENT, "reading or writing it failed",
	  "check the disk that holds the data directory" },
	{ SQLITE_NOTADB, -EBADMSG, EXIT_DATA, "it is not a database",
	  "move the file away; the runs' traces beside it are kept" },
	{ SQLITE_CORRUPT, -EBADMSG, EXIT_DATA, "it is damaged",
	  "move the file away; the runs' traces beside it are kept" },
	{ SQLITE_ERROR, -EBADMSG, EXIT_DATA, "another version of vprof made it, or another program changed it",
	  "use that vprof; or move the file away: the runs' traces beside it are kept" },
};

int db_error(struct store *s, struct diag *reterr)
{
	int code = sqlite3_errcode(s->db) & 0xff;

	if (code == SQLITE_READONLY && s->not_ours) {
		diag_set(reterr, EXIT_ENVIRONMENT, -EACCES, "cannot use '%s': a command that wrote to it was cut off, and %s",
			 s->path, s->not_ours);
		return diag_remedy(reterr, -EACCES, "let its owner run vprof show runs");
	}
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		if (errors[i].code != code)
			continue;
		diag_set(reterr, errors[i].status, errors[i].err, "cannot use '%s': %s (%s)",
			 s->path, errors[i].what, sqlite3_errmsg(s->db));
		return diag_remedy(reterr, errors[i].err, "%s", errors[i].remedy);
	}
	return diag_set(reterr, EXIT_DATA, -EBADMSG, "cannot use '%s': %s", s->path,
			sqlite3_errmsg(s->db));
}

int db_prepare(struct store *s, enum stmt id, sqlite3_stmt **ret, struct diag *reterr)
{
	if (!s->stmts[id]) {
		if (sqlite3_prepare_v3(s->db, stmt_sql(id), -1, SQLITE_PREPARE_PERSISTENT,
				       &s->stmts[id], NULL) != SQLITE_OK)
			return db_error(s, reterr);
	} else {
		sqlite3_reset(s->stmts[id]);
		sqlite3_clear_bindings(s->stmts[id]);
	}
	*ret = s->stmts[id];
	return 0;
}

int db_step(struct store *s, sqlite3_stmt *st, struct diag *reterr)
{
	int code = sqlite3_step(st);
	int r = 0;

	if (code == SQLITE_ROW)
		return 1;
	if (code != SQLITE_DONE)
		r = db_error(s, reterr);
	sqlite3_reset(st);
	return r;
}

int db_run(struct store *s, enum stmt id, struct diag *reterr)
{
	sqlite3_stmt *st = NULL;
	int r = db_prepare(s, id, &st, reterr);

	return r < 0 ? r : db_step(s, st, reterr);
}

int db_run_key(struct store *s, enum stmt id, int64_t key, struct diag *reterr)
{
	sqlite3_stmt *st = NULL;
	int r = db_prepare(s, id, &st, reterr);

	if (r < 0)
		return r;
	sqlite3_bind_int64(st, 1, key);
	return db_step(s, st, reterr);
}

int db_read_int(struct store *s, sqlite3_stmt *st, int64_t *ret, bool *ret_found,
		struct diag *reterr)
{
	int r = db_step(s, st, reterr);

	if (r < 0)
		return r;
	*ret_found = r > 0;
	if (r > 0) {
		*ret = sqlite3_column_int64(st, 0);
		sqlite3_reset(st);
	}
	return 0;
}

void db_bind_text(sqlite3_stmt *st, int position, const char *text)
{
	if (text)
		sqlite3_bind_text(st, position, text, -1, SQLITE_STATIC);
	else
		sqlite3_bind_null(st, position);
}

int transaction_begin(struct transaction *t, struct store *s, bool write, struct diag *reterr)
{
	int r = db_run(s, write ? STMT_BEGIN_WRITE : STMT_BEGIN_READ, reterr);

	if (r == 0)
		t->s = s;
	return r;
}

int transaction_commit(struct transaction *t, struct diag *reterr)
{
	int r = db_run(t->s, STMT_COMMIT, reterr);

	if (r == 0)
		t->s = NULL;
	return r;
}

void transaction_release(struct transaction *t)
{
	if (!t->s)
		return;
	/* SQLite may have rolled back by itself, e.g. when the disk was full. */
	if (!sqlite3_get_autocommit(t->s->db))
		db_run(t->s, STMT_ROLLBACK, NULL);
	t->s = NULL;
}
