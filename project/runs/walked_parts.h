/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * walked_parts.h - the parts of a merged run, each walked once, however often it is merged.
 *
 *	runs/005/part-003.walked	what the walk of part-003.vpt found: rows, places and sums (analysis/walked.h)
 *
 * The file counts as long as the trace, the configuration, the call graph and this program are those that made it; else the part is
 * walked again.  vprof merge takes it over, as it takes over the trace.
 */
#ifndef PROJECT_RUNS_WALKED_PARTS_H
#define PROJECT_RUNS_WALKED_PARTS_H

#include "analysis/analyze.h"
#include "store/store.h"

struct walked_run {
	struct analyzer *analyzer;	/* of all parts; the caller may take it */
	uint32_t *calls;		/* per function; the same */
	const struct trace *names;	/* until walked_run_free() */
	struct walked_parts *private;
};

struct walking {
	unsigned int jobs;
	bool keeps;			/* walks parts that have no file, and writes one */
	void (*progress)(void *arg, uint64_t done_cnt, uint64_t record_cnt);	/* of the part that is walked */
	void *arg;
};

/* Returned, without a message, where the run is to be read in windows (run_windows.h): it has one part, or one that needs more. */
#define WALKED_UNFIT 1

int walked_run_read(struct store *s, const struct run *r, const struct walking *how, struct walked_run *ret, struct diag *reterr);
void walked_run_free(struct walked_run *w);

/* The file that belongs to a trace; it need not exist.  The caller frees it. */
char *walked_path(const char *trace_path);

#endif
