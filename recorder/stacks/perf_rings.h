/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf_rings.h - perf_event_open() records of the calling thread and of all that it forks from now on:
 * one event per CPU, each with a ring of its own.
 *
 * Threads move between CPUs, so records are in order of time only within each ring.
 */
#ifndef RECORDER_STACKS_PERF_RINGS_H
#define RECORDER_STACKS_PERF_RINGS_H

#include <linux/perf_event.h>
#include <stdint.h>

struct perf_rings;

struct perf_trailer {			/* at the end of every record */
	uint32_t pid, tid;
	uint64_t ns;
};

/* kinds: bits of the wanted records.  0 or a negative errno. */
int perf_rings_open(const struct perf_event_attr *kinds, struct perf_rings **ret);
void perf_rings_close(struct perf_rings *r);	/* NULL is fine */

typedef void (*perf_rings_take)(void *context, const struct perf_event_header *event,
				const struct perf_trailer *trailer);

/* Calls take for each new record. */
void perf_rings_read(struct perf_rings *r, perf_rings_take take, void *context);

#endif
