/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sort.h - many numbers, or items by their numbers, in ascending order.
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

/*
 * The same as qsort(items, cnt, size, compare), faster where compare says of nearly all what these keys do: that of rank 0 first, and
 * where it is equal that of rank 1, and so on.
 *
 *	static int64_t key(const void *item, unsigned int rank) { const struct event *e = item; return rank ? e->ns : e->tid; }
 *	sort_items(list.items, list.cnt, sizeof(*list.items), key, 2, compare_events);
 *
 * Items that are sorted already cost one comparison each.
 */
typedef int64_t (*sort_key)(const void *item, unsigned int rank);
void sort_items(void *items, size_t cnt, size_t size, sort_key key, unsigned int ranks, int (*compare)(const void *, const void *));

#endif
