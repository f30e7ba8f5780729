/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree_findings.h - which places are shown, as nodes of the findings.
 *
 * Private to analysis/.
 */
#ifndef ANALYSIS_FACTORS_TREE_FINDINGS_H
#define ANALYSIS_FACTORS_TREE_FINDINGS_H

#include "analysis/pass/pass.h"
#include "analysis/tree/call_graph.h"

struct shown_tree {
	uint32_t *node_of_place;	/* NODE_NONE: not shown */
	uint32_t *place_of_node;
	uint32_t root_function;		/* the interval's only child, or FUNCTION_NONE */
};

/* f->nodes, f->covariances, f->root_height. */
void show_tree(const struct analysis *a, const struct call_graph *g, struct shown_tree *ret);
void shown_tree_release(struct shown_tree *s);	/* also a _cleanup_ function */

/* root.c: f->root_height, root_function. */
void find_root(const struct analysis *a, const struct call_graph *g, struct shown_tree *s);

/* Call sites of a function place, sorted, each once; the strings are the trace's. */
void place_call_sites(const struct analysis *a, uint32_t place, strings *ret);

#endif
