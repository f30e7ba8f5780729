/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * part_bins.h - what each part took, by the latency of the intervals.
 *
 * Private to analysis/.  With edges 0, 10, 20 and intervals of 4, 12 and 30 ns the bins have one interval each.  The
 * bins allow to compare any two classes of latencies that begin and end at edges, exactly and at once.
 */
#ifndef ANALYSIS_PARTS_PART_BINS_H
#define ANALYSIS_PARTS_PART_BINS_H

#include "analysis/pass/pass.h"
#include "analysis/tree/times.h"

/* f->bins, and the bins of f->parts; what is below the first edge is in the first bin.  edges NULL: nothing. */
void fill_part_bins(const struct analysis *a, const int64_t *edges, size_t edge_cnt, const struct times *times);

#endif
