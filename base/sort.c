/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sort.c - by one byte of the keys after the other, the lowest first.
 *
 * The smallest key is subtracted from all, so that none is negative and few bytes remain.  Example, by digits
 * of ten:
 *
 *	31, 17, 12	by the ones	31, 12, 17	by the tens	12, 17, 31
 */
#include "base/sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/banned.h"

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

static unsigned int digit_of(int64_t key, int64_t smallest, unsigned int shift)
{
	return ((uint64_t)key - (uint64_t)smallest) >> shift & (DIGITS - 1);
}

/* Where the first of each digit goes. */
static void find_places(const int64_t *keys, size_t cnt, int64_t smallest, unsigned int shift, size_t ret[DIGITS])
{
	size_t at = 0;

	memset(ret, 0, DIGITS * sizeof(*ret));
	for (size_t i = 0; i < cnt; i++)
		ret[digit_of(keys[i], smallest, shift)]++;
	for (size_t d = 0; d < DIGITS; d++) {
		size_t here = ret[d];

		ret[d] = at;
		at += here;
	}
}

void sort_order(const int64_t *keys, size_t cnt, uint32_t *ret)
{
	uint32_t *from = ret, *to, *other;
	int64_t smallest = INT64_MAX, largest = INT64_MIN;
	size_t place[DIGITS];

	for (size_t i = 0; i < cnt; i++) {
		smallest = keys[i] < smallest ? keys[i] : smallest;
		largest = keys[i] > largest ? keys[i] : largest;
		ret[i] = (uint32_t)i;
	}
	if (cnt < 2 || smallest == largest)
		return;
	to = other = xmalloc(cnt * sizeof(*other));
	for (unsigned int shift = 0; shift < 64 && ((uint64_t)largest - (uint64_t)smallest) >> shift; shift += DIGIT_BITS) {
		uint32_t *sorted = to;

		find_places(keys, cnt, smallest, shift, place);
		for (size_t i = 0; i < cnt; i++)
			to[place[digit_of(keys[from[i]], smallest, shift)]++] = from[i];
		to = from;
		from = sorted;
	}
	if (from != ret)
		memcpy(ret, from, cnt * sizeof(*ret));
	free(other);
}

enum { FEW = 256 };			/* left to qsort(): not worth the copies; not tuned */

static bool is_sorted(const char *items, size_t cnt, size_t size, int (*compare)(const void *, const void *))
{
	for (size_t i = 1; i < cnt; i++)
		if (compare(items + (i - 1) * size, items + i * size) > 0)
			return false;
	return true;
}

/* By that rank: what is equal stays in the order that it had. */
static void sort_rank(char *items, size_t cnt, size_t size, sort_key key, unsigned int rank)
{
	_cleanup_(freep) int64_t *keys = xmalloc(cnt * sizeof(*keys));
	_cleanup_(freep) uint32_t *order = xmalloc(cnt * sizeof(*order));
	_cleanup_(freep) char *sorted = xmalloc(cnt * size);
	bool is_equal = true;

	for (size_t i = 0; i < cnt; i++) {
		keys[i] = key(items + i * size, rank);
		is_equal &= keys[i] == keys[0];
	}
	if (is_equal)
		return;
	sort_order(keys, cnt, order);
	for (size_t i = 0; i < cnt; i++)
		memcpy(sorted + i * size, items + order[i] * size, size);
	memcpy(items, sorted, cnt * size);
}

void sort_items(void *items, size_t cnt, size_t size, sort_key key, unsigned int ranks, int (*compare)(const void *, const void *))
{
	if (is_sorted(items, cnt, size, compare))
		return;
	if (cnt >= FEW && cnt <= UINT32_MAX) {
		for (unsigned int rank = ranks; rank-- > 0; )
			sort_rank(items, cnt, size, key, rank);
		if (is_sorted(items, cnt, size, compare))
			return;
	}
	qsort(items, cnt, size, compare);
}
