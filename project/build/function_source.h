/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * function_source.h - a function's lines as they are in its file.
 *
 *	deep.c
 *	   4  static void
 *	   5  idle(unsigned id)
 *	   6  {
 *	   7  	sink += id;
 *	   8  }
 */
#ifndef PROJECT_BUILD_FUNCTION_SOURCE_H
#define PROJECT_BUILD_FUNCTION_SOURCE_H

#include "base/diag.h"
#include "base/str.h"
#include "store/store.h"

#define FUNCTION_SOURCE_LINES 200	/* lines of the body at most; the number of omitted lines is printed */

/* Appends the head of f, which is looked for above its body, and the body with the line of its
 * closing brace.  Text is made fit for a terminal. */
int function_source(const struct project_function *f, struct str *to, struct diag *reterr);

/* All of it as it is in the file, from the first line of the head, *ret_line, to the closing brace. */
int function_text(const struct project_function *f, uint32_t *ret_line, char **ret, struct diag *reterr);

#endif
