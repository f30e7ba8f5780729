/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metrics.h - the figures of one run's latency, and how sure the run itself is of them.
 *
 * Private to analysis/compare/.
 */
#ifndef ANALYSIS_COMPARE_METRICS_H
#define ANALYSIS_COMPARE_METRICS_H

#include "analysis/compare/compare.h"

struct run_metrics {
	double value[METRIC_CNT];	/* NAN: not known */
	/* Standard error of its logarithm, from SECTIONS blocks of time; NAN: too few intervals.  It knows nothing of what
	 * another run of the same program would be. */
	double log_se[METRIC_CNT];
};

#define SECTIONS 10

void run_metrics_of(const struct findings *f, struct run_metrics *ret);

#endif
