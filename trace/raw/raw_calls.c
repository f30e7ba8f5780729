/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * raw_calls.c - calls that follow each other, as nearly all records do: the innermost loop of every reading.
 *
 * A call is three varints (format.h), which mostly end within eight bytes.  Where the CPU has an instruction for that (BMI2's
 * pext), each number is picked out of these by a mask of its bits; elsewhere decode_three() joins all of them and cuts.
 *
 *	bytes		18 ac 02 90 01		head 24: function 12; 300: starts 150 ticks later; takes 144
 *	up to its end	ff 00 00 00 00		the first number
 *			ff ff ff 00 00		the second
 *			ff ff ff ff ff		the third
 *	its bits	7f | 7f 7f | 7f 7f	what is not in the mask before it, without the eighth bits
 */
#include <string.h>
#include "base/banned.h"
#include "trace/raw/raw.h"

typedef bool (*decoder_of_three)(struct decoder *d, uint64_t ret[3]);

bool raw_calls_anywhere;

static inline __attribute__((always_inline)) size_t decode_calls(decoder_of_three decode, struct decoder *d,
								 uint64_t *before, struct raw_call *ret, size_t cnt)
{
	struct decoder at = *d;
	const unsigned char *taken = d->at;
	uint64_t start = *before, numbers[3];
	size_t i;

	for (i = 0; i < cnt && decode(&at, numbers); i++) {
		if (numbers[0] & 1 || (numbers[0] >> 1) - 1 >= TRACE_FIDS_MAX)
			break;
		start += (uint64_t)unzigzag(numbers[1]);
		ret[i] = (struct raw_call){ start, start + numbers[2], (uint32_t)(numbers[0] >> 1) };
		taken = at.at;
	}
	d->at = taken;
	*before = start;
	return i;
}

#ifdef __x86_64__

#define PICKING __attribute__((target("bmi,bmi2")))

/* As decode_three(). */
PICKING static inline bool pick_three(struct decoder *d, uint64_t ret[3])
{
	const uint64_t sevens = 0x7f7f7f7f7f7f7f7fULL;
	uint64_t word, ends, first, second, third;	/* all bits up to where each ends */

	if (decode_left(d) < sizeof(word))
		return false;
	memcpy(&word, d->at, sizeof(word));
	ends = ~word & ~sevens;
	first = ends ^ (ends - 1);
	ends &= ends - 1;
	second = ends ^ (ends - 1);
	ends &= ends - 1;
	third = ends ^ (ends - 1);
	if (!ends)
		return false;
	d->at += (unsigned int)__builtin_ctzll(ends) / 8 + 1;
	ret[0] = __builtin_ia32_pext_di(word, first & sevens);
	ret[1] = __builtin_ia32_pext_di(word, second & ~first & sevens);
	ret[2] = __builtin_ia32_pext_di(word, third & ~second & sevens);
	return true;
}

PICKING static size_t pick_calls(struct decoder *d, uint64_t *before, struct raw_call *ret, size_t cnt)
{
	return decode_calls(pick_three, d, before, ret, cnt);
}

/* AMD's first CPUs that have the instruction take a hundred others for it. */
static bool can_pick(void)
{
	return !raw_calls_anywhere && __builtin_cpu_supports("bmi2") && !__builtin_cpu_is("amdfam17h");
}

#else

static bool can_pick(void)
{
	return false;
}

static size_t pick_calls(struct decoder *d, uint64_t *before, struct raw_call *ret, size_t cnt)
{
	return decode_calls(decode_three, d, before, ret, cnt);
}

#endif

size_t raw_decode_calls(struct decoder *d, uint64_t *before, struct raw_call *ret, size_t cnt)
{
	return can_pick() ? pick_calls(d, before, ret, cnt) : decode_calls(decode_three, d, before, ret, cnt);
}
