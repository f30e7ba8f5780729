/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tuples.h - the text form of a trace (vprof-tuples(5)).
 *
 *	vprof-tuples 1
 *	interval   SID NAME START_TID START_NS END_TID END_NS [completed|aborted]
 *	segment    TID SID START_NS END_NS STATE
 *	invocation TID SID FUNCTION[@CALLSITE] START_NS END_NS
 *	wakeup     TID WAKER_TID TIME_NS
 *	creation   TID TIME_NS TID2 TIME2_NS [TASK]
 *	call       CALLER CALLEE
 *	work       SID NAME VALUE
 *	thread     TID KIND [NAME [open]]
 *	false-wakeup TID TIME_NS
 *	stack      TID START_NS END_NS FUNCTION[@PLACE];...
 *	order      TID TIME_NS OBJECT take|share|give|post|meet [SINCE_NS]
 *	ids        SID TRACE SPAN PARENT
 *	remote-call TID SPAN TIME_NS
 *	host       NAME
 *
 * A field that begins with '#' opens a comment.  In names %XX (hexadecimal) stands for a byte that
 * would end the field: "operator%20new"; the first '@' of FUNCTION starts its call site.
 *
 * Reading then writing then reading gives the same model.  A damaged line is reported as
 * FILE:LINE with what was expected (EXIT_DATA), and *ret is untouched.
 */
#ifndef TRACE_TUPLES_TUPLES_H
#define TRACE_TUPLES_TUPLES_H

#include <stdio.h>
#include "base/diag.h"
#include "trace/model.h"

/* Reads one or several files as one trace. */
int tuples_read(const char *const *paths, size_t path_cnt, struct trace **ret, struct diag *reterr);

/* The same from memory; name stands in messages for the file. */
int tuples_parse(const char *text, size_t len, const char *name, struct trace **ret,
		 struct diag *reterr);

/* How many intervals the tuples cannot express: completed and root-only. */
size_t tuples_left_out(const struct trace *t);

/* Writes the tuples sorted, one a line.  0 or a negative errno of the stream. */
int tuples_write(FILE *out, const struct trace *t);

#endif
