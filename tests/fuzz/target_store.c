/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * target_store.c - records of units, and a user's query.
 *
 * A query may take as long as it likes, so it is stopped after a number of steps.  It must not change
 * anything.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/banned.h"
#include "base/file.h"
#include "store/db.h"
#include "store/query.h"
#include "store/resolve.h"
#include "tests/fuzz/targets.h"

void fuzz_scan(const uint8_t *data, size_t len)
{
	const char *dir = fuzz_directory("scan");
	_cleanup_(freep) char *path = path_join(dir, "a.scan");
	struct diag diag = DIAG_INIT;
	units list = { NULL, 0, 0 };
	struct resolved resolved;

	if (file_write(path, (const char *)data, len, 0600))
		exit(99);
	if (units_read(dir, &list, &diag) == 0) {
		resolve_units(&list, &resolved);
		resolved_release(&resolved);
		if (list.cnt && unit_write(dir, list.items[0], &diag)) {
			_cleanup_(freep) char *object = unit_path(dir, list.items[0]->object, ".scan");
			unlink(object);
		}
	}
	units_release(&list);
}

static int enough(void *arg)
{
	int *left = arg;

	return --*left <= 0;
}

static void ignore_columns(void *arg, const char *const *names, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		*(size_t *)arg += strlen(names[i]);
}

static void ignore_row(void *arg, const struct value *values, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if ((values[i].type == VALUE_TEXT || values[i].type == VALUE_BLOB) && values[i].len)
			*(size_t *)arg += *(const char *)values[i].bytes == 'a';
}

static struct store *open_store(void)
{
	struct diag diag = DIAG_INIT;
	struct store *s = NULL;

	if (store_open(fuzz_directory("sql"), true, &s, &diag) ||
	    setting_set(s, "build.command", "make", &diag)) {
		fprintf(stderr, "%s\n", diag.text);
		exit(99);
	}
	sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, 1 << 20);
	return s;
}

void fuzz_sql(const uint8_t *data, size_t len)
{
	static struct store *s;
	_cleanup_(freep) char *sql = xstrndup((const char *)data, strnlen((const char *)data, len));
	struct diag diag = DIAG_INIT;
	size_t seen = 0;
	int left = 100, changes;
	char *setting;

	if (!s)
		s = open_store();
	changes = sqlite3_total_changes(s->db);
	sqlite3_progress_handler(s->db, 1000, enough, &left);
	store_query(s, sql, &(struct query_sink){ ignore_columns, ignore_row, &seen }, &diag);
	sqlite3_progress_handler(s->db, 0, NULL, NULL);
	setting = setting_get(s, "build.command");
	if (sqlite3_total_changes(s->db) != changes || !setting || strcmp(setting, "make") != 0 ||
	    sqlite3_db_name(s->db, 2)) {
		fprintf(stderr, "the query changed something\n");
		abort();
	}
	free(setting);
}
