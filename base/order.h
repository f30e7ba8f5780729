/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * order.h - plain numbers in ascending order, for qsort() and bsearch().
 *
 *	qsort(list.items, list.cnt, sizeof(*list.items), compare_int64);
 */
#pragma once

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
#undef COMPARE_NUMBERS
