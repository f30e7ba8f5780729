/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sort.h - many numbers in ascending order.
 *
 *	sort_order(latencies_ns, cnt, order);		latencies_ns[order[0]] is the shortest
 *
 * Takes time proportional to cnt, where qsort() takes cnt log cnt, and eight bytes of memory for each key.
 */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* ret: the indexes of the keys in ascending order; equal keys keep their order.  cnt: at most UINT32_MAX. */
void sort_order(const int64_t *keys, size_t cnt, uint32_t *ret);

#endif
