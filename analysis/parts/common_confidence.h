/* SPDX-License-Identifier: GPL-3.0-or-later */
/* common_confidence.h - see common_confidence.c.  Private to analysis/. */
#ifndef ANALYSIS_PARTS_COMMON_CONFIDENCE_H
#define ANALYSIS_PARTS_COMMON_CONFIDENCE_H

#include "analysis/pass/pass.h"
#include "analysis/tree/times.h"

struct component {			/* a component over the cnt parts of the matrix */
	double *u;			/* its eigenvector */
	double *turn;			/* sum over the others of sum(u_j) u_j / (l - l_j) */
	double sum, l;			/* of u; its eigenvalue, ns^2 */
};

/* times: of parts.  list: of f->common_causes, in their order.  index_of_part: NODE_NONE if not looked at. */
void find_common_confidence(const struct analysis *a, const struct times *times, const uint32_t *index_of_part,
			    const struct component *list);

#endif
