/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sibling_pairs.h - covariances of siblings where there are too many siblings for all their pairs.
 *
 * Private to analysis/.  A function that calls 8,000 others has 32 million pairs of children.  By Cauchy and Schwarz
 *
 *	|2 Cov(X,Y)| <= 2 sd(X) sd(Y)
 *
 * so a pair can only reach a limit if the right side does, and the right side needs no pairs.  Those that can are candidates,
 * over all parents together; if they are more than sibling_pairs_max, the limit rises until they are not.  The products
 * of the candidates are summed up in a reading of the rows of its own.
 *
 * Example: sd 9, 5, 1, 1 and limit 10: 2 * 9 * 5, 2 * 9 * 1 twice, 2 * 5 * 1 twice can, 2 * 1 * 1 cannot.
 */
#ifndef ANALYSIS_FACTORS_SIBLING_PAIRS_H
#define ANALYSIS_FACTORS_SIBLING_PAIRS_H

#include "analysis/pass/pass.h"

struct sibling_pairs;

struct sibling_pairs *sibling_pairs_new(const struct analysis *a);
void sibling_pairs_free(struct sibling_pairs *p);

/* Adds the children of one parent.  all: each pair is a candidate, whatever the limit. */
void sibling_pairs_add(struct sibling_pairs *p, const uint32_t *places, size_t cnt, bool all);

/* Chooses those with 2 sd sd >= limit, and sums them up. */
void sibling_pairs_sum(struct sibling_pairs *p, double limit);

/* Calls visit for each candidate: parents as they were added, the same order in every run. */
void sibling_pairs_each(const struct sibling_pairs *p, void (*visit)(void *arg, uint32_t x, uint32_t y, double covariance_ns2),
			void *arg);

/* Limit of candidates, without those of sibling_pairs_add(all), 16 bytes each: all of 1,024 children.  Tests make it small. */
#define SIBLING_PAIRS_MAX ((size_t)1 << 19)
extern size_t sibling_pairs_max;

#endif
