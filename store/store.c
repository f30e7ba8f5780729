/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * store.c - opening vprof.db: is it ours, is it of a version we know, does it have its tables?
 *
 *	no file, or an empty one	nothing was recorded yet; created if the caller writes
 *	application_id is "vpro"	ours; user_version 17 is this program's, a lower one gets what it lacks, a higher one is newer
 *	anything else			not ours, and never touched
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "base/file.h"
#include "store/db.h"
#include "store/store.h"

#define APPLICATION_ID 0x7670726f	/* "vpro", as in schema.sql */
#define SCHEMA_VERSION 17
#define LOCK_PATIENCE_MS 10000
#define VALUE_MAX_BYTES (64 << 20)	/* of a text: a command line may be long */

static const char schema[] =
#include "store/schema.inc"
	;

/* Columns that tables got later.  since: the version that brought the table. */
static const struct {
	int since, to;
	enum stmt id;
} new_columns[] = {
	{ 1, 4, STMT_ADD_NO_RETURN },
	{ 1, 7, STMT_ADD_NODE_LOW },
	{ 1, 7, STMT_ADD_NODE_HIGH },
	{ 1, 7, STMT_ADD_FACTOR_LOW },
	{ 1, 7, STMT_ADD_FACTOR_HIGH },
	{ 1, 7, STMT_ADD_FACTOR_RESOLVED },
	{ 1, 8, STMT_ADD_ROOT_ONLY },
	{ 1, 9, STMT_ADD_PRESENCE },
	{ 1, 9, STMT_ADD_RANK_LOW },
	{ 1, 9, STMT_ADD_RANK_HIGH },
	{ 1, 9, STMT_ADD_RANK_NEEDED },
	{ 1, 9, STMT_ADD_PAPER_LOW },
	{ 1, 9, STMT_ADD_PAPER_HIGH },
	{ 1, 9, STMT_ADD_PAPER_RESOLVED },
	{ 1, 11, STMT_ADD_WORK_SHARE },
	{ 1, 13, STMT_ADD_MISREAD },
	{ 1, 14, STMT_ADD_WORK_LOW },
	{ 1, 14, STMT_ADD_WORK_HIGH },
	{ 1, 14, STMT_ADD_TRIMMED },
	{ 12, 14, STMT_ADD_CAUSE_LOW },
	{ 12, 14, STMT_ADD_CAUSE_HIGH },
	{ 10, 15, STMT_ADD_PART_VARIANCE },
	{ 10, 15, STMT_ADD_PART_OTHER },
	{ 1, 16, STMT_ADD_NODE_DEVICE },
	{ 1, 16, STMT_ADD_BECAUSE_DEVICE },
	{ 1, 17, STMT_ADD_NESTED },
	{ 1, 17, STMT_ADD_UNMATCHED_ENDS },
};

static int nothing_yet(const char *data_dir, struct diag *reterr)
{
	diag_set(reterr, EXIT_NO_EVIDENCE, -ENOENT, "no runs yet in '%s'", data_dir);
	return diag_remedy(reterr, -ENOENT, "vprof build -- make, then vprof record -- COMMAND;"
			   " or name another data directory with -d DIR");
}

static int pragma_read(struct store *s, enum stmt id, int64_t *ret, struct diag *reterr)
{
	sqlite3_stmt *st = NULL;
	bool found;
	int r = db_prepare(s, id, &st, reterr);

	*ret = 0;
	return r < 0 ? r : db_read_int(s, st, ret, &found, reterr);
}

/* 1: ours, of s->version; 0: empty; or an error. */
static int check_version(struct store *s, struct diag *reterr)
{
	int64_t application, version, objects;
	int r = pragma_read(s, STMT_APPLICATION_ID, &application, reterr);

	if (r == 0)
		r = pragma_read(s, STMT_USER_VERSION, &version, reterr);
	if (r == 0)
		r = pragma_read(s, STMT_OBJECT_CNT, &objects, reterr);
	if (r < 0)
		return r;
	if (application == 0 && version == 0 && objects == 0)
		return 0;
	if (application != APPLICATION_ID || version < 1) {
		diag_set(reterr, EXIT_DATA, -EBADMSG, "'%s' is a database, but not one of vprof's",
			 s->path);
		return diag_remedy(reterr, -EBADMSG, "name the data directory with -d DIR");
	}
	if (version > SCHEMA_VERSION) {
		diag_set(reterr, EXIT_DATA, -EBADMSG, "'%s' was written by a newer vprof"
			 " (schema %lld, this program knows %d)", s->path, (long long)version,
			 SCHEMA_VERSION);
		return diag_remedy(reterr, -EBADMSG, "use that vprof, or another data directory"
				   " with -d DIR");
	}
	s->version = (int)version;
	return 1;
}

/* Creates or adds what is missing.  Two commands may get here at once: the second finds the tables of
 * the first. */
static int create_tables(struct store *s, struct diag *reterr)
{
	_cleanup_(transaction_release) struct transaction t = TRANSACTION_INIT;
	int r = transaction_begin(&t, s, true, reterr);

	if (r == 0)
		r = check_version(s, reterr);
	if (r < 0)
		return r;
	if (s->version < SCHEMA_VERSION && sqlite3_exec(s->db, schema, NULL, NULL, NULL) != SQLITE_OK)
		return db_error(s, reterr);
	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(new_columns); i++)
		if (s->version >= new_columns[i].since && s->version < new_columns[i].to)
			r = db_run(s, new_columns[i].id, reterr);
	if (r < 0)
		return r;
	s->version = SCHEMA_VERSION;
	return transaction_commit(&t, reterr);
}

/*
 * The file may be somebody else's.  What SQLite would run of it by itself is switched off: triggers, and views in the
 * place of our tables (query.c has its own for the user's queries), modules that say how a table is read, functions
 * that schemas have no need for.  Cells are checked as pages are read.  The file is not checked as a whole each
 * time (PRAGMA quick_check reads all of it): what is read is checked as it is (columns.c, results_read.c).
 */
static int trust_nothing(struct store *s, struct diag *reterr)
{
	static const struct {
		int option, value;
	} options[] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 }, { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 }, { SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (sqlite3_db_config(s->db, options[i].option, options[i].value, NULL) != SQLITE_OK)
			return db_error(s, reterr);
	sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, VALUE_MAX_BYTES);
	if (sqlite3_drop_modules(s->db, NULL) != SQLITE_OK)
		return db_error(s, reterr);
	return db_run(s, STMT_CHECK_CELLS, reterr);
}

static int open_database(struct store *s, bool create, struct diag *reterr)
{
	int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
	int r;

	if (sqlite3_open_v2(s->path, &s->db, flags, NULL) != SQLITE_OK)
		return db_error(s, reterr);
	sqlite3_extended_result_codes(s->db, 0);
	sqlite3_busy_timeout(s->db, LOCK_PATIENCE_MS);
	r = trust_nothing(s, reterr);
	if (r == 0)
		r = check_version(s, reterr);
	if (r < 0)
		return r;
	if (r == 0 && !create)
		return nothing_yet(s->dir, reterr);
	return s->version == SCHEMA_VERSION ? 0 : create_tables(s, reterr);
}

/* Who may write to the directory can put links and traces into it. */
static int check_owner(const char *dir, struct diag *reterr)
{
	struct stat st;
	bool ours;

	if (stat(dir, &st) < 0)
		return diag_set(reterr, EXIT_ENVIRONMENT, -errno, "cannot use '%s': %s", dir, strerror(errno));
	ours = user_is_us(st.st_uid);
	if (ours && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	diag_set(reterr, EXIT_ENVIRONMENT, -EPERM, ours ? "other users may write to '%s'" :
		 "'%s' belongs to another user", dir);
	return diag_remedy(reterr, -EPERM, ours ? "chmod go-w '%s', or another data directory with -d DIR" :
			   "become its owner, or name another data directory than '%s' with -d DIR", dir);
}

/* SQLite would make it for everybody to read; what it makes beside it has the same rights. */
static void make_private(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd >= 0)
		close(fd);
}

int store_open(const char *data_dir, bool create, struct store **ret, struct diag *reterr)
{
	_cleanup_(store_closep) struct store *s = xcalloc(1, sizeof(*s));
	struct stat st;
	int r;

	s->dir = xstrdup(data_dir);
	s->path = path_join(data_dir, "vprof.db");
	if (create) {
		r = make_dirs(data_dir, 0700);
		if (r < 0) {
			diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot create '%s': %s", data_dir,
				 strerror(-r));
			return diag_remedy(reterr, r, "name another data directory with -d DIR");
		}
		r = check_owner(data_dir, reterr);
		if (r < 0)
			return r;
		make_private(s->path);
	} else if (stat(s->path, &st) < 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			return nothing_yet(data_dir, reterr);
		r = -errno;
		return diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot read '%s': %s", s->path,
				strerror(-r));
	}
	r = open_database(s, create, reterr);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < STMT_CNT; i++)
		sqlite3_finalize(s->stmts[i]);
	sqlite3_close(s->db);
	free(s->path);
	free(s->dir);
	free(s);
}

int setting_set(struct store *s, const char *name, const char *value, struct diag *reterr)
{
	sqlite3_stmt *st = NULL;
	int r = db_prepare(s, STMT_SETTING_SET, &st, reterr);

	if (r < 0)
		return r;
	db_bind_text(st, 1, name);
	db_bind_text(st, 2, value);
	return db_step(s, st, reterr);
}

char *setting_get(struct store *s, const char *name)
{
	sqlite3_stmt *st = NULL;
	char *value = NULL;

	if (db_prepare(s, STMT_SETTING_GET, &st, NULL) < 0)
		return NULL;
	db_bind_text(st, 1, name);
	if (db_step(s, st, NULL) > 0) {
		const char *text = (const char *)sqlite3_column_text(st, 0);

		value = text ? xstrdup(text) : NULL;
		sqlite3_reset(st);
	}
	return value;
}
