/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * confidence.h - confidence intervals of shares, from blocks of time.
 *
 * Private to analysis/.  Intervals that follow each other are alike, so the run is cut into up to 64
 * blocks in order of start, and blocks are taken to be independent, not intervals.
 */
#ifndef ANALYSIS_STATS_CONFIDENCE_H
#define ANALYSIS_STATS_CONFIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONFIDENCE_BLOCKS_MAX 64
#define CONFIDENCE_BLOCKS_MIN 16	/* blocks are joined until this many are left */

/* How many blocks n recorded intervals are cut into, of equal numbers of these; 0: too few. */
size_t blocks_for(uint64_t n);

struct confidence {
	double half_width;		/* of the 95 % interval around the share */
	size_t block_cnt;		/* number of blocks used: fewer if neighbours were alike */
	bool correlated;		/* neighbours are still alike: the interval is too narrow */
};

/* blocks: block_cnt of them, of n intervals. */
struct confidence confidence_of(const double *blocks, size_t block_cnt, uint64_t n);

/* Joins neighbours: cnt blocks become (cnt + 1) / 2. */
size_t blocks_join(double *blocks, size_t cnt);

#endif
