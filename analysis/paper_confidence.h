/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paper_confidence.h - see paper_confidence.c.  Private to analysis/. */
#ifndef ANALYSIS_PAPER_CONFIDENCE_H
#define ANALYSIS_PAPER_CONFIDENCE_H

#include "analysis/influence.h"

/* Of factors paper_ci95 and paper_resolved, of pairs ci95. */
struct paper *paper_begin(struct analysis *a, const struct influence *in, const uint32_t *factor_of_node);
void paper_end(struct paper *p);

#endif
