/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - the drainer's flight recorder: the last seconds, or bytes, of a trace.
 *
 * The trace is written in parts, each a trace file of its own; when a new one begins the oldest go. The head,
 * in the place of the trace, joins them to one trace:
 *
 *	trace.vpt		window, names, what is known of threads, the end
 *	trace.vpt.000041	records drained from 10:15:00 on; this one goes next
 *	trace.vpt.000042	from 10:15:03.75 on
 *	...
 *	trace.vpt.000049	is being written
 *
 * A snapshot is a head of its own, with what the program still holds, and hard links to the parts.  A
 * recording that keeps everything gets parts when a snapshot is requested.
 */
#ifndef DRAINER_RING_H
#define DRAINER_RING_H

#include <stdbool.h>
#include <stdint.h>
#include "base/alloc.h"
#include "trace/format.h"

struct drainer;
struct drainer_options;

struct ring_part {
	uint32_t number;
	uint64_t bytes, opened_ns;
	uint64_t until_ticks;		/* no record in it is later */
	uint64_t first_number;		/* of its blocks */
};

struct ring_known {			/* an event that names a thread, however old */
	uint64_t serial, ticks;
	uint32_t pid, tid;
	enum trace_event kind;
	uint64_t words[EVENT_WORDS_MAX];
};

struct ring {
	bool is_on;			/* the trace has parts */
	uint64_t keep_ns, keep_bytes;	/* 0, 0: everything is kept */
	VEC(struct ring_part) parts;	/* the last one is being written */
	VEC(struct ring_known) known;
	uint64_t closed_number;		/* of the last block of the parts that are closed */
	bool is_failing;		/* ring_failed() is running */
	uint64_t cut_ticks;		/* before this the records are not complete any more */
};

static inline bool ring_drops(const struct ring *r)
{
	return r->keep_ns || r->keep_bytes;
}

int ring_open(struct drainer *d);	/* d->file is the head; 0 or a negative errno */
void ring_turn(struct drainer *d);	/* begins a new part, if it is time */
void ring_note(struct drainer *d, const struct ring_known *known);
void ring_failed(struct drainer *d);	/* records could not be written: makes room */
int ring_close(struct drainer *d);	/* everything is drained: writes the head */
void ring_release(struct ring *r);

#endif
