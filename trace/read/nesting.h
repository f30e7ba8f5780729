/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * nesting.h - an interval that begins inside itself, and starts and ends that find no partner.
 *
 * A BEGIN is nested if its thread works on an open interval of the same name and key.  The outermost one
 * counts: the others add to its depth, each END takes one away, and the END at depth 0 completes the
 * interval.
 *
 *	BEGIN r 10, BEGIN r 20, END r 30, END r 40:	one interval, 10..40
 *
 * If an END is missing, later intervals only look nested.  Then the events are replayed twice: the first
 * replay learns which BEGINs are the outermost of those that end at all; these are not part of an interval
 * that never ends.
 *
 *	BEGIN r 10, BEGIN r 20, END r 30, BEGIN r 40, END r 50:	10 never ends; 20..30 and 40..50 count
 *
 * An interval that a function begins and ends (BEGIN_IN_FRAME) needs no such test: it is still under way.
 */
#ifndef TRACE_READ_NESTING_H
#define TRACE_READ_NESTING_H

#include "trace/read/replay_state.h"

/* The pairing of starts and ends of this name so far. */
struct pairing *pairing_of(struct replay *p, uint32_t name);

/* BEGIN number sid is inside w.  false: it is known not to be, and w never ends. */
bool nesting_begin(struct replay *p, struct worker *w, const struct raw_event *e, uint64_t sid);
/* An END or DROP inside w.  false: it is w's own. */
bool nesting_end(struct replay *p, struct worker *w);
/* BEGINs inside w will have no END. */
void nesting_unwound(struct replay *p, struct worker *w);
/* w closes without an END, or never does. */
void nesting_give_up(struct replay *p, struct worker *w);
/* w ends by a DROP, as the program asked. */
void nesting_abort(struct replay *p, const struct worker *w);
/* An END that has no BEGIN. */
void nesting_stray(struct replay *p, const struct raw_event *e, uint32_t name);

/* Whether the innermost of nested intervals of this name counts. */
bool nesting_is_inner(const struct replay *p, uint32_t name);

#endif
