/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * store_dir.h - the store in a test's own directory (data_dir.h), and SQL behind its back.
 *
 *	struct store *s = open_store(true);
 *	store_close(s);
 *	run_sql("DROP TABLE unit");
 */
#ifndef TESTS_UNIT_STORE_STORE_DIR_H
#define TESTS_UNIT_STORE_STORE_DIR_H

#include "store/db.h"
#include "store/store.h"
#include "tests/unit/store/data_dir.h"

static inline struct store *open_store(bool create)
{
	struct diag d = DIAG_INIT;
	struct store *s = NULL;

	if (store_open(dir, create, &s, &d) < 0)
		fail_msg("%s", d.text);
	return s;
}

static inline void run_sql(const char *sql)
{
	_cleanup_(freep) char *path = path_join(dir, "vprof.db");
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

#endif
