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

/* The bytes, not terminated, inside the decoder's input; NULL if bad. */
const char *decode_text(struct decoder *d, size_t *ret_len);

static inline size_t decode_left(const struct decoder *d)
{
	return (size_t)(d->end - d->at);
}

/* 64-bit FNV-1a: finds damage, does not resist an attacker. */
uint64_t encode_checksum(const void *data, size_t len);

#endif
