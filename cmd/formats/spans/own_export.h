/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own_export.h - the trace that vprof export wrote for another tool, put together again.
 *
 * Intervals, calls with their files and lines, waits with their class, and wake-ups come back unchanged.  Such a file does not hold:
 * intervals that were not exported, a thread's time for none outside of its calls, hand-overs of tasks.
 *
 * A format reads its file, adds what it finds, in any order, and says where in the file something was wrong: the functions that add
 * return NULL, or what is wrong.
 */
#ifndef CMD_FORMATS_SPANS_OWN_EXPORT_H
#define CMD_FORMATS_SPANS_OWN_EXPORT_H

#include "base/diag.h"
#include "trace/model.h"

struct own;

struct own_call {
	uint64_t tid, sid;
	int64_t start_ns, end_ns;
	const char *name, *file;	/* file: NULL if it is not known */
	uint32_t line;
	uint32_t order;			/* of calls that begin and end together, the outer one has the lower number */
};

struct own *own_new(void);
void own_free(struct own *o);
DEFINE_CLEANUP(struct own *, own_free);

const char *own_interval_begins(struct own *o, uint64_t sid, const char *name, uint64_t tid, int64_t ns);
const char *own_interval_ends(struct own *o, uint64_t sid, uint64_t tid, int64_t ns);
const char *own_add_call(struct own *o, const struct own_call *call);
const char *own_add_wait(struct own *o, uint64_t tid, uint64_t sid, int64_t start_ns, int64_t end_ns, const char *class_name);
void own_add_wakeup(struct own *o, uint64_t tid, uint64_t waker_tid, int64_t ns);
void own_add_thread(struct own *o, uint64_t tid, enum thread_kind kind, const char *name);

/* EXIT_NO_EVIDENCE: no interval; EXIT_DATA: calls cross.  Prints what was found. */
int own_finish(struct own *o, const char *path, struct trace **ret, struct diag *reterr);

#endif
