/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_paths.h - the critical paths of a few intervals of a run, read from the windows of its trace that they are in.
 *
 *	struct run_paths *p;
 *	r = run_paths_read(store, run, rows, cnt, arena, pieces, &p, &diag);
 *	... pieces[i] of rows[i]; run_paths_names(p) has the names of their threads; until
 *	run_paths_free(p);
 */
#ifndef PROJECT_RUNS_RUN_PATHS_H
#define PROJECT_RUNS_RUN_PATHS_H

#include "analysis/path/explain.h"
#include "store/store.h"

struct run_paths;

/* Rows: of the run's findings, of completed intervals.  EXIT_DATA: the trace does not hold one of them any more. */
int run_paths_read(struct store *s, const struct run *r, const struct interval_row *const *rows, size_t cnt, struct arena *a,
		   path_pieces *ret, struct run_paths **ret_paths, struct diag *reterr);
/* The same, but of an interval that the trace does not hold, or that took no time, there are no pieces. */
int run_paths_read_some(struct store *s, const struct run *r, const struct interval_row *const *rows, size_t cnt, struct arena *a,
			path_pieces *ret, struct run_paths **ret_paths, struct diag *reterr);
const struct trace *run_paths_names(const struct run_paths *p);
void run_paths_free(struct run_paths *p);	/* NULL is fine */
DEFINE_CLEANUP(struct run_paths *, run_paths_free);

#endif
