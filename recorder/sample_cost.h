/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sample_cost.h - what a sample takes of the thread that it hits: of the times in which a loop stood still, those with a sample. */
#ifndef RECORDER_SAMPLE_COST_H
#define RECORDER_SAMPLE_COST_H

#include <stdint.h>
#include <stdlib.h>
#include "base/alloc.h"
#include "base/search.h"

struct record_bpf;

struct gap_in_time {			/* in which the thread stood still */
	uint64_t start_ns, end_ns;
};
typedef VEC(struct gap_in_time) gaps_in_time;

enum { SAMPLE_COST_LEAST = 10 };

/* Programs are loaded, none attached, and the calling thread is one of the run.  0: it could not be measured. */
uint32_t sample_cost_measure(struct record_bpf *p, unsigned int hz);

static inline int sample_by_length(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The median of the gaps, which are in order, that have one of the samples; 0: there are too few. */
static inline uint32_t sample_cost_of(const gaps_in_time *gaps, const uint64_t *samples_ns, size_t sample_cnt)
{
	VEC(uint64_t) lengths = { NULL, 0, 0 };
	uint32_t median = 0;

	for (size_t i = 0; i < sample_cnt; i++) {
		size_t at = partition_point(k, gaps->cnt, gaps->items[k].end_ns < samples_ns[i]);

		if (at < gaps->cnt && gaps->items[at].start_ns <= samples_ns[i])
			VEC_ADD(&lengths, gaps->items[at].end_ns - gaps->items[at].start_ns);
	}
	if (lengths.cnt >= SAMPLE_COST_LEAST) {
		qsort(lengths.items, lengths.cnt, sizeof(*lengths.items), sample_by_length);
		median = lengths.items[lengths.cnt / 2] > UINT32_MAX ? 0 : (uint32_t)lengths.items[lengths.cnt / 2];
	}
	VEC_RELEASE(&lengths);
	return median;
}

#endif
