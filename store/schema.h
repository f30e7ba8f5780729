/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * schema.h - the version of the tables, and the upgrade of older ones.  Private to store/.
 *
 * To add a table or a column: write it into schema.sql, raise user_version there and store_schema.version (store.c).
 * A table needs no more: schema.sql runs over the old database and creates what is not there.  A column of a table that
 * older versions have needs a row in store_schema as well:
 *
 *	{ 1, 2, "ALTER TABLE unit ADD COLUMN compiler TEXT" }	version 1 has the table, version 2 the column too
 */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

struct store;

struct new_column {
	int since, to;			/* versions: the first with the table, the first with the column */
	const char *sql;
};

struct schema {
	int version;
	const char *tables;		/* SQL; sets user_version, too */
	const struct new_column *columns;
	size_t column_cnt;
};

extern const struct schema store_schema;	/* of this program */

/* store_open() of a program with another schema: tests act as such programs. */
int store_open_schema(const char *data_dir, bool create, const struct schema *schema, struct store **ret,
		      struct diag *reterr);

#endif
