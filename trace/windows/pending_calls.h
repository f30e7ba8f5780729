/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pending_calls.h - loaded calls of one thread that belong to a later window, in order of time, outer ones
 * first.
 *
 *	waiting_add(&w, chunk, cnt);	... of each chunk that is loaded, in any order
 *	waiting_settle(&w);
 *	... w.calls.items[w.first .. w.calls.cnt - 1]; after taking one, increment w.first
 */
#ifndef TRACE_WINDOWS_PENDING_CALLS_H
#define TRACE_WINDOWS_PENDING_CALLS_H

#include "trace/raw/raw.h"

struct waiting_run {			/* of calls: a chunk's */
	size_t first, cnt;
	int64_t start_ns;
};

struct waiting_around {			/* a call whose callees are being read */
	int64_t start_ns;
	uint32_t call;			/* index */
};

struct waiting {
	VEC(struct raw_invocation) calls;
	size_t first;
	/* private */
	VEC(struct waiting_run) runs;	/* what was added; before them, what was there */
	VEC(struct waiting_around) around;
	bool is_unordered;
};

/* calls: as they stand in the chunk, in order of their ends. */
void waiting_add(struct waiting *w, const struct raw_invocation *calls, size_t cnt);
void waiting_settle(struct waiting *w);
/* Forgets the calls that were taken. */
void waiting_forget(struct waiting *w);
void waiting_release(struct waiting *w);

#endif
