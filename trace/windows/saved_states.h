/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * saved_states.h - what the reading of a whole trace leaves for later ones, so that these need not begin at its beginning.
 *
 * A file beside the trace: the index of its chunks, and the state of the stream between some of its windows.  A later reading of
 * a stretch of time begins with the last state before it:
 *
 *	states at	100 250 400 550 ...
 *	wanted		420..430 and 900..910: from 400 on to 430, then from 850
 *
 * Calls are not part of a state, but for those that are under way.  There are as many states as fit into a 128th of the trace's
 * size, evenly spaced: if there are too many, every second one goes.
 *
 * The file is only worth something with the trace of which it was made, under the same options; else it is ignored, as it is if it
 * is damaged.  Its content is still checked: a trace and the files beside it may come from anybody.
 */
#ifndef TRACE_WINDOWS_SAVED_STATES_H
#define TRACE_WINDOWS_SAVED_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include "base/diag.h"

struct trace_stream;

/* ---- writing, as windows pass ---- */

struct saving;
struct saving *saving_new(const char *path);
void saving_free(struct saving *v);			/* NULL is fine */

/* Between two windows. */
void saving_note(struct trace_stream *s);
/* After the last: writes the file.  If that fails there is none. */
void saving_end(struct trace_stream *s);

/* ---- reading ---- */

struct states;
void states_free(struct states *v);			/* NULL is fine */

/* If nothing of what is wanted is under way: to the last state before the next of it, if that is ahead. */
int states_jump(struct trace_stream *s, struct diag *reterr);

/* The least room for states, in bytes, however short the trace is.  Tests make it small. */
extern size_t saved_states_bytes;
/* Tests: checksums are not looked at. */
extern bool saved_states_trusted;

#endif
