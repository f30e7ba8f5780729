/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * edit.h - insertions into a text, by offset.
 */
#ifndef INSTRUMENTER_TEXT_EDIT_H
#define INSTRUMENTER_TEXT_EDIT_H

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/str.h"

struct insertion {
	size_t offset, order;
	char *text;
};

struct edits {
	VEC(struct insertion) insertions;
};

#define EDITS_INIT { { NULL, 0, 0 } }

/* Several insertions at one offset appear in the order in which they were made. */
void edits_insert(struct edits *e, size_t offset, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, before all others at that offset, whenever they were made: a declaration behind the '{' of a body, in "{f(x);}". */
void edits_insert_first(struct edits *e, size_t offset, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Text with all insertions.  Offsets beyond len mean the end. */
void edits_apply(struct edits *e, const char *text, size_t len, struct str *ret);
void edits_release(struct edits *e);		/* also a _cleanup_ function */

#endif
