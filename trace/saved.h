/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * saved.h - numbers that one function both writes and reads, so that the two cannot differ.
 *
 *	static void pass_change(struct saved *s, struct sid_change *c)
 *	{
 *		saved_time(s, &c->ns);
 *		saved_u64(s, &c->sid);
 *	}
 *
 * With s->reads it reads them from s->from, else it appends them to s->bytes: varints (encode.h), times as the difference from the
 * time before.  What is read may be anything: numbers out of their range, and lists longer than what is left, set s->from.bad, and
 * the caller then discards all of it.
 */
#ifndef TRACE_SAVED_H
#define TRACE_SAVED_H

#include <string.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "trace/encode.h"

struct saved {
	bool reads;
	struct decoder from;
	VEC(unsigned char) bytes;
	uint64_t before;		/* the time before */
};

static inline void saved_u64(struct saved *s, uint64_t *v)
{
	struct encoder e;

	if (s->reads) {
		*v = decode_varint(&s->from);
		return;
	}
	VEC_ROOM(&s->bytes, VARINT_BYTES_MAX);
	e = (struct encoder){ s->bytes.items, s->bytes.cnt, s->bytes.cap, false };
	encode_varint(&e, *v);
	s->bytes.cnt = e.len;
}

/* A number below limit. */
static inline void saved_below(struct saved *s, uint32_t *v, uint64_t limit)
{
	uint64_t wide = *v;

	saved_u64(s, &wide);
	s->from.bad |= s->reads && wide >= limit;
	*v = s->from.bad ? 0 : (uint32_t)wide;
}

static inline void saved_u32(struct saved *s, uint32_t *v)
{
	saved_below(s, v, (uint64_t)UINT32_MAX + 1);
}

static inline void saved_bool(struct saved *s, bool *v)
{
	uint32_t word = *v;

	saved_below(s, &word, 2);
	*v = word;
}

static inline void saved_time(struct saved *s, int64_t *v)
{
	uint64_t word = zigzag((int64_t)((uint64_t)*v - s->before));

	saved_u64(s, &word);
	s->before += (uint64_t)unzigzag(word);
	*v = (int64_t)s->before;
}

/* NULL is a text, too. */
static inline void saved_text(struct saved *s, struct arena *arena, const char **text)
{
	uint64_t len = !s->reads && *text ? strlen(*text) + 1 : 0;

	saved_u64(s, &len);
	if (!s->reads) {
		for (uint64_t i = 0; i + 1 < len; i++)
			VEC_ADD(&s->bytes, (unsigned char)(*text)[i]);
		return;
	}
	*text = NULL;
	if (len > decode_left(&s->from) + 1) {
		s->from.bad = true;
	} else if (len) {
		*text = arena_strndup(arena, (const char *)s->from.at, len - 1);
		s->from.at += len - 1;
	}
}

/* How many follow, each of a byte at least. */
static inline size_t saved_cnt(struct saved *s, size_t cnt)
{
	uint64_t wide = cnt;

	saved_u64(s, &wide);
	s->from.bad |= s->reads && wide > decode_left(&s->from);
	return s->reads && s->from.bad ? 0 : (size_t)wide;
}

/* pass(s, item, arg) of each; what the list held before is replaced as it is read. */
#define SAVED_VEC(s, v, pass, arg)							\
	do {										\
		size_t saved_cnt_ = saved_cnt(s, (v)->cnt);				\
											\
		(v)->cnt = (s)->reads ? 0 : (v)->cnt;					\
		for (size_t saved_i_ = 0; saved_i_ < saved_cnt_ && !(s)->from.bad; saved_i_++)	\
			pass(s, (s)->reads ? VEC_EXTEND(v) : &(v)->items[saved_i_], arg);	\
	} while (0)

#endif
