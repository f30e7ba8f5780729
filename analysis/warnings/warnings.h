/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * warnings.h - reasons to doubt the findings, and a remedy for each.
 *
 * Private to analysis/.
 */
#ifndef ANALYSIS_WARNINGS_WARNINGS_H
#define ANALYSIS_WARNINGS_WARNINGS_H

#include "analysis/factors/factors.h"
#include "analysis/tree/thread_spans.h"

/* f->warnings; overhead: the budget of the probes, a part of the mean latency. */
void warn(const struct analysis *a, const struct counted_intervals *counted, const struct lives *lives,
	  const struct factor_columns *factors, double overhead);

/* warn_holes.c: "hole" */
void warn_holes(const struct analysis *a, const struct lives *lives);
bool losses_have_holes(const struct losses *l);
/* warnings_cpu.c */
void warn_off_cpu(const struct analysis *a);
void warn_overloaded(const struct analysis *a);
/* warn_pairing.c: starts and ends without each other */
void warn_unpaired(const struct analysis *a, const struct counted_intervals *counted);
void warn_nested(const struct analysis *a);
void warn_unpaired_others(const struct analysis *a);	/* ... of intervals that the answer is not about */

/* warn_hosts.c */
void warn_few_hosts(const struct analysis *a);

/* warn_look.c: of requests on sockets */
void warn_look(const struct analysis *a);

#endif
