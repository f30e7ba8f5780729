/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain.h - the critical path of one interval, with the functions open in each piece.
 */
#ifndef ANALYSIS_PATH_EXPLAIN_H
#define ANALYSIS_PATH_EXPLAIN_H

#include "trace/model.h"

/* One piece of show critical-path: frames from the outermost in. */
struct path_piece {
	uint64_t tid;
	int64_t start_ns, end_ns;
	enum trace_state state;
	uint32_t depth;
	const char **frames;		/* in arena; names of functions, or the waiter's if blocked; of a very deep stack the
					 * innermost, after "[N more]" */
	size_t frame_cnt;
	const char *file;		/* of the last frame, in arena; NULL: not known */
	uint32_t line;
};
typedef VEC(struct path_piece) path_pieces;

/* -ENOENT: no completed interval sid.  Equal neighbouring pieces are merged. */
int explain_interval(struct trace *t, uint64_t sid, struct arena *a, path_pieces *ret);

/* The same of several intervals: the trace is gone through once.  Sorts t; t and a outlive it. */
struct explainer;
struct explainer *explainer_new(struct trace *t, struct arena *a);
int explainer_interval(struct explainer *x, uint64_t sid, path_pieces *ret);
void explainer_free(struct explainer *x);
DEFINE_CLEANUP(struct explainer *, explainer_free);

#endif
