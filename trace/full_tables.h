/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * full_tables.h - what overflowed the recorder's tables of a fixed size, in words.
 */
#ifndef TRACE_FULL_TABLES_H
#define TRACE_FULL_TABLES_H

#include "trace/encode.h"
#include "trace/format.h"
#include "trace/model.h"

/* One of BLOCK_TABLES, decoded into the list; a table that this version does not know is passed by. */
void full_tables_decode(struct full_tables *f, struct decoder *d);

/* One more that had no room, found out by who reads. */
void full_tables_count(struct full_tables *f, enum trace_table table, uint64_t size);

/* What from has too. */
void full_tables_add(struct full_tables *f, const struct full_tables *from);

#endif
