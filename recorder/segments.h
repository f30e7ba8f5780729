/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * segments.h - takes records out of the kernel programs' buffers, in order of time.
 *
 * Each CPU has a ring of places of its own.
 *
 *	CPU 0: 100 130 170		CPU 1: 120 160 190
 *	taken until 165			100 120 130 160
 *
 * A thread's records must come in order, whatever CPUs it was on.  A record that it made on one CPU was complete
 * before it could make a later one on another.  So if the CPUs are read one after the other, all complete records
 * older than the first read are in order.
 */
#ifndef RECORDER_SEGMENTS_H
#define RECORDER_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>
#include "recorder/bpf/record.h"

struct segments {
	struct record_segment *all;		/* one a CPU */
	struct record_place *places;	/* places_per_cpu a CPU, a power of two */
	unsigned int cpu_cnt, places_per_cpu;
	uint64_t overwritten;		/* records overwritten before they were taken: none, unless a program was
					 * interrupted where it must not be */
};

typedef void segment_taker(void *context, const void *record, size_t len);

/* The number of CPUs that need a ring, by the kernel's list of present CPUs ("0-3,6": 7, because they are numbered);
 * a machine that may get hundreds more mostly has few.  0: not such a list. */
unsigned int segments_cpus(const char *present);

uint64_t segments_most(const struct segments *s);	/* approximate number of records of the fullest CPU */

/* Passes complete records older than that, oldest first. */
void segments_take(struct segments *s, uint64_t before_ns, segment_taker *take, void *context);

#endif
