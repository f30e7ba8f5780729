/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * views.h - the functions that views.c lists.  Private to report/.
 */
#ifndef REPORT_VIEWS_H
#define REPORT_VIEWS_H

#include "report/report.h"

#define VIEW_FUNCTIONS(name)							\
	void name##_text(const struct style *s, const struct view_input *in);	\
	json_t *name##_json(const struct view_input *in);			\
	void name##_csv(FILE *out, const struct view_input *in)

VIEW_FUNCTIONS(summary);
VIEW_FUNCTIONS(variance_tree);
VIEW_FUNCTIONS(causes);
VIEW_FUNCTIONS(factors);
VIEW_FUNCTIONS(tail);
VIEW_FUNCTIONS(slow_vs_fast);
VIEW_FUNCTIONS(critical_path);
VIEW_FUNCTIONS(execution_table);
VIEW_FUNCTIONS(intervals);
VIEW_FUNCTIONS(histogram);
VIEW_FUNCTIONS(call_graph);
VIEW_FUNCTIONS(runs);
VIEW_FUNCTIONS(coverage);
VIEW_FUNCTIONS(wait_graph);
VIEW_FUNCTIONS(criticality);
VIEW_FUNCTIONS(samples);
VIEW_FUNCTIONS(warnings);

/* coverage_planned.c: what became of the plan of in->run. */
void coverage_planned_text(const struct style *s, const struct view_input *in);
void coverage_planned_json(json_t *o, const struct view_input *in);

void call_graph_dot(FILE *out, const struct view_input *in);
void wait_graph_dot(FILE *out, const struct view_input *in);
void samples_folded(FILE *out, const struct view_input *in);

#endif
