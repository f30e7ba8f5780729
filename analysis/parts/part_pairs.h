/* SPDX-License-Identifier: GPL-3.0-or-later */
/* part_pairs.h - parts that go together, or offset each other.  Private to analysis/. */
#ifndef ANALYSIS_PARTS_PART_PAIRS_H
#define ANALYSIS_PARTS_PART_PAIRS_H

#include "analysis/parts/parts.h"

/* f->part_pairs, of unsorted parts; rows are read between the two. */
struct pair_maker *begin_part_pairs(const struct analysis *a, const struct shown_tree *shown, const struct factor_columns *factors,
				    const struct part_columns *parts, struct row_reading *r);
void end_part_pairs(struct pair_maker *g);

#endif
