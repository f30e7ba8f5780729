/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wait_answer.h - a wait-for graph in a sentence or two.  Private to report/, as is what the tables below it share with it.
 *
 *	▶ The knot: B and disk wait for each other; B for disk 48 % of the run, in log_sync.
 *	▶ No knot: all long waits end at clock, which waits for no thread: its own work is the limit.
 */
#ifndef REPORT_WHOLE_RUN_WAIT_ANSWER_H
#define REPORT_WHOLE_RUN_WAIT_ANSWER_H

#include "report/whole_run/whole_run.h"

#define RUNNABLE_WORTH 0.05		/* of a thread's life without a processor: worth a line */

void print_wait_answer(const struct style *s, const struct wait_graph *g);

void add_members(struct str *to, const struct wait_graph *g, const struct wait_knot *k);	/* "A, B and disk" */

double of_run(const struct wait_graph *g, int64_t ns);				/* as a fraction, 0 to 1 */
double per_interval(int64_t ns, const struct wait_class *c);			/* the wait of one interval of the class */
double edge_excess(const struct wait_graph *g, const struct wait_edge *e);	/* excess in ns of a slow interval
										 * over a typical one */

double unknown_share(const struct wait_graph *g);			/* share of all waiting without a known waker */

bool is_unknown(const struct wait_graph *g, uint32_t vertex);		/* the vertex of unknown wakers */
bool is_outside(const struct wait_graph *g, const struct wait_knot *k);	/* a sink without records */

#endif
