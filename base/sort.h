/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sort.h - many numbers in ascending order, with what they belong to.
 *
 *	for (size_t i = 0; i < cnt; i++)
 *		list[i] = (struct keyed){ latencies_ns[i], i };
 *	sort_keyed(list, cnt);		list[0].of is the shortest's number
 *
 * In a time that grows with cnt alone, where qsort() compares each with a logarithm of the others.
 */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

struct keyed {
	int64_t key;
	uint64_t of;
};

/* Equal keys stay in their order. */
void sort_keyed(struct keyed *list, size_t cnt);

#endif
