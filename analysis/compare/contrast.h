/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * contrast.h - the difference of two means of a few runs each, by Student's t.
 *
 * Private to analysis/compare/.
 */
#ifndef ANALYSIS_COMPARE_CONTRAST_H
#define ANALYSIS_COMPARE_CONTRAST_H

#include <stdbool.h>
#include <stddef.h>

struct contrast {
	double diff;			/* mean of head - mean of base */
	double se, df;			/* its standard error and degrees of freedom */
};

/* Welch's t; paired: of the differences head[i] - base[i], with equal cnt.  Each side has at least two values. */
struct contrast contrast_of(const double *base, size_t base_cnt, const double *head, size_t head_cnt, bool paired);

void contrast_ci95(const struct contrast *c, double ret[2]);
/* The probability of a difference at least this large if the true difference were limit; below: at least this small. */
double contrast_p(const struct contrast *c, double limit, bool below);
/* About how many runs per side would separate the difference from limit, if run_cnt runs did not; 0: not known. */
size_t contrast_runs_needed(const struct contrast *c, double limit, double run_cnt, bool paired);

double mean_of(const double *values, size_t cnt);

#endif
