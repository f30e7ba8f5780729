/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * columns.h - a struct as a row: one table of columns both writes and reads it, so that the two
 * cannot disagree.  Private to store/.
 *
 *	static const struct column covariance_columns[] = {
 *		COL_U32(struct covariance, parent),
 *		COL_REAL(struct covariance, share),
 *	};
 *	columns_bind(st, 2, covariance_columns, ARRAY_SIZE(covariance_columns), &c);
 *	columns_read(st, 0, covariance_columns, ARRAY_SIZE(covariance_columns), arena, &c);
 */
#ifndef STORE_COLUMNS_H
#define STORE_COLUMNS_H

#include <sqlite3.h>
#include <stddef.h>

#include "base/arena.h"
#include "store/db.h"

enum column_type {
	COLUMN_U32,
	COLUMN_U32_OR_NULL,		/* UINT32_MAX is NULL */
	COLUMN_INT,
	COLUMN_64,			/* int64_t and uint64_t alike, bit for bit */
	COLUMN_64_IF,			/* NULL unless the bool at flag is set */
	COLUMN_CLOCK,			/* int64_t: nanoseconds, 0 to CLOCK_MAX_NS */
	COLUMN_REAL,
	COLUMN_REAL_IF,			/* NULL unless the bool at flag is set */
	COLUMN_BOOL,
	COLUMN_BOOL_IF,			/* NULL unless the bool at flag is set */
	COLUMN_TEXT,			/* never NULL in the database */
	COLUMN_TEXT_OR_NULL,
	COLUMN_NAMED,			/* an enum, kept as its name */
	COLUMN_NAMED_IF,		/* NULL unless the bool at flag is set */
};

/* An enum whose values 0 .. cnt - 1 have names. */
struct named {
	const char *(*name)(unsigned value);
	unsigned cnt;
};

struct column {
	enum column_type type;
	size_t offset;			/* of the member */
	size_t flag;			/* of the bool that says whether it is meaningful */
	const struct named *names;
};

#define COLUMN(kind, T, m)	 { COLUMN_##kind, offsetof(T, m), 0, NULL }
#define COL_U32(T, m)		 COLUMN(U32, T, m)
#define COL_U32_OR_NULL(T, m)	 COLUMN(U32_OR_NULL, T, m)
#define COL_INT(T, m)		 COLUMN(INT, T, m)
#define COL_64(T, m)		 COLUMN(64, T, m)
#define COL_64_IF(T, m, f)	 { COLUMN_64_IF, offsetof(T, m), offsetof(T, f), NULL }
#define COL_CLOCK(T, m)		 COLUMN(CLOCK, T, m)
#define COL_REAL(T, m)		 COLUMN(REAL, T, m)
#define COL_BOOL(T, m)		 COLUMN(BOOL, T, m)
#define COL_BOOL_IF(T, m, f)	 { COLUMN_BOOL_IF, offsetof(T, m), offsetof(T, f), NULL }
#define COL_TEXT(T, m)		 COLUMN(TEXT, T, m)
#define COL_TEXT_OR_NULL(T, m)	 COLUMN(TEXT_OR_NULL, T, m)
#define COL_REAL_IF(T, m, f)	 { COLUMN_REAL_IF, offsetof(T, m), offsetof(T, f), NULL }
#define COL_NAMED(T, m, n)	 { COLUMN_NAMED, offsetof(T, m), 0, n }
#define COL_NAMED_IF(T, m, f, n) { COLUMN_NAMED_IF, offsetof(T, m), offsetof(T, f), n }

/* Binds the members of row to the parameters from first (counted from 1) on. */
void columns_bind(sqlite3_stmt *st, int first, const struct column *columns, size_t cnt,
		  const void *row);

/* Key columns stand first, then the struct's. */
struct keys {
	int64_t values[3];
	int cnt;
};

#define KEYS1(a) ((struct keys){ { (a) }, 1 })
#define KEYS2(a, b) ((struct keys){ { (a), (int64_t)(b) }, 2 })
#define KEYS3(a, b, c) ((struct keys){ { (a), (int64_t)(b), (int64_t)(c) }, 3 })

int columns_insert(struct store *s, enum stmt id, struct keys keys, const struct column *columns, size_t cnt, const void *row,
		   struct diag *reterr);

#define INSERT(s, id, keys, columns, row, reterr) \
	columns_insert(s, id, keys, columns, ARRAY_SIZE(columns), row, reterr)

/* Fills row from the result columns from first (counted from 0) on.  Texts are copied into a, or to the heap if a is
 * NULL.  -EBADMSG if a value does not fit the column: another program wrote it. */
int columns_read(sqlite3_stmt *st, int first, const struct column *columns, size_t cnt,
		 struct arena *a, void *row);

#endif
