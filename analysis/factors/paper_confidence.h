/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paper_confidence.h - see paper_confidence.c.  Private to analysis/. */
#ifndef ANALYSIS_FACTORS_PAPER_CONFIDENCE_H
#define ANALYSIS_FACTORS_PAPER_CONFIDENCE_H

#include "analysis/factors/factors.h"
#include "analysis/factors/influence.h"

/* Set paper_ci95 and paper_resolved of factors, and ci95 of pairs; rows are read between the two calls. */
struct paper *paper_begin(const struct analysis *a, const struct shown_tree *shown, const struct factor_columns *c,
			  const struct influence *in, struct row_reading *r);
void paper_end(struct paper *p);

#endif
