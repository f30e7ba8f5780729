/* SPDX-License-Identifier: GPL-3.0-or-later */
/* summary.h - the interval in numbers.  Private to analysis/. */
#ifndef ANALYSIS_PASS_SUMMARY_H
#define ANALYSIS_PASS_SUMMARY_H

#include "analysis/pass/pass.h"
#include "analysis/tree/intervals.h"

struct tail_rows {			/* f->tail counts recorded intervals, this counts rows */
	uint64_t slow, fast;
};

/* f->interval, f->tail. */
struct tail_rows summarize(const struct analysis *a, const struct counted_intervals *counted, double quantile);

const struct pairing *pairing_of_interval(const struct analysis *a);	/* NULL: not known */

#endif
