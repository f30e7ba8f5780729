/* SPDX-License-Identifier: GPL-3.0-or-later */
/* covariances.h - the pairs of siblings that are worth a row.  Private to analysis/. */
#ifndef ANALYSIS_FACTORS_COVARIANCES_H
#define ANALYSIS_FACTORS_COVARIANCES_H

#include "analysis/factors/tree_findings.h"

void find_covariances(const struct analysis *a, const struct shown_tree *s);	/* f->covariances */

/* Up to this number, all pairs of nodes with few children are kept.  Tests make it small. */
#define COVARIANCES_ALL_MAX ((size_t)131072)
extern size_t covariances_all_max;

#endif
