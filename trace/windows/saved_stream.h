/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * saved_stream.h - a stream as numbers, for saved_states.c, which keeps them.
 */
#ifndef TRACE_WINDOWS_SAVED_STREAM_H
#define TRACE_WINDOWS_SAVED_STREAM_H

#include "trace/archive.h"
#include "trace/windows/stream_state.h"

/* Between two windows: writes the state, or puts the stream into it, without what is loaded (stream_load_from()). */
void stream_save_state(struct trace_stream *s, struct archive *v);

/* The part that all states have in common, after the last window. */
void stream_save_whole(struct trace_stream *s, struct archive *v);
/* Opens the stream with that; false: that makes no sense. */
bool stream_read_whole(struct trace_stream *s, struct archive *v);

#endif
