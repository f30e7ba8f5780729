/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * search.h - finds a position in an ordered array.
 *
 * In an array ordered by some key, is_below holds for the first items and not for the rest.
 * partition_point() finds the border with about log2(cnt) comparisons.  bsearch() cannot: it only finds an
 * equal item.
 *
 * Example: of times[] = { 10, 20, 20, 30 }
 *	partition_point(i, 4, times[i] < 20) is 1, the first that is not before 20,
 *	partition_point(i, 4, times[i] <= 20) is 3, how many are not after 20,
 *	partition_point(i, 4, times[i] < 99) is 4: there is none.
 */
#pragma once

#include <stddef.h>

/*
 * The number of leading items, 0 to cnt, for which is_below holds: an expression over the index i, a size_t
 * declared here.  is_below is evaluated more than once, cnt once.
 */
#define partition_point(i, cnt, is_below)					\
	({									\
		size_t low_ = 0, high_ = (cnt);					\
										\
		while (low_ < high_) {						\
			size_t i = low_ + (high_ - low_) / 2;			\
										\
			if (is_below)						\
				low_ = i + 1;					\
			else							\
				high_ = i;					\
		}								\
		low_;								\
	})
