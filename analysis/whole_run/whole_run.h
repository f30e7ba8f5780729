/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * whole_run.h - what the views of a whole run share; they need no interval.
 *
 * Private to analysis/.  Three methods look at the same segments and wake-ups: the wait-for graph
 * (wPerf), criticality (GAPP) and blocked samples (bperf).
 */
#ifndef ANALYSIS_WHOLE_RUN_WHOLE_RUN_H
#define ANALYSIS_WHOLE_RUN_WHOLE_RUN_H

#include "analysis/path/timeline.h"

/* First and last time of anything in the trace; both 0 if it is empty. */
void whole_run_span(const struct trace *t, int64_t *ret_start_ns, int64_t *ret_end_ns);

/* The thread's name and kind, or NULL; t must be sorted. */
const struct thread_name *whole_run_thread(const struct trace *t, uint64_t tid);
const char *whole_run_thread_name(const struct trace *t, uint64_t tid);	/* NULL: none */

/* When s leaves its state: at its end, or at the wake-up after which it is only runnable. */
int64_t whole_run_woken(const struct timeline *tl, uint32_t thread, const struct segment *s);

/*
 * Call paths: which functions are open, the outermost first, as one number.
 *
 *	invocations	main [0,90]   f [10,40]   f [50,60]
 *	paths		0: main       1: main f   1
 *
 * If the trace has a stack of the thread, its functions are the path.  A path's spot is its row in a table by
 * function and line: the innermost function, for a stack the innermost with a known line.
 */
#define PATH_NONE UINT32_MAX		/* no function is open */

struct call_path {
	uint32_t parent;
	const char *function;
};

struct spot {
	const char *function, *file;	/* file NULL: unknown */
	uint32_t line;			/* of a probed function's body, or where the stack was */
};

struct call_paths {
	struct arena *arena;
	VEC(struct call_path) items;	/* parents before children */
	VEC(struct spot) spots;		/* first the trace's functions */
	uint32_t *of_invocation;	/* paths */
	uint32_t *of_stack, *spot_of_stack;
};

struct call_paths *call_paths_new(const struct timeline *tl);
void call_paths_free(struct call_paths *p);	/* NULL is fine */
DEFINE_CLEANUP(struct call_paths *, call_paths_free);

/*
 * Cuts (start, end] of a thread where its path changes:
 *
 *	struct path_walk w;
 *	for (path_walk_init(&w, tl, paths, tid, start_ns, end_ns); path_walk_next(&w); )
 *		... w.from_ns, w.to_ns, w.path
 */
struct path_walk {
	int64_t from_ns, to_ns;		/* the stretch yielded */
	uint32_t path;
	uint32_t spot;			/* index into spots; spots.cnt: none */
	bool stack;			/* from a stack of the trace */
	/* private */
	const struct timeline *tl;
	const struct call_paths *paths;
	uint64_t tid;
	int64_t end_ns;
	size_t next;			/* of the trace's stack_spans: the first that has not ended */
	struct stack_walk inner;	/* up to inner.end_ns there is no stack */
};

void path_walk_init(struct path_walk *w, const struct timeline *tl, const struct call_paths *p,
		    uint64_t tid, int64_t start_ns, int64_t end_ns);
bool path_walk_next(struct path_walk *w);

/* The names on the way to path, outermost first; allocated in a.  PATH_NONE has none. */
const char **call_path_frames(const struct call_paths *p, uint32_t path, struct arena *a,
			      size_t *ret_cnt);

/* Compares by names, for an order that does not depend on numbers. */
int compare_frames(const char *const *a, size_t a_cnt, const char *const *b, size_t b_cnt);

#endif
