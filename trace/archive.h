/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * archive.h - data as bytes, and back: one function describes a struct and both writes and reads it, so the two cannot disagree.
 *
 *	static void point(struct archive *a, struct point *p)
 *	{
 *		archive_i64(a, &p->x);
 *		archive_text(a, &p->label);
 *	}
 *
 *	struct archive a = { .out = &bytes };				writes
 *	struct archive a = { .at = bytes, .end = end, .arena = arena };	reads; texts are copied into the arena
 *
 * Numbers are varints (encode.h), so small ones are short.  Reading checks that nothing is beyond the end: after an error a->failed is
 * set, and all that follows is 0.  The caller checks whether numbers make sense (archive_below(), archive_refuse()).
 */
#ifndef TRACE_ARCHIVE_H
#define TRACE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/arena.h"
#include "base/str.h"
#include "trace/encode.h"

struct archive {
	struct str *out;		/* NULL: it reads */
	const unsigned char *at, *end;
	struct arena *arena;
	uint64_t before;		/* the time before (archive_time()) */
	bool failed;
	void (*full)(struct archive *a);	/* takes the bytes in out, where they are many; NULL: out keeps them all */
	void *arg;
};

enum { ARCHIVE_FULL_BYTES = 1 << 20 };

static inline uint64_t archive_fail(struct archive *a)
{
	a->failed = true;
	a->at = a->end;
	return 0;
}

/* What was read makes no sense. */
static inline void archive_refuse(struct archive *a, bool is_nonsense)
{
	if (!a->out && is_nonsense)
		archive_fail(a);
}

static inline void archive_write_number(struct archive *a, uint64_t v)
{
	unsigned char bytes[VARINT_BYTES_MAX];
	struct encoder e = { bytes, 0, sizeof(bytes), false };

	encode_varint(&e, v);
	str_addn(a->out, (const char *)bytes, e.len);
	if (a->full && a->out->len >= ARCHIVE_FULL_BYTES)
		a->full(a);
}

static inline uint64_t archive_read_number(struct archive *a)
{
	struct decoder d = { a->at, a->end, false };
	uint64_t v = decode_varint(&d);

	a->at = d.at;
	return d.bad ? archive_fail(a) : v;
}

static inline void archive_u64(struct archive *a, uint64_t *v)
{
	if (a->out)
		archive_write_number(a, *v);
	else
		*v = archive_read_number(a);
}

static inline void archive_u32(struct archive *a, uint32_t *v)
{
	uint64_t number = *v;

	archive_u64(a, &number);
	*v = (uint32_t)(number > UINT32_MAX ? archive_fail(a) : number);
}

/* Small ones are short, whatever their sign. */
static inline void archive_i64(struct archive *a, int64_t *v)
{
	uint64_t number = zigzag(*v);

	archive_u64(a, &number);
	*v = unzigzag(number);
}

/* As the difference from the time before. */
static inline void archive_time(struct archive *a, int64_t *v)
{
	int64_t difference = (int64_t)((uint64_t)*v - a->before);

	archive_i64(a, &difference);
	a->before += (uint64_t)difference;
	*v = (int64_t)a->before;
}

static inline void archive_i128(struct archive *a, __int128 *v)
{
	uint64_t low = (uint64_t)(unsigned __int128)*v;
	int64_t high = (int64_t)((unsigned __int128)*v >> 64);

	archive_u64(a, &low);
	archive_i64(a, &high);
	*v = (__int128)((unsigned __int128)(uint64_t)high << 64 | low);
}

static inline void archive_bool(struct archive *a, bool *v)
{
	uint64_t number = *v;

	archive_u64(a, &number);
	*v = number > 1 ? archive_fail(a) : number;
}

/* Bit for bit. */
static inline void archive_double(struct archive *a, double *v)
{
	uint64_t bits;

	memcpy(&bits, v, sizeof(bits));
	archive_u64(a, &bits);
	memcpy(v, &bits, sizeof(bits));
}

/* May be NULL.  Its length and 1, so that 0 is none.  arena: where it is copied to. */
static inline void archive_text_in(struct archive *a, struct arena *arena, const char **v)
{
	uint64_t len = a->out && *v ? strlen(*v) + 1 : 0;

	archive_u64(a, &len);
	if (a->out) {
		if (len)
			str_addn(a->out, *v, len - 1);
		return;
	}
	*v = NULL;
	if (len && len - 1 > (uint64_t)(a->end - a->at))
		len = archive_fail(a);
	if (!len)
		return;
	*v = arena_strndup(arena, (const char *)a->at, len - 1);
	a->at += len - 1;
}

static inline void archive_text(struct archive *a, const char **v)
{
	archive_text_in(a, a->arena, v);
}

/* Reading: false, and failed, where *v is not below the limit. */
static inline bool archive_below(struct archive *a, uint32_t *v, uint64_t limit)
{
	archive_u32(a, v);
	if (!a->failed && *v >= limit)
		archive_fail(a);
	if (a->failed)
		*v = 0;
	return !a->failed;
}

/* Writes cnt, or returns the number that was written; never more than there are bytes left. */
static inline size_t archive_cnt(struct archive *a, size_t cnt)
{
	uint64_t number = cnt;

	archive_u64(a, &number);
	if (!a->out && number > (uint64_t)(a->end - a->at))
		number = archive_fail(a);
	return (size_t)number;
}

/* The list has as many items as were written; new ones are zeroed. */
#define ARCHIVE_RESIZE(a, list)							\
	do {									\
		size_t cnt_ = archive_cnt((a), (list)->cnt);			\
										\
		while ((list)->cnt < cnt_)					\
			VEC_EXTEND(list);					\
	} while (0)

/* pass(a, item, arg) of each; what the list held before is replaced as it is read. */
#define ARCHIVE_VEC(a, list, pass, arg)							\
	do {										\
		size_t archive_cnt_ = archive_cnt((a), (list)->cnt);			\
											\
		(list)->cnt = (a)->out ? (list)->cnt : 0;				\
		for (size_t archive_i_ = 0; archive_i_ < archive_cnt_ && !(a)->failed; archive_i_++)	\
			pass(a, (a)->out ? &(list)->items[archive_i_] : VEC_EXTEND(list), arg);	\
	} while (0)

#endif
