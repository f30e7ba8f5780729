/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * execution_table.h - time per interval and function.
 *
 * See execution_table.c for what a row counts under either charge.
 */
#ifndef ANALYSIS_TREE_EXECUTION_TABLE_H
#define ANALYSIS_TREE_EXECUTION_TABLE_H

#include "analysis/path/critical_path.h"

/* A row of the execution-time table (paper 3.3.3).  label: a function's name, "other" or
 * "wait:CLASS". */
struct execution_row {
	uint64_t sid;
	const char *label;
	int64_t nanoseconds;
};
typedef VEC(struct execution_row) execution_rows;

/* Rows of every used interval of that name (NULL: the one with the most completed), in order of interval start, then
 * label; labels live as long as t.  Sorts t. */
int execution_table(struct trace *t, const char *interval, enum charge charge, execution_rows *ret);

#endif
