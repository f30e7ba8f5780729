/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * query.h - one query of the user's on vprof.db, which it cannot change.
 */
#ifndef STORE_QUERY_H
#define STORE_QUERY_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "store/store.h"

enum value_type { VALUE_NULL, VALUE_INTEGER, VALUE_REAL, VALUE_TEXT, VALUE_BLOB };

struct value {
	enum value_type type;
	int64_t integer;
	double real;
	const void *bytes;		/* text (NUL-terminated) or blob, valid during the call */
	size_t len;
};

struct query_sink {
	void (*columns)(void *arg, const char *const *names, size_t cnt);	/* once, first */
	void (*row)(void *arg, const struct value *values, size_t cnt);
	void *arg;
};

/* Runs one reading statement.  EXIT_USAGE with SQLite's message for anything else: a syntax
 * error, an unknown table, a second statement, one that would write. */
int store_query(struct store *s, const char *sql, const struct query_sink *sink,
		struct diag *reterr);

#endif
