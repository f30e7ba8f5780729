/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * excerpt.h - what threads did for a few intervals while these lasted, from the windows of a trace.
 *
 *	struct excerpt *x = excerpt_new(wanted, cnt);
 *	excerpt_begin(x, names);	... when the windows begin, perhaps anew
 *	excerpt_add(x, &window);	... of each window
 *	excerpt_end(x, names);
 *	... excerpt_trace(x), as long as names are there
 *
 * Calls of those intervals that reach into their time, in which their threads worked for them; their waits, cut to that time;
 * wake-ups in it.  Example: interval 7 is 100..200:
 *
 *	call f of 7 90..205	is there		call g of 7 210..220	is not
 *	wait of 7 150..300	becomes 150..200
 */
#ifndef TRACE_WINDOWS_EXCERPT_H
#define TRACE_WINDOWS_EXCERPT_H

#include "trace/windows/stream.h"

struct excerpt;

struct excerpt_wanted {
	uint64_t sid;
	int64_t start_ns, end_ns;
};

/* wanted outlives it.  That an event loop had left an interval shows when it ends the next one (trace/read/replay_left.c): of that
 * the excerpt has what the window shows in which the interval ended. */
struct excerpt *excerpt_new(const struct excerpt_wanted *wanted, size_t cnt);
void excerpt_free(struct excerpt *x);		/* NULL is fine */
DEFINE_CLEANUP(struct excerpt *, excerpt_free);

void excerpt_begin(struct excerpt *x, const struct trace *names);
void excerpt_add(struct excerpt *x, const struct trace_window *w);
/* Sorts it; adds the ids and remote calls that the windows had. */
void excerpt_end(struct excerpt *x, const struct trace *names);
struct trace *excerpt_trace(struct excerpt *x);
int64_t excerpt_first_ns(const struct excerpt *x);	/* of the trace's intervals and segments; INT64_MAX: there are none */

#endif
