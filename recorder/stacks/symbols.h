/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * symbols.h - names of the functions of a stack, as trace/model.h writes them:
 * "main@server.c:31;serve@server.c:12;write".
 */
#ifndef RECORDER_STACKS_SYMBOLS_H
#define RECORDER_STACKS_SYMBOLS_H

#include "base/map.h"
#include "base/str.h"
#include "recorder/stacks/stacks.h"
#include "recorder/stacks/unwind.h"

struct symbols;

struct symbols *symbols_new(void);
void symbols_free(struct symbols *s);		/* NULL is fine */

/* Adds the functions of the shape, outermost first.  cnt: its number of occurrences. */
void symbols_add_shape(struct symbols *s, struct str *to, const struct shape *shape, uint64_t cnt);

/* Counts the shapes that were added. */
void symbols_unnamed(const struct symbols *s, struct unnamed_stacks *ret);

/* Functions of system libraries among those added, as written. */
const struct names *symbols_system(const struct symbols *s);

/* Adds functions of the kernel, whose addresses come innermost first, except those that only switch threads. */
void symbols_add_kernel(struct symbols *s, struct str *to, const uint64_t *addresses, unsigned int cnt);

#endif
