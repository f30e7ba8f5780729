/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf_rings.h - what perf_event_open() tells of the calling thread and of all that it forks from now on:
 * one event a CPU, each with a ring of its own.
 *
 * Threads move, so what the rings hold is in order of time in each of them only.
 */
#ifndef RECORDER_STACKS_PERF_RINGS_H
#define RECORDER_STACKS_PERF_RINGS_H

#include <linux/perf_event.h>
#include <stdint.h>

struct perf_rings;

struct perf_trailer {			/* of every record, behind what it is about */
	uint32_t pid, tid;
	uint64_t ns;
};

/* kinds: with the bits that say which records are wanted.  0 or a negative errno. */
int perf_rings_open(const struct perf_event_attr *kinds, struct perf_rings **ret);
void perf_rings_close(struct perf_rings *r);	/* NULL is fine */

typedef void (*perf_rings_take)(void *context, const struct perf_event_header *event,
				const struct perf_trailer *trailer);

/* Calls take for each record that is new. */
void perf_rings_read(struct perf_rings *r, perf_rings_take take, void *context);

#endif
