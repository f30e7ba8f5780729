/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tuples_fields.h - the fields of a tuple's line.  Private to trace/tuples/.
 *
 * Each returns 0, or reports what it expected of which field (-EBADMSG).
 */
#ifndef TRACE_TUPLES_TUPLES_FIELDS_H
#define TRACE_TUPLES_TUPLES_FIELDS_H

#include "base/diag.h"
#include "base/map.h"
#include "base/str.h"
#include "trace/model.h"
#include "trace/tuples/tuples_check.h"

struct field {
	const char *text;
	size_t len;
};

struct parser {
	struct trace *t;
	struct names *interval_names, *call_sites, *task_names, *work_names, *functions, *thread_names, *call_stacks, *sync_objects;
	struct origins origins;
	uint32_t line;
	const char *usage;		/* of the tuple being read */
	struct str word;		/* scratch: a name, decoded */
	struct diag *reterr;
};

/* "FILE:LINE: expected WHAT in "segment TID ...", found "x"".  Always -EBADMSG. */
int field_expected(const struct parser *p, const char *what, const struct field *found);

bool field_is(const struct field *f, const char *word);
bool field_digits(const struct field *f, uint64_t max, uint64_t *ret);
int field_id(struct parser *p, const struct field *f, const char *what, uint64_t *ret);
int field_sid_or_none(struct parser *p, const struct field *f, uint64_t *ret);
int field_time(struct parser *p, const struct field *f, const char *what, int64_t *ret);
/* START_NS END_NS, in this order and possible. */
int field_span(struct parser *p, const struct field *f, int64_t *ret_start, int64_t *ret_end);
/* Decodes %XX into p->word and numbers the name; a NUL can be part of no name. */
int field_name(struct parser *p, const struct field *f, const char *what, struct names *names, uint32_t *ret);
/* ... and puts it into the list. */
int field_string(struct parser *p, const struct field *f, const char *what, struct names *names, strings *list, uint32_t *ret);
int field_function(struct parser *p, const struct field *f, const char *what, uint32_t *ret);

#endif
