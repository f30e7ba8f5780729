/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay.h - the steps from raw records to tuples; reader.c calls them in this order.
 */
#ifndef TRACE_REPLAY_H
#define TRACE_REPLAY_H

#include "trace/raw.h"
#include "trace/reader.h"

struct sid_change {			/* from ns on the thread works on sid */
	int64_t ns;
	uint64_t sid;
};

struct blocked {
	int64_t start_ns, end_ns;
};

struct timeline {
	VEC(struct sid_change) changes;	/* by time; before the first: none */
	VEC(struct blocked) waits;	/* outermost, by time, disjoint */
};

struct reading {
	struct raw raw;
	const struct reader_options *options;
	struct trace *t;		/* what is being made */
	struct timeline *timelines;	/* by thread */
};

/* Intervals, works, creations and the timelines, by playing all events in order of time. */
void replay_events(struct reading *rd);

/* Segments and wakeups, from waits and timelines; adds the waits to the timelines. */
void build_segments(struct reading *rd);

/* Functions and invocations. */
void build_invocations(struct reading *rd);

/* What the thread works on at ns; at: a walk's place in the timeline, starts at 0, ns ascending. */
uint64_t timeline_sid(const struct timeline *line, size_t *at, int64_t ns);

#endif
