/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * callers.h - the file beside a trace with the callers of primitives that blocked: "callers".
 *
 *	vprof-callers 1
 *	17	server	built	lock_slow	lock.c	0
 *	18	libfoo.so	foreign	foo_get		0
 *	19	server	built	wait_a_bit	wait.h	12	handle	server.c	31
 *
 * A line is the number that segments have, the file of the program, whether vprof built any of it, then of each function
 * its name, its source file and its line: the innermost first, where some are inlined.  Unknown fields are empty, or 0.
 * Tabs separate fields.  The file is made when the run ends, while the program's file is still the one that ran.
 */
#ifndef TRACE_CALLERS_H
#define TRACE_CALLERS_H

#include "base/str.h"
#include "trace/model.h"

#define CALLERS_FILE "callers"
#define CALLER_NAMELESS "?"		/* in the place of a function for which its file has no name */

/* The head, then a line for each. */
void callers_text_begin(struct str *to);
void callers_text_add(struct str *to, uint32_t number, const struct wait_caller *c);

/* Fills t->callers from the file, if there is one.  The caller of this adds the keys.  Whole lines of a damaged file
 * count, and t->losses.callers_line is the first of the others; 1 if nothing can be read. */
void callers_read(const char *path, struct trace *t);

#endif
