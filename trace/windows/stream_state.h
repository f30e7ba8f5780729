/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stream_state.h - the state of stream.c between two windows, filled by stream_load.c.
 */
#ifndef TRACE_WINDOWS_STREAM_STATE_H
#define TRACE_WINDOWS_STREAM_STATE_H

#include "trace/read/index.h"
#include "trace/read/replay.h"
#include "trace/windows/kernel_windows.h"
#include "trace/windows/pending_calls.h"

struct line {				/* a thread */
	struct waiting waiting;		/* loaded, begin after the window */
	VEC(uint32_t) chunks;		/* of the index, in its order */
	size_t next_chunk;		/* index into chunks: the first not loaded yet */
	int64_t wait_until_ns;		/* end of a wait that goes on after the window; INT64_MIN: there is none */
	size_t early, early_end;	/* indexes into the index's invocations: the next one; the thread's end */
	struct call_line calls;
	VEC(struct invocation) kept;	/* in the window, in the model's order */
	struct kernel_place *place;	/* NULL: the kernel has no records of it */
	int64_t low_ns;			/* what it waited for since then is kept */
};

struct wanted;
struct saving;
struct states;

struct trace_stream {
	struct reading rd;
	struct replay *replay;
	struct blocks blocks;
	struct trace_index index;
	size_t next_chunk;		/* index into the index's chunks: the first not loaded yet */
	size_t early_event;		/* of the index's events */
	VEC(const struct index_chunk *) by_end;	/* chunks in order of their ends */
	size_t next_end;
	struct line *lines;		/* by thread */
	VEC(uint32_t) by_tid;		/* threads */
	VEC(uint32_t) due;		/* chunks to be loaded */
	int64_t last_wait_ns;		/* the latest of the lines' wait_until_ns */
	VEC(struct raw_invocation) loaded;	/* calls of a chunk, as stored there */
	VEC(struct raw_event) waiting;	/* loaded events that begin after the window */
	VEC(struct raw_event) fresh;	/* ... that begin in it */
	uint64_t loaded_cnt;
	uint32_t order;			/* of invocations */
	size_t kept_cnt;		/* invocations */
	bool is_unordered;		/* those of the window */
	bool is_last;
	bool is_over;			/* the caller has seen the last window */
	bool events_only;		/* calls are skipped and forgotten */
	struct wanted *wanted;		/* stream_wanted.c; NULL: all */
	struct saving *saving;		/* saved_states.h; NULL: nothing is saved */
	struct states *states;		/* ... NULL: nothing was */
	struct kernel_windows *kernel;	/* NULL: there is no kernel's side */
	VEC(const struct raw_event *) waits;	/* by thread and time; only while the window's end is being chosen */
};

/* stream_open.c: opens the file alone; 0, TRACE_STREAM_UNFIT or an error. */
int stream_open_file(struct trace_stream *s, const char *path, const struct reader_options *o, struct diag *reterr);
void stream_take_cpu_use(struct trace_stream *s);
/* The index is there, and threads have their numbers: makes all that windows need. */
void stream_begin(struct trace_stream *s);

/* stream.c: chooses the window's end so that at least as much is new in it as is kept; plays its events, which are loaded. */
void stream_choose_end(struct trace_stream *s);
void stream_play(struct trace_stream *s);

/* stream_wanted.c: the first wanted stretch that ends after that moment, or NULL. */
const struct time_span *stream_next_wanted(const struct wanted *w, int64_t ns);
/* Leaves those of a chunk's calls that wanted spans need; they stand in order of their ends. */
void stream_filter(struct wanted *w, struct raw_invocation *calls, size_t *cnt);
void stream_wanted_free(struct wanted *w);

/* Loads the chunks that are due by the window's end; records of later windows wait. */
int stream_load(struct trace_stream *s, struct diag *reterr);
/*
 * For waits of raw.events that go on after the window: loads the records that begin later inside them, and
 * appends them to raw.events.
 */
int stream_load_waits(struct trace_stream *s, struct diag *reterr);
/* Loads each thread's chunks that are due by its wait_until_ns. */
int stream_load_lines(struct trace_stream *s, struct diag *reterr);

/* The window's end is until_ns, and what is known is what was known then: loads what goes on after it. */
int stream_load_from(struct trace_stream *s, struct diag *reterr);

/* Moves the window's end to a later time. */
void stream_move_end(struct trace_stream *s, int64_t until_ns);
/* stream_kernel.c: moves the end to where the kernel's side may be cut, and loads the chunks that are due then. */
int stream_settle_end(struct trace_stream *s, struct diag *reterr);
/* Sets the lines' low_ns. */
void stream_keep_from(struct trace_stream *s, int64_t low_ns);

#endif
