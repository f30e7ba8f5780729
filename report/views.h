/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * views.h - the views, in the order in which they are listed: the one list of them.  Private to report/.
 *
 *	X(tail)			show_tail.c defines view_tail
 */
#ifndef REPORT_VIEWS_H
#define REPORT_VIEWS_H

#include "report/report.h"

#define VIEWS(X)		\
	X(summary)		\
	X(variance_tree)	\
	X(factors)		\
	X(causes)		\
	X(tail)			\
	X(slow_vs_fast)		\
	X(critical_path)	\
	X(execution_table)	\
	X(intervals)		\
	X(histogram)		\
	X(warnings)		\
	X(check)		\
	X(call_graph)		\
	X(wait_graph)		\
	X(criticality)		\
	X(samples)		\
	X(causal)		\
	X(runs)			\
	X(coverage)

#define X(name) extern const struct view view_##name;
VIEWS(X)
X(by_cause)			/* not in the list: variance-tree --by cause */
#undef X

/* The data of critical-path. */
struct explained {
	const struct interval_row *row;
	size_t rank;			/* 1: the slowest of interval.cnt */
	path_pieces pieces;
};

struct explained_paths {
	struct arena *arena;		/* of the pieces */
	VEC(struct explained) paths;	/* slowest first */
	const struct trace *names;	/* of their threads */
};

/* The name and kind of a thread or device on a path; NULL: only its number is known. */
const struct thread_name *path_thread(const struct trace *t, uint64_t tid);

/* The data of execution-table. */
struct charged_rows {
	execution_rows rows;
	enum charge charge;
};

/* coverage_planned.c: what became of the plan of in->run. */
void coverage_planned_text(const struct style *s, const struct view_input *in);
void coverage_planned_json(json_t *o, const struct view_input *in);

/* wait_graph_formats.c */
json_t *wait_graph_json(const struct view_input *in);
void wait_graph_csv(FILE *out, const struct view_input *in);
void wait_graph_dot(FILE *out, const struct view_input *in);
void wait_graph_svg(FILE *out, const struct view_input *in);

#endif
