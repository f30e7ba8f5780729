/* SPDX-License-Identifier: GPL-3.0-or-later */
/* changes.h - splits the change of Var(T) among the parts of the latency.  Private to analysis/compare/. */
#ifndef ANALYSIS_COMPARE_CHANGES_H
#define ANALYSIS_COMPARE_CHANGES_H

#include "analysis/compare/compare.h"

/* Fills c->changes.  variances: of each run of each side. */
void changes_of(struct comparison *c, double *const variances[SIDE_CNT]);

/* The figure of a side: the geometric mean if log, else the arithmetic mean.  NAN if there is no value, or one of them is not
 * known. */
double side_figure(const double *values, size_t cnt, bool is_log);
/* Whether all values are above 0. */
bool have_logs(const double *base, size_t base_cnt, const double *head, size_t head_cnt);

#endif
