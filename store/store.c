/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * store.c - opens vprof.db: checks whether it is vprof's, its version and its tables.
 *
 *	no file, or an empty one	nothing was recorded yet; created if the caller writes
 *	application_id is "vprf"	ours, of user_version: an older one is upgraded (schema.h), a newer one is refused
 *	application_id is "vpro"	of a vprof from before the first release: refused
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
#include "base/ours.h"
#include "base/str.h"
#include "store/db.h"
#include "store/look.h"
#include "store/schema.h"
#include "store/store.h"

#define APPLICATION_ID 0x76707266	/* "vprf", as in schema.sql */
#define EARLY_APPLICATION_ID 0x7670726f	/* "vpro" */
#define LOCK_PATIENCE_MS 10000
#define VALUE_MAX_BYTES (64 << 20)	/* of a text: a command line may be long */

static const char tables[] =
#include "store/schema.inc"
	;

const struct schema store_schema = { .version = 1, .tables = tables };

static int nothing_yet(const char *data_dir, struct diag *reterr)
{
	struct stat st;

	if (stat(data_dir, &st) == 0 && !S_ISDIR(st.st_mode)) {
		diag_set(reterr, EXIT_ENVIRONMENT, -ENOTDIR, "'%s' is not a directory", data_dir);
		return diag_remedy(reterr, -ENOTDIR, "name a data directory with -d DIR");
	}
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

struct head {
	int64_t application, version, objects;
};

static int read_head(struct store *s, struct head *ret, struct diag *reterr)
{
	int r = pragma_read(s, STMT_APPLICATION_ID, &ret->application, reterr);

	if (r == 0)
		r = pragma_read(s, STMT_USER_VERSION, &ret->version, reterr);
	return r < 0 ? r : pragma_read(s, STMT_OBJECT_CNT, &ret->objects, reterr);
}

/* 1: ours, of s->version; 0: empty; or an error.  Reads both values at once, because another command may create it in
 * between. */
static int check_version(struct store *s, struct diag *reterr)
{
	struct head before, h;
	int r = read_head(s, &h, reterr);

	do {
		before = h;
		r = r < 0 ? r : read_head(s, &h, reterr);
	} while (r == 0 && memcmp(&before, &h, sizeof(h)) != 0);
	if (r < 0)
		return r;
	if (h.application == 0 && h.version == 0 && h.objects == 0)
		return 0;
	if (h.application == EARLY_APPLICATION_ID) {
		diag_set(reterr, EXIT_DATA, -EBADMSG, "'%s' was written by a vprof from before the first release, which"
			 " this one cannot read", s->path);
		return diag_remedy(reterr, -EBADMSG, "move '%s' away, build and record again; or name another data"
				   " directory with -d DIR", s->dir);
	}
	if (h.application != APPLICATION_ID || h.version < 1) {
		diag_set(reterr, EXIT_DATA, -EBADMSG, "'%s' is a database, but not one of vprof's",
			 s->path);
		return diag_remedy(reterr, -EBADMSG, "name the data directory with -d DIR");
	}
	if (h.version > s->schema->version) {
		diag_set(reterr, EXIT_DATA, -EBADMSG, "'%s' was written by a newer vprof"
			 " (schema %lld, this program knows %d)", s->path, (long long)h.version,
			 s->schema->version);
		return diag_remedy(reterr, -EBADMSG, "use that vprof, or another data directory"
				   " with -d DIR");
	}
	s->version = (int)h.version;
	return 1;
}

/* Creates or adds missing tables.  Two commands may do this at once: the second finds the tables of the first. */
static int create_tables(struct store *s, struct diag *reterr)
{
	_cleanup_(transaction_release) struct transaction t = TRANSACTION_INIT;
	const struct schema *schema = s->schema;
	int r = transaction_begin(&t, s, true, reterr);

	if (r == 0)
		r = check_version(s, reterr);
	if (r < 0)
		return r;
	if (s->version < schema->version && sqlite3_exec(s->db, schema->tables, NULL, NULL, NULL) != SQLITE_OK)
		return db_error(s, reterr);
	for (size_t i = 0; i < schema->column_cnt; i++) {
		const struct new_column *c = &schema->columns[i];

		if (s->version >= c->since && s->version < c->to && sqlite3_exec(s->db, c->sql, NULL, NULL, NULL) != SQLITE_OK)
			return db_error(s, reterr);
	}
	s->version = schema->version;
	return transaction_commit(&t, reterr);
}

/*
 * The file may come from another user.  Everything that SQLite would execute from it is switched off: triggers, views
 * in the place of our tables (query.c has its own for the user's queries), modules that define how a table is read,
 * functions that schemas do not need.  Cells are checked as pages are read.  The whole file is not checked each time
 * (PRAGMA quick_check reads all of it): values are checked as they are read (columns.c, results_read.c).
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

/* Tables of an older version in a directory that we must not write are upgraded in memory. */
static int copy_to_memory(struct store *s, struct diag *reterr)
{
	sqlite3 *file = s->db;
	sqlite3_backup *backup = NULL;
	int code;

	for (size_t i = 0; i < STMT_CNT; i++) {
		sqlite3_finalize(s->stmts[i]);
		s->stmts[i] = NULL;
	}
	s->db = NULL;
	code = sqlite3_open_v2(":memory:", &s->db, SQLITE_OPEN_READWRITE, NULL);
	if (code == SQLITE_OK)
		backup = sqlite3_backup_init(s->db, "main", file, "main");
	if (backup) {
		sqlite3_backup_step(backup, -1);
		code = sqlite3_backup_finish(backup);
	}
	sqlite3_close(file);
	return backup && code == SQLITE_OK ? trust_nothing(s, reterr) : db_error(s, reterr);
}

/* Without SQLite's mutex: only one thread uses the store, and locking for each value was a fifth of the time to read a million rows. */
static int open_file(struct store *s, bool create, struct diag *reterr)
{
	_cleanup_(freep) char *held = xasprintf("/proc/self/fd/%d/vprof.db", s->dir_fd);
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (create ? SQLITE_OPEN_CREATE : 0), code;

	look_at_plain_files();
	code = s->not_ours ? sqlite3_open_v2(held, &s->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, look_vfs()) :
			     sqlite3_open_v2(s->path, &s->db, flags, NULL);

	return code == SQLITE_OK ? 0 : db_error(s, reterr);
}

static int open_database(struct store *s, bool create, struct diag *reterr)
{
	int r = open_file(s, create, reterr);

	if (r < 0)
		return r;
	sqlite3_extended_result_codes(s->db, 0);
	sqlite3_busy_timeout(s->db, LOCK_PATIENCE_MS);
	r = trust_nothing(s, reterr);
	if (r == 0)
		r = check_version(s, reterr);
	if (r < 0)
		return r;
	if (r == 0 && !create)
		return nothing_yet(s->dir, reterr);
	if (s->version == s->schema->version)
		return 0;
	r = sqlite3_db_readonly(s->db, "main") ? copy_to_memory(s, reterr) : 0;
	return r < 0 ? r : create_tables(s, reterr);
}

static int refuse(const char *dir, const char *why, struct diag *reterr)
{
	diag_set(reterr, EXIT_ENVIRONMENT, -EPERM, "cannot write to '%s': %s", dir, why);
	return diag_remedy(reterr, -EPERM, starts_with(why, "other users") ?
			   "chmod go-w that directory, or name a data directory elsewhere with -d DIR" :
			   "run vprof as that user, or name a data directory of your own with -d DIR");
}

int store_check_ours(const struct store *s, struct diag *reterr)
{
	return s->not_ours ? refuse(s->dir, s->not_ours, reterr) : 0;
}

static const char *const inner[] = { "runs", "build" };

/* A user who may write to the directory, or to files in it, can put links and traces there. */
static int check_alone(int fd, const char *dir, char **ret_why)
{
	int r = ours_alone(fd, dir, ret_why);

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(inner); i++) {
		_cleanup_(closep) int below = openat(fd, inner[i], O_PATH | O_NOFOLLOW | O_CLOEXEC);
		_cleanup_(freep) char *path = path_join(dir, inner[i]);

		if (below >= 0)
			r = ours_alone(below, path, ret_why);
	}
	return r;
}

/* Finds the owner of the directory: s->not_ours, s->dir_fd.  -ENOENT without a message: it does not exist. */
static int open_dir(struct store *s, bool create, struct diag *reterr)
{
	_cleanup_(freep) char *why = NULL;
	int fd = ours_open(s->dir, create, &why), r = fd < 0 ? fd : check_alone(fd, s->dir, &why);

	if (fd >= 0)
		close(fd);
	if (r == 0 || (!create && (r == -ENOENT || r == -ENOTDIR)))
		return r;
	if (r == -EPERM && why && create)
		return refuse(s->dir, why, reterr);
	if (create || !why) {
		diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot %s '%s': %s", create ? "create" : "open", s->dir, strerror(-r));
		return diag_remedy(reterr, r, "name another data directory with -d DIR");
	}
	s->not_ours = TAKE_PTR(why);
	s->dir_fd = open(s->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return s->dir_fd >= 0 ? 0 : diag_set(reterr, EXIT_ENVIRONMENT, -errno, "cannot open '%s': %s", s->dir, strerror(errno));
}

/* In a directory that is only read, the names may change from here on. */
static int find_database(const struct store *s, struct diag *reterr)
{
	struct stat st;
	int r = s->not_ours ? fstatat(s->dir_fd, "vprof.db", &st, AT_SYMLINK_NOFOLLOW) : stat(s->path, &st);

	if (r == 0 && S_ISREG(st.st_mode))
		return 0;
	if (r < 0 && (errno == ENOENT || errno == ENOTDIR))
		return nothing_yet(s->dir, reterr);
	r = r < 0 ? -errno : -EBADMSG;
	return diag_set(reterr, r == -EBADMSG ? EXIT_DATA : EXIT_ENVIRONMENT, r, "cannot read '%s': %s", s->path,
			r == -EBADMSG ? "it is not a plain file" : strerror(-r));
}

/* SQLite would make it readable by all users; files that it makes beside it get the same permissions. */
static void make_private(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd >= 0)
		close(fd);
}

int store_open(const char *data_dir, bool create, struct store **ret, struct diag *reterr)
{
	return store_open_schema(data_dir, create, &store_schema, ret, reterr);
}

int store_open_schema(const char *data_dir, bool create, const struct schema *schema, struct store **ret,
		      struct diag *reterr)
{
	_cleanup_(store_closep) struct store *s = xcalloc(1, sizeof(*s));
	int r;

	s->dir_fd = -1;
	s->schema = schema;
	s->dir = xstrdup(data_dir);
	s->path = path_join(data_dir, "vprof.db");
	r = open_dir(s, create, reterr);
	if (r == -ENOENT || r == -ENOTDIR)
		return create ? r : nothing_yet(data_dir, reterr);
	if (r < 0)
		return r;
	if (create)
		make_private(s->path);
	else
		r = find_database(s, reterr);
	if (r == 0)
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
	if (s->dir_fd >= 0)
		close(s->dir_fd);
	free(s->not_ours);
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
