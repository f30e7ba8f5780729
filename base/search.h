/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * search.h - finds a position in an ordered array.
 *
 * Of an array that is ordered by what is asked, the first items are all below and the rest are not.  partition_point() finds
 * where that changes, in about log2(cnt) questions, which bsearch() cannot: it only knows what is equal.
 *
 * Example: of times[] = { 10, 20, 20, 30 }
 *	partition_point(i, 4, times[i] < 20) is 1, the first that is not before 20,
 *	partition_point(i, 4, times[i] <= 20) is 3, how many are not after 20,
 *	partition_point(i, 4, times[i] < 99) is 4: there is none.
 */
#pragma once

#include <stddef.h>

/*
 * How many of the cnt items come first for which is_below holds: an expression over the index i, a size_t that this names.
 * 0 to cnt.  is_below is evaluated more than once, cnt once.
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
