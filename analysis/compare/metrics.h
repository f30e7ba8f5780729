/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metrics.h - the figures of one run's latency, and their errors within that run.
 *
 * Private to analysis/compare/.
 */
#ifndef ANALYSIS_COMPARE_METRICS_H
#define ANALYSIS_COMPARE_METRICS_H

#include "analysis/compare/compare.h"

struct run_metrics {
	double value[METRIC_CNT];	/* NAN: not known */
	/* Standard error of the figure's logarithm, from SECTIONS blocks of time; NAN: too few intervals.  It does not include the
	 * variation from run to run. */
	double log_se[METRIC_CNT];
};

#define SECTIONS 10

void run_metrics_of(const struct findings *f, struct run_metrics *ret);

#endif
