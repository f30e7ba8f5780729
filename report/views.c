/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * views.c - the views, one row each.  A format a view does not have is NULL.
 */
#include <string.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "report/views.h"

const struct view report_views[] = {
	{ "summary", "the answer, and the latency it is about",
	  NEEDS_FINDINGS, summary_text, summary_json, NULL, NULL, NULL },
	{ "variance-tree", "the variance, split over functions and waits",
	  NEEDS_FINDINGS, variance_tree_text, variance_tree_json, variance_tree_csv, NULL, NULL },
	{ "factors", "what to look into, best first (--paper, --k, --threshold, --all)",
	  NEEDS_FINDINGS, factors_text, factors_json, factors_csv, NULL, NULL },
	{ "tail", "what the slowest intervals take more time for than all (--quantile)",
	  NEEDS_FINDINGS, tail_text, tail_json, tail_csv, NULL, NULL },
	{ "slow-vs-fast", "extra time of a slow interval, by function and wait (--quantile)",
	  NEEDS_FINDINGS, slow_vs_fast_text, slow_vs_fast_json, slow_vs_fast_csv, NULL, NULL },
	{ "critical-path", "what one interval spent its time on (--interval SID, --slowest N)",
	  NEEDS_PATHS, critical_path_text, critical_path_json, critical_path_csv, NULL, NULL },
	{ "execution-table", "time by interval and function (--charge waiter|waker)",
	  NEEDS_EXECUTION_TABLE, execution_table_text, execution_table_json, execution_table_csv,
	  NULL, NULL },
	{ "intervals", "the intervals, slowest first (--slowest N, --all)",
	  NEEDS_FINDINGS, intervals_text, intervals_json, intervals_csv, NULL, NULL },
	{ "histogram", "how the latency is distributed",
	  NEEDS_FINDINGS, histogram_text, histogram_json, histogram_csv, NULL, NULL },
	{ "warnings", "every warning about the results, the one that matters most first",
	  NEEDS_FINDINGS, warnings_text, warnings_json, warnings_csv, NULL, NULL },
	{ "call-graph", "functions with their heights (--above FUNCTION, --below FUNCTION)",
	  NEEDS_CALL_GRAPH, call_graph_text, call_graph_json, call_graph_csv, call_graph_dot, NULL },
	{ "wait-graph", "who waits for whom, and the knots in that (--threshold, --prefilter, --group, --slow)",
	  NEEDS_WAIT_GRAPH, wait_graph_text, wait_graph_json, wait_graph_csv, wait_graph_dot, NULL },
	{ "criticality", "what runs while few other threads can (--nmin)",
	  NEEDS_CRITICALITY, criticality_text, criticality_json, criticality_csv, NULL, NULL },
	{ "samples", "samples on and off the processor, by function (--period)",
	  NEEDS_SAMPLES, samples_text, samples_json, samples_csv, NULL, samples_folded },
	{ "runs", "all runs",
	  NEEDS_RUNS, runs_text, runs_json, runs_csv, NULL, NULL },
	{ "coverage", "functions that carry a probe, and why others cannot",
	  NEEDS_PROJECT, coverage_text, coverage_json, coverage_csv, NULL, NULL },
};
const size_t report_view_cnt = ARRAY_SIZE(report_views);

const struct view *view_find(const char *name)
{
	for (size_t i = 0; i < report_view_cnt; i++)
		if (strcmp(name, report_views[i].name) == 0)
			return &report_views[i];
	return NULL;
}
