/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wait_labels.h - the labels of a wait-for graph's vertices.  Private to report/.
 */
#ifndef REPORT_WHOLE_RUN_WAIT_LABELS_H
#define REPORT_WHOLE_RUN_WAIT_LABELS_H

#include "report/whole_run/whole_run.h"

/* "flusher (12)", "worker-* (20 +7)", "thread 12", "sda", "unknown" */
void add_vertex_label(struct str *to, const struct wait_vertex *v);

/* The same, shorter, for a sentence: without numbers where there is a name. */
void add_vertex_name(struct str *to, const struct wait_vertex *v);

/* By edge: the first of the graph's knots that it is in, + 1; 0: none.  The caller frees it. */
uint64_t *wait_knot_of_edges(const struct wait_graph *g);

#endif
