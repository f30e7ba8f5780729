/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * segments.h - takes records out of the kernel programs' buffers, in order of time.
 *
 * Each CPU has a ring of places of its own.
 *
 *	CPU 0: 100 130 170		CPU 1: 120 160 190
 *	taken until 165			100 120 130 160
 *
 * A thread's records must come in order, whatever CPUs it was on.  One that it left on a CPU was complete before
 * it could leave one on another, later; so of what is complete on all CPUs when they are looked at one after the other, all
 * that is older than the first look is in order.
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
	uint64_t overwritten;		/* before they were taken: none, unless a program was interrupted where it must not be */
};

typedef void segment_taker(void *context, const void *record, size_t len);

/* How many CPUs need one, by the kernel's list of those that are present ("0-3,6": 7, for they have numbers); of a machine
 * that may get hundreds more there mostly are few.  0: it is no such list. */
unsigned int segments_cpus(const char *present);

uint64_t segments_most(const struct segments *s);	/* approximate number of records of the fullest CPU */

/* Complete records older than that, oldest first. */
void segments_take(struct segments *s, uint64_t before_ns, segment_taker *take, void *context);

#endif
