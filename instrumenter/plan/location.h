/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * location.h - LOC, a place in the user's source (vprof.conf(5)).
 *
 *	FUNCTION  FUNCTION@entry  FUNCTION@return  FILE:FUNCTION[@...]  FILE:LINE  mark:NAME
 *
 * A key of its own and a condition, both C expressions, may follow all forms except a mark:
 *
 *	push2worker key=arg2 if arg1 != 0
 *
 * A FILE matches a path that ends in it at a '/' boundary ("log/server.c" matches "/home/u/log/server.c").
 */
#ifndef INSTRUMENTER_PLAN_LOCATION_H
#define INSTRUMENTER_PLAN_LOCATION_H

#include <stdbool.h>
#include <stdint.h>
#include "base/alloc.h"
#include "base/diag.h"

enum place {
	PLACE_DEFAULT,			/* not given: entry for start and resume, return for end */
	PLACE_ENTRY, PLACE_RETURN,
	PLACE_LINE,			/* just before the statement at file:line */
	PLACE_MARK			/* a VPROF_ macro in the source */
};

struct location {
	enum place place;
	char *file;			/* NULL: any */
	char *function;			/* C name, or qualified C++ name; for PLACE_ENTRY/RETURN */
	char *mark;
	uint32_t line;
	char *key;			/* instead of the interval's; NULL: that one */
	char *condition;		/* the place counts where this is not 0; NULL: always */
};

/* Parses text; EXIT_USAGE with a message that lists the forms. */
int location_parse(const char *text, struct location *ret, struct diag *reterr);
void location_release(struct location *l);
char *location_text(const struct location *l);		/* caller frees */
bool location_file_matches(const char *wanted, const char *path);
/* "append" and "Log::append" match "store::Log::append". */
bool location_function_matches(const char *wanted, const char *name);
/* For a name as it is printed, which has parameters if there are overloads: "work" names work(int) as well, and
 * "work(int)" names work, where that is the only one. */
bool location_names(const char *wanted, const char *shown);

/* [interval "NAME"] of vprof.conf. */
struct interval_directive {
	char *name;
	struct location start, end;
	VEC(struct location) resumes;
	char *key;			/* C expression, argN and ret allowed; NULL: the thread */
	char *trace, *span, *parent;	/* C expressions at its start: ids (runtime/ids.h); NULL: unknown */
	bool inner;			/* nested = inner: of nested ones the innermost counts */
};

void interval_directive_release(struct interval_directive *d);

#endif
