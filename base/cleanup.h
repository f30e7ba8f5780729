/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cleanup.h - a scope frees what it owns.
 *
 * Each owning type declares its cleanup once, next to its free function:
 *	DEFINE_CLEANUP(struct trace *, trace_free)
 * and a function that owns one writes
 *	_cleanup_(trace_freep) struct trace *t = NULL;
 * Ownership leaves the scope only through TAKE_PTR().
 */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <stdlib.h>
#include <stdio.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))

/* func##p(&ptr) frees *ptr unless it is NULL. */
#define DEFINE_CLEANUP(type, func)				\
	static inline void func##p(type *p)			\
	{							\
		if (*p)						\
			func(*p);				\
	}							\
	struct func##_needs_semicolon

#define TAKE_PTR(p)						\
	({							\
		__typeof__(p) take_ptr_ = (p);			\
		(p) = NULL;					\
		take_ptr_;					\
	})

static inline void freep(void *p)
{
	free(*(void **)p);
}

static inline void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
