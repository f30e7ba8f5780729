/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * columns.c - a struct as a row.
 *
 * A column is a type and the offset of a member.  Example: { COLUMN_NAMED_IF, wait, is_wait }
 * writes struct node's `wait` as "lock" if is_wait is set, else NULL; reading NULL clears
 * is_wait, "lock" sets both, "lokc" is damage.  Doubles pass through SQLite bit for bit,
 * except that -0 becomes 0 and NaN becomes NULL, which the tables refuse.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "store/columns.h"
#include "store/db.h"
#include "store/store.h"

/* NULL unless the bool at flag is set. */
static bool has_flag(const struct column *c)
{
	return c->type == COLUMN_64_IF || c->type == COLUMN_REAL_IF || c->type == COLUMN_BOOL_IF || c->type == COLUMN_NAMED_IF;
}

static void bind_column(sqlite3_stmt *st, int position, const struct column *c, const char *row)
{
	const void *member = row + c->offset;

	if (has_flag(c) && !*(const bool *)(row + c->flag)) {
		sqlite3_bind_null(st, position);
		return;
	}
	switch (c->type) {
	case COLUMN_U32_OR_NULL:
		if (*(const uint32_t *)member == UINT32_MAX) {
			sqlite3_bind_null(st, position);
			return;
		}
		/* fall through */
	case COLUMN_U32:
		sqlite3_bind_int64(st, position, *(const uint32_t *)member);
		return;
	case COLUMN_INT:
		sqlite3_bind_int64(st, position, *(const int *)member);
		return;
	case COLUMN_64_IF:
	case COLUMN_64:
	case COLUMN_CLOCK:
		sqlite3_bind_int64(st, position, *(const int64_t *)member);
		return;
	case COLUMN_REAL_IF:
	case COLUMN_REAL:
		sqlite3_bind_double(st, position, *(const double *)member);
		return;
	case COLUMN_BOOL_IF:
	case COLUMN_BOOL:
		sqlite3_bind_int64(st, position, *(const bool *)member);
		return;
	case COLUMN_TEXT:
	case COLUMN_TEXT_OR_NULL:
		db_bind_text(st, position, *(const char *const *)member);
		return;
	case COLUMN_NAMED_IF:
	case COLUMN_NAMED:
		db_bind_text(st, position, c->names->name(*(const unsigned *)member));
		return;
	}
}

void columns_bind(sqlite3_stmt *st, int first, const struct column *columns, size_t cnt,
		  const void *row)
{
	for (size_t i = 0; i < cnt; i++)
		bind_column(st, first + (int)i, &columns[i], row);
}

int columns_insert(struct store *s, enum stmt id, struct keys keys, const struct column *columns, size_t cnt, const void *row,
		   struct diag *reterr)
{
	sqlite3_stmt *st = NULL;
	int r = db_prepare(s, id, &st, reterr);

	if (r < 0)
		return r;
	for (int i = 0; i < keys.cnt; i++)
		sqlite3_bind_int64(st, i + 1, keys.values[i]);
	columns_bind(st, keys.cnt + 1, columns, cnt, row);
	return db_step(s, st, reterr);
}

static int read_named(const char *text, const struct named *names, unsigned *ret)
{
	for (unsigned i = 0; text && i < names->cnt; i++)
		if (strcmp(text, names->name(i)) == 0) {
			*ret = i;
			return 0;
		}
	return -EBADMSG;
}

static int read_u32(sqlite3_value *v, uint32_t *ret)
{
	int64_t value = sqlite3_value_int64(v);

	if (sqlite3_value_type(v) != SQLITE_INTEGER || value < 0 || value > UINT32_MAX)
		return -EBADMSG;
	*ret = (uint32_t)value;
	return 0;
}

static int read_clock(sqlite3_value *v, int64_t *ret)
{
	int64_t value = sqlite3_value_int64(v);

	if (value < 0 || value > CLOCK_MAX_NS)
		return -EBADMSG;
	*ret = value;
	return 0;
}

static int read_text(sqlite3_value *v, struct arena *a, const char **ret)
{
	const char *text = (const char *)sqlite3_value_text(v);

	if (!text)
		return -EBADMSG;
	*ret = a ? arena_strdup(a, text) : xstrdup(text);
	return 0;
}

/* A value that is not NULL. */
static int read_value(sqlite3_value *v, const struct column *c, struct arena *a, void *member)
{
	switch (c->type) {
	case COLUMN_U32:
	case COLUMN_U32_OR_NULL:
		return read_u32(v, member);
	case COLUMN_INT:
		*(int *)member = sqlite3_value_int(v);
		return 0;
	case COLUMN_64:
	case COLUMN_64_IF:
		*(int64_t *)member = sqlite3_value_int64(v);
		return 0;
	case COLUMN_CLOCK:
		return read_clock(v, member);
	case COLUMN_REAL:
	case COLUMN_REAL_IF:
		*(double *)member = sqlite3_value_double(v);
		return 0;
	case COLUMN_BOOL:
	case COLUMN_BOOL_IF:
		*(bool *)member = sqlite3_value_int64(v) != 0;
		return 0;
	case COLUMN_TEXT:
	case COLUMN_TEXT_OR_NULL:
		return read_text(v, a, member);
	case COLUMN_NAMED:
	case COLUMN_NAMED_IF:
		return read_named((const char *)sqlite3_value_text(v), c->names, member);
	}
	return -EBADMSG;
}

static int read_null(const struct column *c, void *member, bool *flag)
{
	switch (c->type) {
	case COLUMN_U32_OR_NULL:
		*(uint32_t *)member = UINT32_MAX;
		return 0;
	case COLUMN_TEXT_OR_NULL:
		*(const char **)member = NULL;
		return 0;
	case COLUMN_64_IF:
	case COLUMN_REAL_IF:
	case COLUMN_BOOL_IF:
	case COLUMN_NAMED_IF:
		*flag = false;
		return 0;
	default:
		return -EBADMSG;
	}
}

int columns_read(sqlite3_stmt *st, int first, const struct column *columns, size_t cnt,
		 struct arena *a, void *row)
{
	for (size_t i = 0; i < cnt; i++) {
		const struct column *c = &columns[i];
		sqlite3_value *v = sqlite3_column_value(st, first + (int)i);	/* cheaper than three sqlite3_column_...() */
		int r;
		void *member = (char *)row + c->offset;
		bool *flag = (bool *)((char *)row + c->flag);

		if (sqlite3_value_type(v) == SQLITE_NULL) {
			r = read_null(c, member, flag);
		} else {
			r = read_value(v, c, a, member);
			if (has_flag(c))
				*flag = true;
		}
		if (r < 0)
			return r;
	}
	return 0;
}
