/* SPDX-License-Identifier: GPL-3.0-or-later */
/* work_confidence.h - see work_confidence.c.  Private to analysis/. */
#ifndef ANALYSIS_FACTORS_WORK_CONFIDENCE_H
#define ANALYSIS_FACTORS_WORK_CONFIDENCE_H

#include "analysis/pass/pass.h"
#include "analysis/tree/times.h"

#define WORK_BINS_MAX 32

struct work_lines {			/* of T, one in each bin of W */
	size_t n, bin_cnt;
	const double *key;		/* per row: W */
	const double *rest;		/* per row: what the line of its bin leaves of T */
	const unsigned char *bin_of_row;
};

/* work_ci95 of factors; times: theirs. */
void find_work_confidence(const struct analysis *a, const struct times *times, const struct work_lines *l);

#endif
