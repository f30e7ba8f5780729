/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * confidence.h - confidence intervals of shares, from blocks of time.
 *
 * Private to analysis/.  Intervals that follow each other are alike, so the run is cut into up to 64
 * blocks in order of start, and blocks are taken to be independent, not intervals.  Hosts differ more than the minutes of
 * one: where intervals come from at least CONFIDENCE_HOSTS_MIN hosts, a host is a block.
 */
#ifndef ANALYSIS_STATS_CONFIDENCE_H
#define ANALYSIS_STATS_CONFIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/findings/block_kind.h"

#define CONFIDENCE_BLOCKS_MAX 64
#define CONFIDENCE_BLOCKS_MIN 16	/* blocks are joined until this many are left */
#define CONFIDENCE_HOSTS_MIN 5		/* of fewer a spread cannot be told */

/* How many blocks n recorded intervals are cut into, of equal numbers of these; 0: too few. */
size_t blocks_for(uint64_t n);

struct confidence {
	double half_width;		/* of the 95 % interval around the share */
	size_t block_cnt;		/* number of blocks used: fewer if neighbours were alike */
	bool correlated;		/* neighbours are still alike: the interval is too narrow */
};

/* blocks: kind.cnt of them, of n intervals. */
struct confidence confidence_of(const double *blocks, struct block_kind kind, uint64_t n);

/* Joins neighbours: cnt blocks become (cnt + 1) / 2. */
size_t blocks_join(double *blocks, size_t cnt);

#endif
