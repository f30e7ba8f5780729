/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stream_state.h - what stream.c knows between two windows, and stream_load.c fills.
 */
#ifndef TRACE_STREAM_STATE_H
#define TRACE_STREAM_STATE_H

#include "trace/index.h"
#include "trace/replay.h"
#include "trace/waiting.h"

struct line {				/* a thread */
	struct waiting waiting;		/* loaded, begin after the window */
	VEC(uint32_t) chunks;		/* of the index, in its order */
	size_t next_chunk;		/* of them: may be loaded */
	int64_t wait_until_ns;		/* end of a wait that goes on after the window; INT64_MIN: there is none */
	size_t early, early_end;	/* of the index's invocations: the next one; the thread's end */
	struct call_line calls;
	VEC(struct invocation) kept;	/* in the window, in the model's order */
};

struct trace_stream {
	struct reading rd;
	struct replay *replay;
	struct blocks blocks;
	struct trace_index index;
	size_t next_chunk;		/* of the index: not loaded yet */
	size_t early_event;		/* of the index's events */
	VEC(const struct index_chunk *) by_end;	/* chunks in order of their ends */
	size_t next_end;
	struct line *lines;		/* by thread */
	VEC(uint32_t) by_tid;		/* threads */
	VEC(uint32_t) due;		/* chunks to be loaded */
	int64_t last_wait_ns;		/* the latest of the lines' wait_until_ns */
	VEC(struct raw_invocation) loaded;	/* of a chunk, as they stand there */
	VEC(struct raw_event) waiting;	/* events that were loaded and begin after the window */
	VEC(struct raw_event) fresh;	/* ... in it */
	uint64_t loaded_cnt;
	uint32_t order;			/* of invocations */
	size_t kept_cnt;		/* invocations */
	bool is_unordered;		/* those of the window */
	bool is_last;
	bool events_only;		/* calls are passed over, and forgotten */
};

/* The chunks that are due by the window's end; their records wait for their windows. */
int stream_load(struct trace_stream *s, struct diag *reterr);
/*
 * Waits of raw.events that go on after the window: what is inside them and begins later is loaded, and joins
 * raw.events behind all others.
 */
int stream_load_waits(struct trace_stream *s, struct diag *reterr);

#endif
