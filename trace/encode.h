/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encode.h - integers in as few bytes as they need.
 *
 * A varint holds seven bits a byte, low bits first, the top bit says that more follow:
 * 300 = 0b10_0101100 becomes ac 02.  Zigzag turns small negative numbers into small
 * numbers: 0, -1, 1, -2 become 0, 1, 2, 3.  So a trace sorted by time, kept as differences,
 * takes two bytes a number instead of eight.
 *
 * Writing and reading never go past the end: an encoder that is full, a decoder that found too
 * few or impossible bytes, says so once at the end (full, bad) and yields zeros.
 */
#ifndef TRACE_ENCODE_H
#define TRACE_ENCODE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VARINT_BYTES_MAX = 10 };

struct encoder {
	unsigned char *data;
	size_t len, cap;
	bool full;			/* something did not fit; data holds what did */
};

struct decoder {
	const unsigned char *at, *end;
	bool bad;
};

static inline uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static inline int64_t unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
}

void encode_varint(struct encoder *e, uint64_t value);
void encode_text(struct encoder *e, const char *text, size_t len);	/* length, bytes */

static inline size_t encode_room(const struct encoder *e)
{
	return e->cap - e->len;
}

uint64_t decode_long_varint(struct decoder *d);

static inline uint64_t decode_varint(struct decoder *d)
{
	return d->at < d->end && *d->at < 0x80 ? *d->at++ : decode_long_varint(d);
}

/* Eight bytes of seven bits each, low ones first, as one number; the eighth bits do not count. */
static inline uint64_t join_sevens(uint64_t bytes)
{
	bytes = (bytes & 0x007f007f007f007fULL) | (bytes & 0x7f007f007f007f00ULL) >> 1;
	bytes = (bytes & 0x00003fff00003fffULL) | (bytes & 0x3fff00003fff0000ULL) >> 2;
	return (bytes & 0x0fffffff) | (bytes & 0x0fffffff00000000ULL) >> 4;
}

/*
 * Three varints that all end within the next eight bytes, as most do: found by one look at the eighth bits, without a
 * branch for each byte.  false: they do not, and nothing is taken.
 */
static inline bool decode_three(struct decoder *d, uint64_t ret[3])
{
	const uint64_t eighths = 0x8080808080808080ULL;
	uint64_t word, ends, first, second;

	if (d->end - d->at < 8)
		return false;
	__builtin_memcpy(&word, d->at, sizeof(word));
	word = le64toh(word);
	ends = ~word & eighths;
	first = ends & -ends;
	ends &= ends - 1;
	second = ends & -ends;
	ends &= ends - 1;
	if (!ends)
		return false;
	ret[0] = join_sevens(word & (first - 1));
	ret[1] = join_sevens((word & (second - 1)) >> __builtin_ctzll(first) >> 1);
	ends &= -ends;
	ret[2] = join_sevens((word & (ends - 1)) >> __builtin_ctzll(second) >> 1);
	d->at += (__builtin_ctzll(ends) + 1) / 8;
	return true;
}

/* The bytes, not terminated, inside the decoder's input; NULL if bad. */
const char *decode_text(struct decoder *d, size_t *ret_len);

static inline size_t decode_left(const struct decoder *d)
{
	return (size_t)(d->end - d->at);
}

/* 64-bit FNV-1a: finds damage, does not resist an attacker. */
uint64_t encode_checksum(const void *data, size_t len);

#endif
