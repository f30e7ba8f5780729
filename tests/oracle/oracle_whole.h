/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * oracle_whole.h - the views of a whole run from their definitions, the slow way.
 *
 * It shares nothing with analysis/: waits are cascaded by the recursion of wPerf's figure 4,
 * time is counted nanosecond by nanosecond, knots are found in a matrix of which vertex reaches which, an
 * edge at a time.  TIDs are below ORACLE_TIDS, times below RANDOM_TIME_MAX.
 */
#ifndef TESTS_ORACLE_ORACLE_WHOLE_H
#define TESTS_ORACLE_ORACLE_WHOLE_H

#include "analysis/whole_run/blocked_samples.h"
#include "analysis/whole_run/wait_knots.h"
#include "tests/oracle/oracle.h"

#define ORACLE_TIDS 8
#define ORACLE_UNKNOWN 0		/* an unknown waker; no thread has it as TID */

struct oracle_waits {
	int64_t weight_ns[ORACLE_TIDS][ORACLE_TIDS], direct_ns[ORACLE_TIDS][ORACLE_TIDS];
	int64_t running_ns[ORACLE_TIDS], runnable_ns[ORACLE_TIDS], waiting_ns[ORACLE_TIDS];
};

/* May a wait of that thread and interval at [ns, ns + 1) count? */
typedef bool (*oracle_counts)(const void *arg, uint64_t sid, int64_t ns);

/* By the recursion, all waits counted whole.  t must be sorted and have no creations. */
void oracle_waits(const struct trace *t, struct oracle_waits *ret);

/* Moment by moment, where counts() says so; only weight_ns and direct_ns. */
void oracle_waits_counted(const struct trace *t, oracle_counts counts, const void *arg,
			  struct oracle_waits *ret);

struct oracle_criticality {
	double cmetric_ns[ORACLE_TIDS];
	int64_t busy_ns;
	uint64_t slices, critical_slices;
	double path_ns;			/* of all critical slices */
};

void oracle_criticality(const struct trace *t, double nmin, struct oracle_criticality *ret);

/* Samples by function (the last: none) and type. */
void oracle_samples(const struct trace *t, int64_t period_ns,
		    uint64_t ret[][SAMPLE_TYPE_CNT]);

/* vertices of the knots and sinks, as text: "knot 1 3; sink 2; trimmed 4 2". */
char *oracle_knots(const struct knot_graph *g);

#endif
