/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table.h - text in aligned columns.
 *
 *	_cleanup_(table_freep) struct table *t = table_new();
 *	table_column(t, "share", TABLE_RIGHT);
 *	table_column(t, "node", TABLE_SHRINKS);
 *	table_cell(t, "%.1f", 62.4);
 *	table_cell(t, "log_append");
 *	table_write(t, out, 80, "…");
 *
 *	share  node
 *	 62.4  log_append
 *
 * Widths are counted in terminal columns.  Cells are cleaned (see utf8.h).  No trailing blanks.
 */
#ifndef BASE_TEXT_TABLE_H
#define BASE_TEXT_TABLE_H

#include <stdio.h>
#include "base/cleanup.h"

enum table_align {
	TABLE_LEFT, TABLE_RIGHT,
	TABLE_SHRINKS,			/* left; loses its middle when the line would be too wide */
	TABLE_SPARE			/* left; not there when the line would be too wide, or where all its cells are empty */
};

struct table;

struct table *table_new(void);
void table_free(struct table *t);			/* NULL is fine */
DEFINE_CLEANUP(struct table *, table_free);

/* All columns come before the first cell.  A table whose titles are all "" has no title line. */
void table_column(struct table *t, const char *title, enum table_align align);

/* Cells fill row after row. */
void table_cell(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* For the cell added last: its first columns, e.g. the lines of a tree, are never shortened. */
void table_keep(struct table *t, size_t columns);

/* The terminal sequence the cell added last is printed in, e.g. "\033[1m"; "" for none. The
 * string must outlive the table. */
void table_style(struct table *t, const char *sequence);

/* The cell added last leads to this URL, on terminals that know such links (OSC 8); NULL: nowhere. */
void table_link(struct table *t, const char *url);

/* The columns it takes if nothing shrinks, without those that may go. */
size_t table_width(const struct table *t);
/* With them. */
size_t table_width_whole(const struct table *t);

/* width 0: no limit. */
void table_write(const struct table *t, FILE *out, size_t width, const char *ellipsis);

/* One cleaned line outside any table. */
void table_line(FILE *out, const char *text);

#endif
