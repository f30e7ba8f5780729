/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * series.h - is the run one thing?  What latencies in order of time say of drift, of two populations, and of
 * a handful that carries the variance.
 *
 * Private to analysis/.  Nothing here knows of functions.
 */
#ifndef ANALYSIS_SERIES_H
#define ANALYSIS_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct drift {
	double kpss;			/* of the ranks; above 0.739 once in a hundred where nothing drifts */
	double between;			/* part of the variance that is between 64ths of the run */
	double first_ns, last_ns;	/* mean latency of the first and the last tenth */
	bool moves;			/* it is no chance */
	bool drifts;			/* ... and it matters */
};

/* At least SERIES_MIN latencies, else nothing drifts. */
#define SERIES_MIN 500
struct drift drift_of(const int64_t *latencies_ns, size_t cnt);

struct mixture {
	double weight;			/* of the slower population */
	double fast_ns, slow_ns;	/* where their logarithms are centred */
	double distance;		/* Ashman's D: above 2 they are apart */
	bool two;
};

/* level: the run moves, so each 64th of it is taken around its median. */
struct mixture mixture_of(const int64_t *latencies_ns, const uint32_t *copies, size_t cnt, bool level);

#define CARRIERS_MAX 10
struct carriers {			/* intervals far from the mean: a hundredth of them, from 1 to 10 */
	size_t cnt;
	size_t rows[CARRIERS_MAX];	/* farthest first */
	double share;			/* of the sum of (T - mean T)^2 */
	double effective_cnt;		/* (sum t^2)^2 / sum t^4: so many intervals speak of the variance */
};

/* copies: so many intervals of each; NULL: one. */
struct carriers carriers_of(const int64_t *latencies_ns, const uint32_t *copies, size_t cnt);

#endif
