/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parts.h - the latency split into parts that add up to it.
 *
 * Private to analysis/.
 */
#ifndef ANALYSIS_PARTS_PARTS_H
#define ANALYSIS_PARTS_PARTS_H

#include "analysis/factors/factors.h"

struct part_columns {			/* where the time of each part is, in the order of their making */
	struct times *times;		/* per interval and part */
	struct sums *sums;		/* per part */
};

/* f->parts, unsorted; rows are read between the two. */
struct part_maker *begin_parts(const struct analysis *a, const struct factor_columns *factors, struct row_reading *r,
			       struct part_columns *ret);
void end_parts(struct part_maker *s, const struct tail_rows *tail);
void part_columns_release(struct part_columns *c);	/* also a _cleanup_ function */

void sort_parts(struct findings *f);		/* after the last use of the columns */

#endif
