/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * by_latency.c - the order of intervals by latency, which all views of single intervals begin with.
 *
 * There are millions, so they are not compared: passes put them in order of eleven bits each, the lowest first, and leave those with
 * equal bits in the order in which they were.  Bits that all latencies have in common take no pass.
 */
#include <stdlib.h>
#include "analysis/findings/findings.h"
#include "base/alloc.h"
#include "base/banned.h"
#include "base/cleanup.h"

enum { PASS_BITS = 11, PASS_VALUES = 1 << PASS_BITS };

struct ranked {
	uint64_t key;			/* the longest latency has the smallest */
	size_t index;
};

/* false: nothing to do, all have the same bits there. */
static bool pass(const struct ranked *from, struct ranked *to, size_t cnt, unsigned int shift)
{
	size_t firsts[PASS_VALUES] = { 0 }, first = 0;

	for (size_t i = 0; i < cnt; i++)
		firsts[from[i].key >> shift & (PASS_VALUES - 1)]++;
	if (firsts[from[0].key >> shift & (PASS_VALUES - 1)] == cnt)
		return false;
	for (size_t i = 0; i < PASS_VALUES; i++) {
		size_t here = firsts[i];

		firsts[i] = first;
		first += here;
	}
	for (size_t i = 0; i < cnt; i++)
		to[firsts[from[i].key >> shift & (PASS_VALUES - 1)]++] = from[i];
	return true;
}

size_t *findings_by_latency(const struct findings *f)
{
	size_t cnt = f->intervals.cnt, *order = xcalloc(cnt + 1, sizeof(*order));
	_cleanup_(freep) struct ranked *both = xcalloc(cnt + 1, 2 * sizeof(*both));
	struct ranked *from = both, *to = both + cnt;

	for (size_t i = 0; i < cnt; i++) {
		const struct interval_row *row = &f->intervals.items[i];

		from[i] = (struct ranked){ (uint64_t)INT64_MAX - (uint64_t)(row->end_ns - row->start_ns), i };
	}
	for (unsigned int shift = 0; cnt && shift < 64; shift += PASS_BITS)
		if (pass(from, to, cnt, shift)) {
			struct ranked *sorted = to;

			to = from;
			from = sorted;
		}
	for (size_t i = 0; i < cnt; i++)
		order[i] = from[i].index;
	return order;
}
