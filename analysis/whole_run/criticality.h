/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * criticality.h - which threads and call paths run while few others can (GAPP, ICPE '20).
 *
 * While n threads are active (running, or able to run) each earns 1/n of the time.  The sum for a thread is its
 * CMetric; those of all threads sum to the time in which any was active.  A slice is a longest active stretch of a
 * thread.  It is critical if on average at most nmin threads were active during it, or no other thread ever was; call
 * paths are those of critical slices.
 */
#ifndef ANALYSIS_WHOLE_RUN_CRITICALITY_H
#define ANALYSIS_WHOLE_RUN_CRITICALITY_H

#include "trace/model.h"

struct critical_thread {
	uint64_t tid;
	const char *name;		/* NULL: none */
	double cmetric_ns;
	int64_t active_ns;
	uint64_t slices, critical_slices;
};

struct critical_path_row {
	const char **frames;		/* outermost first; empty: in no known function */
	size_t frame_cnt;
	double cmetric_ns;		/* earned while exactly these were open */
	uint64_t slices;		/* number of slices in which they were open */
};

struct critical_function {		/* innermost, while at most nmin threads (or one) were active */
	const char *function;		/* NULL: in no known function */
	const char *file;
	uint32_t line;
	double cmetric_ns;
};

/* Largest first. */
struct criticality {
	struct arena *arena;
	double nmin;
	int64_t run_ns, busy_ns;	/* busy: any thread active */
	uint64_t slices, critical_slices;
	VEC(struct critical_thread) threads;	/* all threads that have segments */
	VEC(struct critical_path_row) paths;
	VEC(struct critical_function) functions;
};

/* nmin < 0: half of the threads.  Sorts t, which must outlive the result. */
struct criticality *criticality_new(struct trace *t, double nmin);
void criticality_free(struct criticality *c);	/* NULL is fine */
DEFINE_CLEANUP(struct criticality *, criticality_free);

#endif
