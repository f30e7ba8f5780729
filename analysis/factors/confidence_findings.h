/* SPDX-License-Identifier: GPL-3.0-or-later */
/* confidence_findings.h - the confidence intervals of nodes and factors.  Private to analysis/. */
#ifndef ANALYSIS_FACTORS_CONFIDENCE_FINDINGS_H
#define ANALYSIS_FACTORS_CONFIDENCE_FINDINGS_H

#include "analysis/factors/factors.h"

/* ci95 of nodes and factors, resolved, c->autocorrelated; rows are read between the two.  end: after the scores. */
struct influence_maker *begin_confidence(const struct analysis *a, const struct shown_tree *shown, struct factor_columns *c,
					 struct row_reading *r);
void end_confidence(struct influence_maker *k);

#endif
