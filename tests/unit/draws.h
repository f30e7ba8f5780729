/* SPDX-License-Identifier: GPL-3.0-or-later */
/* draws.h - random numbers for simulations.  Included once by the tests that need it. */
#ifndef TESTS_UNIT_DRAWS_H
#define TESTS_UNIT_DRAWS_H

#include <stdint.h>

/* A small generator of our own, so that the draws stay what they are. */
struct numbers {
	uint64_t state;
};

static inline double uniform(struct numbers *n)
{
	n->state = n->state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(n->state >> 11) / (double)(1ULL << 53);
}

/* Near enough: sum of 12, variance 1. */
static inline double normal(struct numbers *n)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += uniform(n);
	return sum;
}

#endif
