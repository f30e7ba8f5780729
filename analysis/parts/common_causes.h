/* SPDX-License-Identifier: GPL-3.0-or-later */
/* common_causes.h - parts that vary together.  Private to analysis/. */
#ifndef ANALYSIS_PARTS_COMMON_CAUSES_H
#define ANALYSIS_PARTS_COMMON_CAUSES_H

#include "analysis/parts/parts.h"

/* f->common_causes, of unsorted parts; rows are read between the two. */
struct cause_maker *begin_common_causes(const struct analysis *a, const struct part_columns *parts, struct row_reading *r);
void end_common_causes(struct cause_maker *c);

#endif
