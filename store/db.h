/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * db.h - SQLite as the files of store/ use it: cached statements, transactions that roll back
 * when their scope ends, errors as diag.  Private to store/.
 */
#ifndef STORE_DB_H
#define STORE_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "store/statements.h"

struct schema;

struct store {
	sqlite3 *db;
	char *dir;			/* the data directory */
	char *path;			/* of vprof.db, for messages */
	int dir_fd;			/* -1: the directory is ours */
	char *not_ours;			/* why it is not ours; then the database is only read, by dir_fd (look.h) */
	const struct schema *schema;
	int version;			/* of its tables, until they are upgraded */
	sqlite3_stmt *stmts[STMT_CNT];	/* prepared on first use */
};

/* Turns SQLite's latest error into a message and an errno. */
int db_error(struct store *s, struct diag *reterr);

/* The statement, reset and without parameters.  0 or an error. */
int db_prepare(struct store *s, enum stmt id, sqlite3_stmt **ret, struct diag *reterr);

/* 1: a row; 0: no more, the statement is reset; else an error, also reset. */
int db_step(struct store *s, sqlite3_stmt *st, struct diag *reterr);

/* Runs a statement that returns nothing. */
int db_run(struct store *s, enum stmt id, struct diag *reterr);
int db_run_key(struct store *s, enum stmt id, int64_t key, struct diag *reterr);

/* The first column of the first row; ret_found says whether there was a row. */
int db_read_int(struct store *s, sqlite3_stmt *st, int64_t *ret, bool *ret_found,
		struct diag *reterr);

/* NULL text is SQL NULL. The text must live until the step. */
void db_bind_text(sqlite3_stmt *st, int position, const char *text);

/*
 *	_cleanup_(transaction_release) struct transaction t = TRANSACTION_INIT;
 *	r = transaction_begin(&t, s, true, reterr);
 *	...
 *	return transaction_commit(&t, reterr);
 * A scope that is left before the commit rolls back.
 */
struct transaction {
	struct store *s;		/* NULL: none open */
};

#define TRANSACTION_INIT { NULL }
int transaction_begin(struct transaction *t, struct store *s, bool write, struct diag *reterr);
int transaction_commit(struct transaction *t, struct diag *reterr);
void transaction_release(struct transaction *t);

#endif
