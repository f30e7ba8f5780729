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
	uint64_t *row_cnt;		/* per block: its intervals */
	double *weight;			/* per block: sum of (T - mean T)^2, divided by Var(T); they sum to n */
	/* private */
	size_t n, place_cnt;
	const unsigned char *block_of_row;
	double *deviations;		/* per row: T - mean T */
	double *by_block;		/* sum of X (T - mean T): [block * place_cnt + place] */
};

/* How many blocks n recorded intervals are cut into, of equal numbers of these; 0: too few. */
size_t blocks_for(uint64_t n);

/* begin: rows are read between the two; end: only if there are blocks. */
void influence_begin(struct influence *in, struct analysis *a);
void influence_end(struct influence *in, const struct analysis *a);
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

/* Rounded up to two digits, for a number of intervals that is a guess. */
uint64_t intervals_rounded(double cnt);

/* ---- ranks (ranks.c) ------------------------------------------------------------- */

struct candidate {			/* may be above the threshold */
	uint32_t factor;
	double value;			/* its share, or its contribution */
	double blocks[CONFIDENCE_BLOCKS_MAX];
	double drawn, score;		/* in this draw */
	size_t rank;			/* in the findings; SIZE_MAX: below the threshold */
	unsigned same_cnt;		/* draws with that rank */
	bool resolved;
	uint32_t low, high;		/* its ranks in 95 % of the draws, from 1 */
	uint64_t needed;		/* more intervals to resolve it; 0: it is */
};

struct ranking {
	const struct findings *f;
	bool paper;			/* by contribution, pairs included */
	VEC(struct candidate) candidates;
	double weight[CONFIDENCE_BLOCKS_MAX];
	size_t block_cnt;		/* the fewest that one of those above the threshold took */
};

/* x with that value and confidence interval; blocks as confidence_of() takes them, cnt of them. */
void ranking_add(struct ranking *r, uint32_t factor, double value, struct confidence c,
		 const double *blocks, size_t cnt);
/* Sorts out which ranks hold; weight: as in struct influence, cnt blocks. */
void ranking_resolve(struct ranking *r, const double *weight, size_t cnt);
void ranking_release(struct ranking *r);

/* paper_confidence.c: the same for contributions, which are variances and covariances: paper_ci95,
 * paper_resolved, and ci95 of pairs. */
struct paper *paper_begin(struct analysis *a, const struct influence *in, const uint32_t *factor_of_node);
void paper_end(struct paper *p);

#endif
