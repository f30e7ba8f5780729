/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * varint.h - unsigned numbers of up to 128 bits in as few bytes as possible: 7 bits per byte, the lowest first.
 *
 *	300	ac 02
 *
 * Signed numbers are mapped so that small ones stay small: 0, -1, 1, -2 become 0, 1, 2, 3.
 */
#ifndef DIGEST_VARINT_H
#define DIGEST_VARINT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/str.h"

static inline void varint_add(struct str *s, unsigned __int128 value)
{
	char bytes[20];
	size_t cnt = 0;

	do {
		bytes[cnt++] = (char)(((unsigned)value & 0x7f) | (value >> 7 ? 0x80 : 0));
		value >>= 7;
	} while (value);
	str_addn(s, bytes, cnt);
}

static inline void varint_add_signed(struct str *s, int64_t value)
{
	varint_add(s, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

/* The bytes to read; after an error all further numbers are 0. */
struct varint_reader {
	const unsigned char *at, *end;
	bool failed;
};

static inline unsigned __int128 varint_next(struct varint_reader *r)
{
	unsigned __int128 value = 0;

	for (unsigned shift = 0; r->at < r->end && shift < 128; shift += 7) {
		unsigned char byte = *r->at++;
		unsigned __int128 bits = byte & 0x7f;

		if (shift > 121 && bits >> (128 - shift))
			break;
		value |= bits << shift;
		if (!(byte & 0x80))
			return value;
	}
	r->failed = true;
	r->at = r->end;
	return 0;
}

/* Reads a number that is at most `most`. */
static inline uint64_t varint_next_upto(struct varint_reader *r, uint64_t most)
{
	unsigned __int128 value = varint_next(r);

	if (value <= most)
		return (uint64_t)value;
	r->failed = true;
	r->at = r->end;
	return 0;
}

static inline int64_t varint_next_signed(struct varint_reader *r)
{
	uint64_t value = varint_next_upto(r, UINT64_MAX);

	return (int64_t)(value >> 1 ^ -(value & 1));
}

#endif
