/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parts.h - the files that a trace consists of beside the first.
 */
#ifndef TRACE_PARTS_H
#define TRACE_PARTS_H

#include <stddef.h>

/* The files beside a trace that it consists of as well, in order: "trace.vpt.000041" ...  Ends in NULL. */
char **trace_parts(const char *path, size_t *ret_cnt);
void trace_parts_release(char ***parts);	/* also a _cleanup_ function */

#endif
