/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tsv.h - the sums as rows of SQL tables, and back: doc/fleet.sql has the tables, a column a field in the same order.
 *
 *	vprof_node \t 2026-11-26 \t shop \t ... \t 17 \t 400 \t 400 \t 123456 \t ...
 *
 * A line is a row; its first field is the table, the rest are the columns.  Text is escaped as in ClickHouse's TabSeparated and in
 * PostgreSQL's COPY: \t, \n, \r, \\.  Places and functions have the same number in every digest, a hash of their names, so that SQL may
 * add up rows of many hosts.
 */
#ifndef DIGEST_TSV_H
#define DIGEST_TSV_H

#include "analysis/summed/summed.h"
#include "base/diag.h"
#include "base/str.h"

struct tsv_options {
	const char *service;		/* the column of that name; "": none */
	const char *table;		/* only the rows of that one, and without the first field; NULL: all */
};

/* All tables, in the order in which they are written; ends in NULL. */
extern const char *const tsv_tables[];

/* EXIT_DATA: the sums are too large to be added up in SQL, or two names have the same number. */
int tsv_write(const struct summed *s, const struct tsv_options *o, struct str *to, struct diag *reterr);

/* name: of the file, for messages.  EXIT_DATA, as FILE:LINE where one line is to blame.  The result is as good as that of digest_parse(). */
int tsv_parse(const char *text, size_t len, const char *name, struct summed **ret, struct diag *reterr);

/* path "-": standard input. */
int tsv_read(const char *path, struct summed **ret, struct diag *reterr);

/* ---- private to tsv_*.c ---- */

enum tsv_table {
	TSV_WINDOW, TSV_FUNCTION, TSV_CALL, TSV_NAME, TSV_NODE, TSV_PAIR, TSV_OWN, TSV_BUCKET, TSV_CELL, TSV_SHARE, TSV_TABLE_CNT
};

#define TSV_KEY_COLUMNS 9		/* day, service, build, kind, host, boot, window, source, from_ns */
#define TSV_COUNT_MAX ((uint64_t)1 << 44)	/* so that a million of them are added up in 64 bits */

extern const char *const tsv_own_kinds[];	/* by enum own_kind */

/* A function's number: 0 none, below TSV_FUNCTION_IDS a device, else a hash. */
enum { TSV_FUNCTION_IDS = 16 };
uint64_t tsv_function_id(const struct summed *s, uint32_t function);
uint64_t tsv_source_id(const struct summed_source *s);
/* The ids of all places; the caller frees them. */
uint64_t *tsv_place_ids(const struct summed *s);

#endif
