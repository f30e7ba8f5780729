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

static inline size_t encode_room(const struct encoder *e)
{
	return e->cap - e->len;
}

void encode_long_varint(struct encoder *e, uint64_t value);

/* Most are of one byte. */
static inline void encode_varint(struct encoder *e, uint64_t value)
{
	if (value <= 0x7f && e->len < e->cap)
		e->data[e->len++] = (unsigned char)value;
	else
		encode_long_varint(e, value);
}

void encode_text(struct encoder *e, const char *text, size_t len);	/* length, bytes */

uint64_t decode_long_varint(struct decoder *d);

static inline uint64_t decode_varint(struct decoder *d)
{
	return d->at < d->end && *d->at < 0x80 ? *d->at++ : decode_long_varint(d);
}

/* Writes a number below 2^14 in two bytes even if one is enough, so that it can be filled in later. */
static inline void encode_two_bytes(struct encoder *e, uint64_t value)
{
	if (encode_room(e) < 2) {
		e->full = true;
		return;
	}
	e->data[e->len++] = 0x80 | (value & 0x7f);
	e->data[e->len++] = value >> 7 & 0x7f;
}

/* A number of at most 56 bits as eight bytes of seven bits each, low ones first. */
static inline uint64_t part_sevens(uint64_t value)
{
	value = (value & 0x0fffffff) | (value << 4 & 0x0fffffff00000000ULL);
	value = (value & 0x00003fff00003fffULL) | (value << 2 & 0x3fff00003fff0000ULL);
	return (value & 0x007f007f007f007fULL) | (value << 1 & 0x7f007f007f007f00ULL);
}

/* Writes a varint of at most 56 bits at *at, which has room for eight bytes whatever its length; returns the byte after it. */
static inline unsigned char *encode_short_varint(unsigned char *at, uint64_t value)
{
	uint64_t bytes = part_sevens(value);
	unsigned int last = (63 - (unsigned int)__builtin_clzll(bytes | 1)) / 8;

	bytes = htole64(bytes | (0x8080808080808080ULL & ((1ULL << 8 * last) - 1)));
	__builtin_memcpy(at, &bytes, sizeof(bytes));
	return at + last + 1;
}

/* Three varints, as an invocation has them: without an unpredictable branch for each byte. */
static inline void encode_three(struct encoder *e, uint64_t a, uint64_t b, uint64_t c)
{
	unsigned char *at = e->data + e->len;

	if ((a | b | c) >> 56 || encode_room(e) < 3 * sizeof(uint64_t)) {
		encode_varint(e, a);
		encode_varint(e, b);
		encode_varint(e, c);
		return;
	}
	at = encode_short_varint(at, a);
	at = encode_short_varint(at, b);
	e->len = (size_t)(encode_short_varint(at, c) - e->data);
}

/* Calls that were encoded one after another. */
struct encoded_calls {
	uint64_t before;		/* start of the last one; 0: there was none */
	uint64_t first_end, last_end;	/* UINT64_MAX and 0: none */
	uint64_t sought_start, sought_fid;
	bool found;			/* the sought one was among them */
};

/* Up to cnt calls of two words each, as in a chunk (format.h); returns how many come before another record. */
size_t encode_calls(struct encoder *e, struct encoded_calls *c, const uint64_t *words, size_t cnt);

extern bool encode_calls_anywhere;	/* for tests: as on a CPU without special instructions */

/* Eight bytes of seven bits each, low ones first, as one number; the eighth bits do not count. */
static inline uint64_t join_sevens(uint64_t bytes)
{
	bytes = (bytes & 0x007f007f007f007fULL) | (bytes & 0x7f007f007f007f00ULL) >> 1;
	bytes = (bytes & 0x00003fff00003fffULL) | (bytes & 0x3fff00003fff0000ULL) >> 2;
	return (bytes & 0x0fffffff) | (bytes & 0x0fffffff00000000ULL) >> 4;
}

/*
 * Three varints that all end within the next eight bytes, as most do: found by one look at the eighth bits, without a
 * branch for each byte.  All bytes are joined at once, and the number that comes of it is cut where a varint ended:
 * those of 1, 2 and 1 bytes are the bits 0..6, 7..20 and 21..27.  false: they do not, and nothing is taken.
 */
static inline bool decode_three(struct decoder *d, uint64_t ret[3])
{
	uint64_t word, ends, joined;
	unsigned int first, second, third;	/* the top bits of their last bytes: 7, 15, 23 ... */

	if (d->end - d->at < 8)
		return false;
	__builtin_memcpy(&word, d->at, sizeof(word));
	word = le64toh(word);
	ends = ~word & 0x8080808080808080ULL;
	if (!(ends & (ends - 1) & ((ends & (ends - 1)) - 1)))
		return false;
	first = (unsigned int)__builtin_ctzll(ends);
	ends &= ends - 1;
	second = (unsigned int)__builtin_ctzll(ends);
	ends &= ends - 1;
	third = (unsigned int)__builtin_ctzll(ends);
	d->at += third / 8 + 1;
	first -= first / 8;			/* of the joined bits: 7, 14, 21 ... */
	second -= second / 8;
	third -= third / 8;
	joined = join_sevens(word);
	ret[0] = joined & ((1ULL << first) - 1);
	ret[1] = (joined & ((1ULL << second) - 1)) >> first;
	ret[2] = (joined & ((1ULL << third) - 1)) >> second;
	return true;
}

/* The bytes, not terminated, inside the decoder's input; NULL if bad. */
const char *decode_text(struct decoder *d, size_t *ret_len);

static inline size_t decode_left(const struct decoder *d)
{
	return (size_t)(d->end - d->at);
}

/*
 * Finds damage, does not resist an attacker.  From the length a hash_u64() for each eight bytes, the last ones filled up
 * with zeros: whatever is changed in one of them, the sum is another.
 */
uint64_t encode_checksum(const void *data, size_t len);

#endif
