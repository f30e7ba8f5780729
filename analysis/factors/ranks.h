/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ranks.h - which ranks of factors are certain, and how much more data would settle the others.
 *
 * Private to analysis/.
 */
#ifndef ANALYSIS_FACTORS_RANKS_H
#define ANALYSIS_FACTORS_RANKS_H

#include "analysis/findings/findings.h"
#include "analysis/stats/confidence.h"

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
	size_t block_cnt;		/* the fewest blocks that a factor above the threshold used */
};

/* x with that value and confidence interval; blocks as confidence_of() takes them, cnt of them. */
void ranking_add(struct ranking *r, uint32_t factor, double value, struct confidence c,
		 const double *blocks, size_t cnt);
/* Decides which ranks hold; weight: as in struct influence, cnt blocks. */
void ranking_resolve(struct ranking *r, const double *weight, size_t cnt);
void ranking_release(struct ranking *r);

#endif
