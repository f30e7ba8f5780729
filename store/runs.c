/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * runs.c - the list of runs, and where each keeps its trace.
 *
 * A run is known by its number (1, 2, ...; vprof.data/runs/001) or by the name it was given.
 * A name that would be mistaken for a number, a list, an option or a digest's file is refused.  A number is taken
 * in one transaction together with its directory: two `vprof record` at once get two runs, and
 * a directory that is there already is never written into.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "base/file.h"
#include "base/str.h"
#include "store/columns.h"
#include "store/db.h"
#include "store/store.h"

static const char *const status_names[] = {
	[RUN_RECORDING] = "recording",
	[RUN_RECORDED] = "recorded",
	[RUN_ANALYSED] = "analysed",
	[RUN_FAILED] = "failed",
	[RUN_KILLED] = "killed",
};

const char *run_status_name(enum run_status status)
{
	return status_names[status];
}

static const char *status_name(unsigned value)
{
	return status_names[value];
}

static const struct named statuses = { status_name, ARRAY_SIZE(status_names) };

static const struct column run_columns[] = {
	COL_U32(struct run, number),
	COL_TEXT_OR_NULL(struct run, name),
	COL_TEXT_OR_NULL(struct run, command),
	COL_TEXT_OR_NULL(struct run, source),
	COL_CLOCK(struct run, started_ns),
	COL_CLOCK(struct run, duration_ns),
	COL_NAMED(struct run, status, &statuses),
	COL_INT(struct run, exit_status),
	COL_64(struct run, interval_cnt),
	COL_64(struct run, function_cnt),
	COL_64(struct run, lost_records),
};

void run_release(struct run *r)
{
	free(r->name);
	free(r->command);
	free(r->source);
	memset(r, 0, sizeof(*r));
}

void runs_release(runs *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		run_release(&list->items[i]);
	VEC_RELEASE(list);
}

char *run_dir(const struct store *s, uint32_t number)
{
	return xasprintf("%s/runs/%03" PRIu32, s->dir, number);
}

/* What a command would take the name for; NULL: nothing else. */
static const char *taken_for(const char *name)
{
	if (!*name)
		return "it is empty";
	if (!name[strspn(name, "0123456789")])
		return "digits alone are a run's number";
	if (strchr(name, ','))
		return "a comma stands between the names of several runs";
	if (ends_with(name, ".vpd") || strcmp(name, "-") == 0)
		return "it is that of a digest's file";
	if (*name == '-')
		return "it would be taken for an option";
	return NULL;
}

/* The name, without what makes it one of something else. */
static char *other_name(const char *name)
{
	char *other = xasprintf("run-%s", strcmp(name, "-") == 0 ? "" : name);

	for (char *c = other; *c; c++)
		if (*c == ',' || strcmp(c, ".vpd") == 0)
			*c = '-';
	return other;
}

static int check_name(struct store *s, const struct run *r, struct diag *reterr)
{
	sqlite3_stmt *st = NULL;
	int64_t other;
	bool taken;
	int ret;

	if (!r->name)
		return 0;
	if (taken_for(r->name)) {
		_cleanup_(freep) char *other = other_name(r->name);

		diag_set(reterr, EXIT_USAGE, -EINVAL, "'%s' cannot be the name of a run: %s", r->name, taken_for(r->name));
		return diag_remedy(reterr, -EINVAL, "-o %s", other);
	}
	ret = db_prepare(s, STMT_RUN_NAME_TAKEN, &st, reterr);
	if (ret < 0)
		return ret;
	db_bind_text(st, 1, r->name);
	if (r->number)
		sqlite3_bind_int64(st, 2, r->number);
	ret = db_read_int(s, st, &other, &taken, reterr);
	if (ret < 0 || !taken)
		return ret;
	diag_set(reterr, EXIT_USAGE, -EEXIST, "run %" PRId64 " is already called '%s'", other,
		 r->name);
	return diag_remedy(reterr, -EEXIST, "choose another name with -o");
}

/* Makes the first free runs/NNN with a number above last. */
static int make_run_dir(struct store *s, int64_t last, uint32_t *ret_number, struct diag *reterr)
{
	_cleanup_(freep) char *parent = path_join(s->dir, "runs");
	int r = make_dirs(parent, 0700);

	for (int64_t n = last + 1; r == 0; n++) {
		_cleanup_(freep) char *dir = NULL;

		if (n >= UINT32_MAX)
			return diag_set(reterr, EXIT_DATA, -EOVERFLOW, "'%s' has no run number left",
					s->dir);
		dir = run_dir(s, (uint32_t)n);
		if (mkdir(dir, 0700) == 0) {
			*ret_number = (uint32_t)n;
			return 0;
		}
		if (errno != EEXIST)
			r = -errno;
	}
	return diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot create a directory in '%s': %s",
			parent, strerror(-r));
}

static int write_run(struct store *s, enum stmt id, const struct run *r, struct diag *reterr)
{
	sqlite3_stmt *st = NULL;
	int ret = db_prepare(s, id, &st, reterr);

	if (ret < 0)
		return ret;
	columns_bind(st, 1, run_columns, ARRAY_SIZE(run_columns), r);
	return db_step(s, st, reterr);
}

int run_create(struct store *s, struct run *r, struct diag *reterr)
{
	_cleanup_(transaction_release) struct transaction t = TRANSACTION_INIT;
	_cleanup_(freep) char *dir = NULL;
	sqlite3_stmt *st = NULL;
	struct run new_run = *r;
	int64_t last = 0;
	bool found;
	int ret = transaction_begin(&t, s, true, reterr);

	new_run.number = 0;
	if (ret == 0)
		ret = check_name(s, &new_run, reterr);
	if (ret == 0)
		ret = db_prepare(s, STMT_RUN_LAST_NUMBER, &st, reterr);
	if (ret == 0)
		ret = db_read_int(s, st, &last, &found, reterr);
	if (ret == 0)
		ret = make_run_dir(s, last, &new_run.number, reterr);
	if (ret < 0)
		return ret;
	ret = write_run(s, STMT_RUN_INSERT, &new_run, reterr);
	if (ret == 0)
		ret = transaction_commit(&t, reterr);
	if (ret < 0) {
		dir = run_dir(s, new_run.number);
		rmdir(dir);
		return ret;
	}
	r->number = new_run.number;
	return 0;
}

int run_update(struct store *s, const struct run *r, struct diag *reterr)
{
	_cleanup_(transaction_release) struct transaction t = TRANSACTION_INIT;
	int ret = transaction_begin(&t, s, true, reterr);

	if (ret == 0)
		ret = check_name(s, r, reterr);
	if (ret == 0)
		ret = write_run(s, STMT_RUN_UPDATE, r, reterr);
	if (ret == 0 && sqlite3_changes(s->db) == 0)
		ret = diag_set(reterr, EXIT_USAGE, -ENOENT, "there is no run %" PRIu32, r->number);
	return ret < 0 ? ret : transaction_commit(&t, reterr);
}

int run_remove(struct store *s, uint32_t number, struct diag *reterr)
{
	_cleanup_(transaction_release) struct transaction t = TRANSACTION_INIT;
	_cleanup_(freep) char *dir = run_dir(s, number);
	int r = transaction_begin(&t, s, true, reterr);

	if (r == 0)
		r = db_run_key(s, STMT_PLANNED_DELETE, number, reterr);
	if (r == 0)
		r = db_run_key(s, STMT_RUN_DELETE, number, reterr);
	if (r == 0)
		r = transaction_commit(&t, reterr);
	if (r == 0)
		remove_tree(dir);
	return r;
}

int runs_read(struct store *s, runs *ret, struct diag *reterr)
{
	_cleanup_(runs_release) runs list = { NULL, 0, 0 };
	sqlite3_stmt *st = NULL;
	int r = db_prepare(s, STMT_RUNS_READ, &st, reterr);

	while (r >= 0 && (r = db_step(s, st, reterr)) > 0) {
		struct run *run = VEC_EXTEND(&list);

		if (columns_read(st, 0, run_columns, ARRAY_SIZE(run_columns), NULL, run) < 0) {
			sqlite3_reset(st);
			return diag_set(reterr, EXIT_DATA, -EBADMSG, "'%s' is damaged: run %"
					PRIu32 " cannot be read", s->path, run->number);
		}
	}
	if (r < 0)
		return r;
	*ret = list;
	list = (runs){ NULL, 0, 0 };
	return 0;
}
