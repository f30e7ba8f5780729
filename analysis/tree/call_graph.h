/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * call_graph.h - heights of functions (paper 3.2.2): the longest way down to a leaf.
 *
 * Private to analysis/.  Edges are the static calls of the trace and the nestings seen at run
 * time; functions that call each other in a circle share one height.  Calls of functions that are
 * left out (struct function) are no edges.
 */
#ifndef ANALYSIS_TREE_CALL_GRAPH_H
#define ANALYSIS_TREE_CALL_GRAPH_H

#include "analysis/tree/nestings.h"

struct call_edge {
	uint32_t caller, callee;
};

struct call_graph {
	size_t function_cnt;
	uint32_t *heights;		/* per function */
	bool *open;			/* per function: may call one without a probe */
	uint32_t *circles;		/* per function: one of those that it reaches and that reach it; the same for all of them */
};

struct call_graph *call_graph_new(const struct trace *t, const struct nestings *seen);
void call_graph_free(struct call_graph *g);
DEFINE_CLEANUP(struct call_graph *, call_graph_free);

/* heights[v] and circles[v] are set for each v < function_cnt; circles may be NULL.  edges is sorted in place. */
void heights_of(struct call_edge *edges, size_t edge_cnt, size_t function_cnt, uint32_t *heights, uint32_t *circles);

#endif
