/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * influence.h - how far each block of time moves the share of each place.
 *
 * Private to analysis/.  confidence.h makes confidence intervals of it.
 */
#ifndef ANALYSIS_FACTORS_INFLUENCE_H
#define ANALYSIS_FACTORS_INFLUENCE_H

#include "analysis/pass/row_reading.h"
#include "analysis/stats/confidence.h"

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

/* begin: rows are read between the two; end: only if there are blocks. */
void influence_begin(struct influence *in, const struct analysis *a, struct row_reading *r);
void influence_end(struct influence *in, const struct analysis *a);
/* influence_sums.c: where there are no rows, of the blocks' sums. */
void influence_take_sums(struct influence *in, const struct analysis *a);
void influence_release(struct influence *in);

#endif
