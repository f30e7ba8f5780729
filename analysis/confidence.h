/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * confidence.h - how far off a share may be, from blocks of time.
 *
 * Private to analysis/.  Intervals that follow each other are alike, so the run is cut into up to 64
 * blocks in order of start, and blocks are taken to be independent, not intervals.
 */
#ifndef ANALYSIS_CONFIDENCE_H
#define ANALYSIS_CONFIDENCE_H

#include "analysis/passes.h"

#define CONFIDENCE_BLOCKS_MAX 64
#define CONFIDENCE_BLOCKS_MIN 16	/* blocks are joined down to so many */

/* Per place and block: the sum, over the block's intervals, of (X - mean X)(T - mean T) - share (T - mean
 * T)^2, divided by Var(T).  Linear in X: a factor's is the sum over its places.  Blocks sum to 0. */
struct influence {
	size_t block_cnt;		/* 0: too few intervals, or nothing varies */
	double *of_place;		/* [place * block_cnt + block] */
	double *weight;			/* per block: its part of n Var(T), times n */
};

void influence_init(struct influence *in, const struct vtree *v, const struct moments *m,
		    const int64_t *latencies_ns);
void influence_release(struct influence *in);

struct confidence {
	double half_width;		/* of the 95 % interval around the share */
	size_t block_cnt;		/* that it took: fewer where neighbours were alike */
	bool correlated;		/* they still are: the interval is too narrow */
};

/* blocks: block_cnt of them, of n intervals. */
struct confidence confidence_of(const double *blocks, size_t block_cnt, uint64_t n);

/* Joins neighbours: cnt blocks become (cnt + 1) / 2. */
size_t blocks_join(double *blocks, size_t cnt);

#endif
