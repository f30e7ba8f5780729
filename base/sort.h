/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sort.h - many numbers in ascending order.
 *
 *	sort_order(latencies_ns, cnt, order);		latencies_ns[order[0]] is the shortest
 *
 * In a time that grows with cnt alone, where qsort() compares each with a logarithm of the others; in eight bytes for each.
 */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* ret: the numbers of the keys, those of equal keys in their order.  cnt: at most UINT32_MAX. */
void sort_order(const int64_t *keys, size_t cnt, uint32_t *ret);

#endif
