/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_graph.h - the call graph of one run: the static calls of its trace, and those seen at run time.
 */
#ifndef PROJECT_RUNS_RUN_GRAPH_H
#define PROJECT_RUNS_RUN_GRAPH_H

#include "store/store.h"
#include "trace/model.h"

/* Functions in order of file, line and name.  Sorts t.  The strings live as long as t. */
struct project *run_graph(struct trace *t);

/* Heights of the functions; the caller frees them. */
uint32_t *graph_heights(const struct project *p);

#endif
