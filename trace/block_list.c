/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * block_list.c - walks and searches.  Both only go forward, so that no crafted file can keep them busy for
 * ever.
 */
#include "trace/block_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>
#include "base/banned.h"
#include "trace/file.h"

enum { SEARCH_BYTES = 1 << 16 };

struct walk {
	struct block_list *l;
	int fd;
	uint64_t size;
};

bool block_read_at(int fd, void *data, size_t len, uint64_t at)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = pread(fd, (char *)data + done, len - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

bool block_list_takes(const struct trace_block *h)
{
	return h->magic == TRACE_BLOCK_MAGIC && h->raw_bytes &&
	       h->raw_bytes <= TRACE_BLOCK_RAW_MAX && h->raw_bytes / TRACE_BLOCK_RATIO_MAX <= h->stored_bytes &&
	       h->stored_bytes <= ZSTD_COMPRESSBOUND(TRACE_BLOCK_RAW_MAX) + sizeof(struct trace_place);
}

/* Whether a block begins at byte `at`; the file may end before the block does. */
static bool look(const struct walk *w, uint64_t at, struct trace_block *h, struct trace_place *p)
{
	return at <= w->size && w->size - at >= sizeof(*h) && block_read_at(w->fd, h, sizeof(*h), at) && block_list_takes(h) &&
	       h->stored_bytes >= sizeof(*p) && block_read_at(w->fd, p, sizeof(*p), at + sizeof(*h)) &&
	       p->checksum == trace_place_checksum(h, p);
}

static uint64_t end_of(const struct trace_block *h, uint64_t at)
{
	return at + sizeof(*h) + h->stored_bytes;
}

static bool is_magic(const unsigned char *at)
{
	uint32_t magic;

	memcpy(&magic, at, sizeof(magic));
	return magic == TRACE_BLOCK_MAGIC;
}

/* The begin of a block between `at` and limit; limit: none. */
static uint64_t search(struct walk *w, uint64_t at, uint64_t limit)
{
	unsigned char bytes[SEARCH_BYTES];
	struct trace_block h;
	struct trace_place p;

	while (at < limit) {
		uint64_t left = w->size - at;
		size_t len = left < sizeof(bytes) ? (size_t)left : sizeof(bytes), i = 0;

		if (len < sizeof(h) || !block_read_at(w->fd, bytes, len, at))
			return limit;
		for (; i + sizeof(uint32_t) <= len && at + i < limit; i++) {
			const unsigned char *first = memchr(bytes + i, 'V', len - i);

			if (!first)
				break;
			i = (size_t)(first - bytes);
			if (at + i >= limit)
				return limit;
			if (i + 4 <= len && is_magic(first) && look(w, at + i, &h, &p))
				return at + i;
		}
		at += len > SEARCH_BYTES / 2 ? len - sizeof(uint32_t) : len;
	}
	return limit;
}

static void add(struct walk *w, const struct trace_block *h, const struct trace_place *p, uint64_t at, bool is_whole)
{
	struct listed_block b = { at, p->number, p->since, p->until, h->kind, h->stored_bytes, h->checksum };

	if (is_whole)
		VEC_ADD(&w->l->whole, b);
	else
		VEC_ADD(&w->l->damaged, b);
}

/* The rest of the file begins like a block but is not a whole one. */
static bool is_cut_head(const struct walk *w, uint64_t at)
{
	const uint32_t magic = TRACE_BLOCK_MAGIC;
	uint64_t left = w->size - at;
	size_t len = left < sizeof(magic) ? (size_t)left : sizeof(magic);
	unsigned char bytes[sizeof(magic)];

	if (left >= sizeof(struct trace_block) + sizeof(struct trace_place) || !block_read_at(w->fd, bytes, len, at))
		return false;
	return memcmp(bytes, &magic, len) == 0;
}

/* Called if no block begins at `at`: finds the next one after the damage, or the end of the file. */
static uint64_t pass_damage(struct walk *w, uint64_t at)
{
	uint64_t next = search(w, at + 1, w->size);

	if (next == w->size && is_cut_head(w, at))
		w->l->cut_bytes = w->size - at;
	else
		w->l->damaged_bytes += next - at;
	return next;
}

/* A block that ends where no other begins may have lost bytes; then the next block begins inside it. */
static uint64_t pass_block(struct walk *w, const struct trace_block *h, const struct trace_place *p, uint64_t at)
{
	struct trace_block h2;
	struct trace_place p2;
	uint64_t end = end_of(h, at), next;

	if (end == w->size || (end < w->size && look(w, end, &h2, &p2))) {
		add(w, h, p, at, true);
		return end;
	}
	next = search(w, at + sizeof(*h), end < w->size ? end : w->size);
	if (next < end && next < w->size) {
		add(w, h, p, at, false);
		w->l->damaged_bytes += next - at;
		return next;
	}
	if (end < w->size) {
		add(w, h, p, at, true);
		return end;
	}
	w->l->cut_bytes = w->size - at;
	return w->size;
}

static int by_number(const void *a, const void *b)
{
	const struct listed_block *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

void block_list_make(struct block_list *l, int fd, uint64_t size, uint64_t from)
{
	struct walk w = { .l = l, .fd = fd, .size = size };
	uint64_t at = from;

	while (at < size) {
		struct trace_block h;
		struct trace_place p = { .number = 0 };

		at = look(&w, at, &h, &p) ? pass_block(&w, &h, &p, at) : pass_damage(&w, at);
	}
	for (size_t i = 1; i < l->whole.cnt; i++)
		if (by_number(&l->whole.items[i - 1], &l->whole.items[i]) > 0) {
			qsort(l->whole.items, l->whole.cnt, sizeof(*l->whole.items), by_number);
			break;
		}
}

void block_list_release(struct block_list *l)
{
	VEC_RELEASE(&l->whole);
	VEC_RELEASE(&l->damaged);
}
