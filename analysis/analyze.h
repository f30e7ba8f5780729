/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * analyze.h - trace to findings: the order of the passes.
 *
 * segments -> critical_path -> execution_table -> variance_tree -> factors.  The invariants
 * of DESIGN section 5 are checked on every run; what breaks one is counted and reported as a
 * warning, never hidden.
 */
#ifndef ANALYSIS_ANALYZE_H
#define ANALYSIS_ANALYZE_H

#include "analysis/findings.h"
#include "analysis/critical_path.h"

struct analyze_options {
	const char *interval;		/* name; NULL: the one with the most completed intervals */
	double overhead;		/* budget of the probes, a part of the mean latency; 0: default */
	double quantile;		/* where the tail begins; 0: TAIL_QUANTILE_DEFAULT */
};

/* Sorts t.  -ENOENT: t has no interval of that name.  Findings with interval.cnt == 0 are
 * a result, not an error. */
int analyze(struct trace *t, const struct analyze_options *o, struct findings **ret);

/* A row of the execution-time table (paper 3.3.3).  label: a function's name, "other" or
 * "wait:CLASS". */
struct execution_row {
	uint64_t sid;
	const char *label;
	int64_t nanoseconds;
};
typedef VEC(struct execution_row) execution_rows;

enum charge { CHARGE_WAITER, CHARGE_WAKER };

/* Rows of every used interval of that name (NULL as above), in order of interval start, then
 * label; labels live as long as t.  Sorts t. */
int execution_table(struct trace *t, const char *interval, enum charge charge, execution_rows *ret);

/* One piece of show critical-path: frames from the outermost in. */
struct path_piece {
	uint64_t tid;
	int64_t start_ns, end_ns;
	enum trace_state state;
	uint32_t depth;
	const char **frames;		/* in arena; names of functions, or the waiter's if blocked */
	size_t frame_cnt;
};
typedef VEC(struct path_piece) path_pieces;

/* -ENOENT: no completed interval sid. Neighbouring pieces that differ in nothing are one. */
int explain_interval(struct trace *t, uint64_t sid, struct arena *a, path_pieces *ret);

#endif
