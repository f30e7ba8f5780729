/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_excerpt.h - what threads did for a few intervals of a run while these lasted (trace/windows/excerpt.h), read from the windows
 * of its trace that they are in.
 *
 *	struct run_excerpt *x;
 *	r = run_excerpt_read(store, run, rows, cnt, &x, &diag);
 *	... run_excerpt_trace(x), until
 *	run_excerpt_free(x);
 */
#ifndef PROJECT_RUNS_RUN_EXCERPT_H
#define PROJECT_RUNS_RUN_EXCERPT_H

#include "store/store.h"
#include "trace/model.h"

struct run_excerpt;

/* Rows: of the run's findings.  A run that is not one recorded trace is read as a whole. */
int run_excerpt_read(struct store *s, const struct run *r, const struct interval_row *const *rows, size_t cnt, struct run_excerpt **ret,
		     struct diag *reterr);
struct trace *run_excerpt_trace(struct run_excerpt *x);
int64_t run_excerpt_first_ns(const struct run_excerpt *x);	/* of the whole trace; INT64_MAX: it has no moment */
void run_excerpt_free(struct run_excerpt *x);			/* NULL is fine */
DEFINE_CLEANUP(struct run_excerpt *, run_excerpt_free);

#endif
