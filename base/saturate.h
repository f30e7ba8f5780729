/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * saturate.h - sums and products that stay at the largest number instead of overflowing.
 *
 * For weights, which add up times of many threads: 10,000 that wait in one queue for ten minutes weigh 3 x
 * 10^19 ns. Times in imported files may be as large as 2^63 - 1 ns, so that the sum of two overflows.
 */
#pragma once

#include <stdint.h>

/* Neither is negative. */
static inline int64_t sum_saturated(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static inline uint64_t unsigned_sum_saturated(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Narrows a sum that was computed with more bits. */
static inline int64_t narrow_saturated(__int128 value)
{
	return value > INT64_MAX ? INT64_MAX : value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

/* (double)INT64_MAX is 2^63, which does not fit into an int64_t.  NaN becomes 0. */
static inline int64_t real_saturated(double value)
{
	return value >= 0x1p63 ? INT64_MAX : value >= -0x1p63 ? (int64_t)value : value < 0 ? INT64_MIN : 0;
}

static inline int64_t product_saturated(int64_t a, int64_t b)
{
	int64_t product;

	return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}
