/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arena.c - blocks of memory, each twice as large as the one before (up to 1 MiB), freed together.
 *
 * A request that does not fit the current block opens a new one, at least as large as the
 * request; what was left of the old block is not used any more.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/banned.h"

#define FIRST_BLOCK_BYTES 4096
#define LARGEST_BLOCK_BYTES (1024 * 1024)
#define ALIGNMENT _Alignof(max_align_t)

struct block {
	struct block *next;
	size_t cap, used;
	_Alignas(max_align_t) unsigned char data[];
};

struct arena {
	struct block *blocks;		/* newest first */
};

struct arena *arena_new(void)
{
	return xcalloc(1, sizeof(struct arena));
}

void arena_free(struct arena *a)
{
	if (!a)
		return;
	for (struct block *b = a->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	free(a);
}

static struct block *add_block(struct arena *a, size_t bytes)
{
	size_t cap = a->blocks ? a->blocks->cap * 2 : FIRST_BLOCK_BYTES;

	if (cap > LARGEST_BLOCK_BYTES)
		cap = LARGEST_BLOCK_BYTES;
	if (cap < bytes)
		cap = bytes;
	struct block *b = xcalloc(1, sizeof(*b) + cap);

	b->cap = cap;
	b->next = a->blocks;
	a->blocks = b;
	return b;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
	struct block *b = a->blocks;

	bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (!b || b->cap - b->used < bytes)
		b = add_block(a, bytes);
	void *p = b->data + b->used;

	b->used += bytes;
	return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
	char *copy = arena_alloc(a, len + 1);

	memcpy(copy, s, len);
	return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0)
		return arena_strdup(a, "");

	char *text = arena_alloc(a, (size_t)len + 1);

	va_start(ap, fmt);
	vsnprintf(text, (size_t)len + 1, fmt, ap);
	va_end(ap);
	return text;
}
