/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * order.h - plain numbers in ascending order, for qsort() and bsearch().
 *
 *	qsort(list.items, list.cnt, sizeof(*list.items), compare_int64);
 *	p99 = list.items[nearest_rank(list.cnt, .99)];
 */
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define COMPARE_NUMBERS(name, type)						\
	static inline int name(const void *a, const void *b)			\
	{									\
		type x = *(const type *)a, y = *(const type *)b;		\
										\
		return (x > y) - (x < y);					\
	}
COMPARE_NUMBERS(compare_uint32, uint32_t)
COMPARE_NUMBERS(compare_uint64, uint64_t)
COMPARE_NUMBERS(compare_int64, int64_t)
COMPARE_NUMBERS(compare_double, double)
COMPARE_NUMBERS(compare_size, size_t)
#undef COMPARE_NUMBERS

/* Index of the ceil(q n)-th smallest of n > 0 in ascending order: of 10, 20, 30, 40 the p50 is 20. */
static inline size_t nearest_rank(size_t n, double q)
{
	double rank = ceil(q * (double)n - 1e-6);	/* .99 * 100 is 99.00000000000001 */

	return rank < 1 ? 0 : rank > (double)n ? n - 1 : (size_t)rank - 1;
}
