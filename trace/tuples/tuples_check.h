/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tuples_check.h - finds lines that contradict each other.
 *
 *	two intervals with one SID		segments of one thread that overlap
 *	invocations of one thread that cross (neither inside the other, nor apart)
 */
#ifndef TRACE_TUPLES_TUPLES_CHECK_H
#define TRACE_TUPLES_TUPLES_CHECK_H

#include "base/diag.h"
#include "trace/model.h"

struct origin {				/* where a tuple was read */
	uint32_t file;			/* index into origins.files */
	uint32_t line;			/* from 1 */
};

struct origins {			/* parallel to the arrays of an unsorted trace */
	VEC(const char *) files;
	VEC(struct origin) intervals, segments, invocations, stacks;
};

/* 0, or -EBADMSG with both lines named in reterr. */
int tuples_check(const struct trace *t, const struct origins *o, struct diag *reterr);

#endif
