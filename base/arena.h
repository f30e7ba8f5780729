/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arena.h - memory that is given back all at once.
 *
 * Graphs, trees and strings of one pass live in one arena; nothing in it is freed
 * by itself.  Allocation never fails (see alloc.h); memory is zeroed.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>
#include "base/cleanup.h"

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a);			/* NULL is fine */
DEFINE_CLEANUP(struct arena *, arena_free);

void *arena_alloc(struct arena *a, size_t bytes);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t len);
char *arena_printf(struct arena *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* cnt * sizeof(T) must be known not to overflow. */
#define ARENA_NEW(a, T, cnt) ((T *)arena_alloc(a, sizeof(T) * (size_t)(cnt)))

#endif
