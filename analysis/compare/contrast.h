/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * contrast.h - the difference of two means, each of a few runs, by Student's t.
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

/* Welch's; paired: of the differences head[i] - base[i], cnt the same.  Two values a side at least. */
struct contrast contrast_of(const double *base, size_t base_cnt, const double *head, size_t head_cnt, bool paired);

void contrast_ci95(const struct contrast *c, double ret[2]);
/* The probability to see such a difference, or a larger one, were it limit in truth; below: or a smaller one. */
double contrast_p(const struct contrast *c, double limit, bool below);
/* About how many runs a side would tell the difference from limit, where run_cnt a side did not; 0: not known. */
size_t contrast_runs_needed(const struct contrast *c, double limit, double run_cnt, bool paired);

double mean_of(const double *values, size_t cnt);

#endif
