/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bucket.h - buckets of times, 2^bits for each power of two, so that each is as wide as a fixed part of its times.
 *
 *	bits 3:	0, 1, ... 15 have a bucket each; 16 and 17 are bucket 16, 18 and 19 bucket 17, ... 32 to 35 bucket 24
 */
#ifndef BASE_BUCKET_H
#define BASE_BUCKET_H

#include <stdint.h>

#define BUCKETS_MAX(bits) ((uint32_t)(64 - (bits)) << (bits))

static inline uint32_t bucket_of(int64_t ns, unsigned bits)
{
	unsigned octave;

	if (ns < (int64_t)1 << bits)
		return ns < 0 ? 0 : (uint32_t)ns;
	octave = 63 - (unsigned)__builtin_clzll((uint64_t)ns);
	return (octave - bits + 1) << bits | ((uint32_t)(ns >> (octave - bits)) & ((1U << bits) - 1));
}

/* Its smallest time. */
static inline int64_t bucket_from(uint32_t bucket, unsigned bits)
{
	uint32_t octave = bucket >> bits, in_octave = bucket & ((1U << bits) - 1);

	if (octave == 0)
		return bucket;
	return ((int64_t)1 << bits | in_octave) << (octave - 1);
}

#endif
