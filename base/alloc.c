/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * alloc.c - heap memory that cannot fail: one place decides what happens when it does.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/banned.h"

static void (*failure_handler)(size_t wanted_bytes);

void alloc_set_failure_handler(void (*handler)(size_t wanted_bytes))
{
	failure_handler = handler;
}

static void out_of_memory(size_t wanted_bytes) __attribute__((noreturn));
static void out_of_memory(size_t wanted_bytes)
{
	if (failure_handler)
		failure_handler(wanted_bytes);
	abort();
}

static void *checked(void *p, size_t wanted_bytes)
{
	if (!p)
		out_of_memory(wanted_bytes);
	return p;
}

void *xmalloc(size_t bytes)
{
	return checked(malloc(bytes ? bytes : 1), bytes);
}

void *xcalloc(size_t cnt, size_t bytes)
{
	return checked(calloc(cnt ? cnt : 1, bytes ? bytes : 1), cnt * bytes);
}

void *xrealloc(void *p, size_t cnt, size_t bytes)
{
	if (bytes && cnt > SIZE_MAX / bytes)
		out_of_memory(SIZE_MAX);
	size_t total = cnt * bytes;

	return checked(realloc(p, total > 0 ? total : 1), total);
}

char *xstrdup(const char *s)
{
	return checked(strdup(s), strlen(s) + 1);
}

char *xstrndup(const char *s, size_t len)
{
	return checked(strndup(s, len), len + 1);
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	int len = vasprintf(&text, fmt, ap);
	va_end(ap);
	return checked(len < 0 ? NULL : text, 0);
}

void alloc_give_back(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

void *sparse_zeros(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return checked(p == MAP_FAILED ? NULL : p, bytes);
}

void sparse_free(void *p, size_t bytes)
{
	if (p)
		munmap(p, bytes);
}
