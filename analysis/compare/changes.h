/* SPDX-License-Identifier: GPL-3.0-or-later */
/* changes.h - the change of Var(T), by the parts of the latency.  Private to analysis/compare/. */
#ifndef ANALYSIS_COMPARE_CHANGES_H
#define ANALYSIS_COMPARE_CHANGES_H

#include "analysis/compare/compare.h"

/* variances: of each run of each side. Fills c->changes. */
void changes_of(struct comparison *c, double *const variances[SIDE_CNT]);

/* The figure of a side: the geometric mean; the arithmetic one if not log, or of nothing but one that is not known: NAN. */
double side_figure(const double *values, size_t cnt, bool is_log);
/* All are above 0. */
bool have_logs(const double *base, size_t base_cnt, const double *head, size_t head_cnt);

#endif
