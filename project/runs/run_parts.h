/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_parts.h - the traces that a run consists of: its own, or those of the runs it was merged from.
 *
 *	runs/003/trace.vpt		recorded, and what the kernel knows: kernel.vpk, if that was recorded
 *	runs/004/trace.tuples		imported
 *	runs/005/part-003.vpt		merged from runs 3 and 4, with part-003.vpk; links, or copies
 *	runs/005/part-004.tuples
 */
#ifndef PROJECT_RUNS_RUN_PARTS_H
#define PROJECT_RUNS_RUN_PARTS_H

#include "base/proc.h"
#include "store/store.h"
#include "trace/model.h"

struct run_part {
	uint32_t run;			/* the run that recorded or imported it */
	char *path;
	char *kernel;			/* NULL: there is none */
	bool tuples;
	bool left_out;			/* origins_choose(): none of its intervals counts */
};
typedef VEC(struct run_part) run_parts;

/* In order of the runs' numbers; EXIT_DATA if there is none. */
int run_parts_find(const struct store *s, const struct run *r, run_parts *ret, struct diag *reterr);
void run_parts_release(run_parts *list);

/* Creates a run from runs, or from files, named by the words: `vprof merge 1 2`.  name NULL: it has none. */
int run_create_from(struct store *s, const char *source, const struct args *words, const char *name,
		    struct run *run, struct diag *reterr);

/* ... with the trace as its tuples. */
int run_create_of_tuples(struct store *s, const char *source, const struct args *words, const char *name, const struct trace *t,
			 struct run *run, struct diag *reterr);

#endif
