/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * full_tables.h - describes in words which of the recorder's fixed-size tables overflowed.
 */
#ifndef TRACE_FULL_TABLES_H
#define TRACE_FULL_TABLES_H

#include "trace/encode.h"
#include "trace/format.h"
#include "trace/model.h"

/* Adds one BLOCK_TABLES, decoded; skips a table that this version does not know. */
void full_tables_decode(struct full_tables *f, struct decoder *d);

/* Counts one more entry that had no room, found by the reader. */
void full_tables_count(struct full_tables *f, enum trace_table table, uint64_t size);

/* Adds the counts of `from`. */
void full_tables_add(struct full_tables *f, const struct full_tables *from);

#endif
