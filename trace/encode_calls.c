/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encode_calls.c - calls as the runtime wrote them, on their way into the trace: the innermost loop of every recording.
 *
 * A call becomes three varints (format.h), which mostly fit into eight bytes.  Where the CPU has an instruction for that
 * (BMI2's pdep), these are made at once: the numbers are put side by side, each as long as its bytes times seven, and
 * spread over the bytes; elsewhere encode_three() makes one after the other.
 *
 *	24, 300, 144		1, 2 and 2 bytes: 24 | 300 << 7 | 144 << 21
 *	spread			18 2c 02 10 01
 *	more follows		18 ac 02 90 01
 *
 * Calls are in a chunk in order of their ends, but nothing relies on that.
 */
#include <string.h>
#include "trace/encode.h"

typedef void (*encoder_of_three)(struct encoder *e, uint64_t a, uint64_t b, uint64_t c);

bool encode_calls_anywhere;

static inline __attribute__((always_inline)) size_t encode_run(encoder_of_three encode, struct encoder *e,
							       struct encoded_calls *c, const uint64_t *words,
							       size_t cnt)
{
	uint64_t before = c->before, first_end = c->first_end, last_end = c->last_end;
	size_t i;

	for (i = 0; i < cnt; i++) {
		uint64_t start = __atomic_load_n(&words[2 * i], __ATOMIC_ACQUIRE);
		uint64_t second = __atomic_load_n(&words[2 * i + 1], __ATOMIC_RELAXED);	/* reads it once: it
											 * may change */
		uint64_t fid = (uint32_t)second >> 8, end = start + (second >> 32);

		if (!start || !(second & 0xff) || !fid)
			break;
		encode(e, fid << 1, zigzag((int64_t)(start - before)), second >> 32);
		before = start;
		first_end = end < first_end ? end : first_end;
		last_end = end > last_end ? end : last_end;
		if (start == c->sought_start && fid == c->sought_fid)
			c->found = true;
	}
	c->before = before;
	c->first_end = first_end;
	c->last_end = last_end;
	return i;
}

#ifdef __x86_64__

/* All CPUs that have BMI2 have lzcnt. */
#define SPREADING __attribute__((target("bmi,bmi2,lzcnt")))

/* For a number of at most 64 bits: (bits + 6) / 7. */
SPREADING static inline unsigned int varint_bytes(uint64_t value)
{
	return (70 - (unsigned int)__builtin_clzll(value | 1)) * 37 >> 8;
}

/* As encode_three(). */
SPREADING static inline void spread_three(struct encoder *e, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t tops = 0x8080808080808080ULL;
	unsigned int a_bytes = varint_bytes(a), ab_bytes = a_bytes + varint_bytes(b);
	unsigned int bytes = ab_bytes + varint_bytes(c);
	uint64_t word;

	if (bytes > sizeof(word) || encode_room(e) < sizeof(word)) {
		encode_three(e, a, b, c);
		return;
	}
	word = __builtin_ia32_pdep_di(a | b << 7 * a_bytes | c << 7 * ab_bytes, ~tops);
	word |= tops & ~(0x80ULL << 8 * (a_bytes - 1) | 0x80ULL << 8 * (ab_bytes - 1) | 0x80ULL << 8 * (bytes - 1));
	memcpy(e->data + e->len, &word, sizeof(word));
	e->len += bytes;
}

SPREADING static size_t spread_run(struct encoder *e, struct encoded_calls *c, const uint64_t *words, size_t cnt)
{
	return encode_run(spread_three, e, c, words, cnt);
}

/* AMD's first CPUs that have the instruction take a hundred others for it. */
static bool can_spread(void)
{
	return !encode_calls_anywhere && __builtin_cpu_supports("bmi2") && !__builtin_cpu_is("amdfam17h");
}

#else

static bool can_spread(void)
{
	return false;
}

static size_t spread_run(struct encoder *e, struct encoded_calls *c, const uint64_t *words, size_t cnt)
{
	return encode_run(encode_three, e, c, words, cnt);
}

#endif

size_t encode_calls(struct encoder *e, struct encoded_calls *c, const uint64_t *words, size_t cnt)
{
	return can_spread() ? spread_run(e, c, words, cnt) : encode_run(encode_three, e, c, words, cnt);
}
