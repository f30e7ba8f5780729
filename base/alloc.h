/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * alloc.h - heap memory that cannot fail.
 *
 * A command line tool that runs out of memory has one thing left to do: say so.
 * These functions call the handler (cmd/main.c installs one that prints and exits
 * with the status of vprof-formats(5)) instead of returning NULL, so the algorithms stay
 * free of error branches.  Sizes read from files are checked *before* they come here.
 */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>

/* Called when memory is gone; must not return.  The default aborts. */
void alloc_set_failure_handler(void (*handler)(size_t wanted_bytes));

void *xmalloc(size_t bytes) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t cnt, size_t bytes) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *p, size_t cnt, size_t bytes) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *s, size_t len) __attribute__((malloc, returns_nonnull));

/* Returns freed memory to the system where possible.  Call it before work of another kind allocates its own. */
void alloc_give_back(void);

/* Zeroed memory for sparse use: untouched pages cost nothing.  Freed by sparse_free() with the same size. */
void *sparse_zeros(size_t bytes) __attribute__((returns_nonnull));
void sparse_free(void *p, size_t bytes);

/* "printf to a new string"; the caller frees it. */
char *xasprintf(const char *fmt, ...)
	__attribute__((malloc, returns_nonnull, format(printf, 1, 2)));

/*
 * Growable arrays: struct { T *items; size_t cnt, cap; } anything.
 *	VEC_ADD(&v, item)	append (item is evaluated once)
 *	VEC_EXTEND(&v)		append a zeroed item, yields its address
 *	VEC_ROOM(&v, n)		n items may be written after the last, and added to cnt
 *	VEC_RELEASE(&v)		free the array, leave it empty
 */
#define VEC(T) struct { T *items; size_t cnt, cap; }

#define VEC_ROOM(v, n)								\
	do {									\
		if ((v)->cap - (v)->cnt < (n)) {				\
			(v)->cap = (v)->cap * 2 > (v)->cnt + (n) ?		\
				   (v)->cap * 2 : (v)->cnt + (n) + 15;		\
			(v)->items = xrealloc((v)->items, (v)->cap,		\
					      sizeof(*(v)->items));		\
		}								\
	} while (0)

#define VEC_RESERVE(v) VEC_ROOM(v, 1)

/* The value may be read from the list itself. */
#define VEC_ADD(v, ...)								\
	do {									\
		__typeof__(*(v)->items) vec_new_ = (__VA_ARGS__);		\
										\
		VEC_RESERVE(v);							\
		(v)->items[(v)->cnt++] = vec_new_;				\
	} while (0)

#define VEC_EXTEND(v)								\
	({									\
		VEC_RESERVE(v);							\
		__builtin_memset(&(v)->items[(v)->cnt], 0, sizeof(*(v)->items)); \
		&(v)->items[(v)->cnt++];					\
	})

/* Address of element i, or of the end.  An empty list's items are NULL, to which nothing may be added. */
#define VEC_AT(v, i) ((v)->items ? &(v)->items[i] : NULL)

#define VEC_RELEASE(v)								\
	do {									\
		free((v)->items);						\
		(v)->items = NULL;						\
		(v)->cnt = (v)->cap = 0;					\
	} while (0)

#endif
