/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * saturate.h - sums and products that stay at the largest number instead of overflowing.
 *
 * For weights, which add up times of many threads: 10,000 that wait in one queue for ten minutes weigh 3 x 10^19 ns.
 */
#pragma once

#include <stdint.h>

/* Neither is negative. */
static inline int64_t sum_saturated(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static inline int64_t product_saturated(int64_t a, int64_t b)
{
	int64_t product;

	return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}
