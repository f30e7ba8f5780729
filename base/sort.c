/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sort.c - by one byte of the keys after the other, the lowest first; bytes that are the same in all keys are passed over.
 *
 * Keys count from the smallest one, so negative ones need no thought and there are few bytes.  Example, by digits of ten:
 *
 *	31, 17, 12	by the ones	31, 12, 17	by the tens	12, 17, 31
 */
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/banned.h"

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

static unsigned int digit_of(const struct keyed *k, int64_t smallest, unsigned int shift)
{
	return ((uint64_t)k->key - (uint64_t)smallest) >> shift & (DIGITS - 1);
}

/* Where the first of each digit goes. */
static void find_places(const struct keyed *list, size_t cnt, int64_t smallest, unsigned int shift, size_t ret[DIGITS])
{
	size_t at = 0;

	memset(ret, 0, DIGITS * sizeof(*ret));
	for (size_t i = 0; i < cnt; i++)
		ret[digit_of(&list[i], smallest, shift)]++;
	for (size_t d = 0; d < DIGITS; d++) {
		size_t here = ret[d];

		ret[d] = at;
		at += here;
	}
}

void sort_keyed(struct keyed *list, size_t cnt)
{
	struct keyed *from = list, *to, *other;
	int64_t smallest = INT64_MAX, largest = INT64_MIN;
	size_t place[DIGITS];

	for (size_t i = 0; i < cnt; i++) {
		smallest = list[i].key < smallest ? list[i].key : smallest;
		largest = list[i].key > largest ? list[i].key : largest;
	}
	if (cnt < 2 || smallest == largest)
		return;
	to = other = xmalloc(cnt * sizeof(*other));
	for (unsigned int shift = 0; shift < 64 && ((uint64_t)largest - (uint64_t)smallest) >> shift; shift += DIGIT_BITS) {
		struct keyed *sorted = to;

		find_places(from, cnt, smallest, shift, place);
		for (size_t i = 0; i < cnt; i++)
			to[place[digit_of(&from[i], smallest, shift)]++] = from[i];
		to = from;
		from = sorted;
	}
	if (from != list)
		memcpy(list, from, cnt * sizeof(*list));
	free(other);
}
