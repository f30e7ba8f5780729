/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parts.h - the further files of a trace, beside the first.
 */
#ifndef TRACE_PARTS_H
#define TRACE_PARTS_H

#include <stddef.h>

/* The further files of a trace, in order: "trace.vpt.000041" ...  Ends in NULL. */
char **trace_parts(const char *path, size_t *ret_cnt);
void trace_parts_release(char ***parts);	/* also a _cleanup_ function */

#endif
