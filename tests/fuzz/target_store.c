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
#include "base/map.h"
#include "base/pack.h"
#include "store/db.h"
#include "store/query.h"
#include "store/resolve.h"
#include "tests/fuzz/targets.h"

/* Mutations would not get through this: texts are packed, and a part's name is its hash. */
static void add_packed(struct str *file, const char *text, size_t len)
{
	if (pack(text, len, file))
		exit(99);
}

/* "...\f{part}\f{part}": writes the parts, and adds the lines that name them. */
static void write_parts(const char *dir, const char *text, size_t len, struct str *lines)
{
	_cleanup_(freep) char *folder = path_join(dir, "parts");
	const char *end = text + len;

	remove_tree(folder);
	while ((text = memchr(text, '\f', (size_t)(end - text)))) {
		const char *next = memchr(text + 1, '\f', (size_t)(end - text - 1));
		size_t part_len = (size_t)((next ? next : end) - ++text);
		unsigned long long hash = hash_bytes(0, text, part_len);
		_cleanup_(freep) char *path = xasprintf("%s/%016llx", folder, hash);
		_cleanup_(str_release) struct str file = STR_INIT;

		add_packed(&file, text, part_len);
		if (make_dirs(folder, 0700) || file_write(path, file.data, file.len, 0600))
			exit(99);
		str_addf(lines, "part %016llx /src/a.h\n", hash);
		text += part_len;
	}
}

/* The lines up to "redirected", those that are packed, JSON, parts: each as it is where there is no such end. */
static void write_record(const char *dir, const char *path, const char *text, size_t len)
{
	_cleanup_(str_release) struct str file = STR_INIT, lines = STR_INIT, head = STR_INIT;
	const char *keys = memmem(text, len, "\nkeys", 5), *json = memmem(text, len, "\n{", 2);
	const char *parts = memchr(text, '\f', len), *end = parts ? parts : text + len;

	if (keys && json && keys < json && json < end) {
		str_addn(&file, text, (size_t)(keys + 1 - text));
		str_addn(&lines, keys + 1, (size_t)(json - keys));
		write_parts(dir, text, len, &lines);
		add_packed(&head, lines.data, lines.len);
		str_addf(&file, "head %016zx\n", head.len);
		str_addn(&file, head.data, head.len);
		add_packed(&file, json + 1, (size_t)(end - json - 1));
	} else {
		str_addn(&file, text, len);
	}
	if (file_write(path, str_cstr(&file), file.len, 0600))
		exit(99);
}

/* A unit that was read can be written, and read again. */
static void write_again(const char *dir, const struct unit *u)
{
	_cleanup_(freep) char *path = unit_path(dir, u->object, ".scan");
	_cleanup_(unit_freep) struct unit *again = NULL;
	struct diag diag = DIAG_INIT;

	if (unit_write(dir, u, &diag) == 0) {
		again = unit_find(dir, u->object);
		if (!again || again->functions.cnt != u->functions.cnt || again->calls.cnt != u->calls.cnt)
			abort();
	}
	unlink(path);
}

/* data: what a record says, as text; target_store.c packs it. */
void fuzz_scan(const uint8_t *data, size_t len)
{
	const char *dir = fuzz_directory("scan");
	_cleanup_(freep) char *path = path_join(dir, "a.scan");
	struct diag diag = DIAG_INIT;
	units list = { NULL, 0, 0 };
	struct resolved resolved;

	write_record(dir, path, (const char *)data, len);
	if (units_read(dir, &list, &diag) == 0) {
		resolve_units(&list, &resolved);
		resolved_release(&resolved);
		if (list.cnt)
			write_again(dir, list.items[0]);
		units_sweep(&list, dir);
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
