/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * latency_checks.h - whether the run is uniform: checks latencies in order of time for drift, for two populations,
 * and for a few that carry the variance.
 *
 * Private to analysis/.  Nothing here knows of functions.
 */
#ifndef ANALYSIS_STATS_LATENCY_CHECKS_H
#define ANALYSIS_STATS_LATENCY_CHECKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum drift_shape {
	DRIFT_TREND,			/* latency grows, or falls, all the time */
	DRIFT_START,			/* the beginning differs from the rest */
	DRIFT_LATER,			/* from some point on it differs */
	DRIFT_MIDDLE,			/* a part in the middle differs */
};

struct drift {
	double kpss;			/* of the ranks; above 0.739 once in a hundred where nothing drifts */
	double between;			/* part of the variance that is between 64ths of the run */
	double first_ns, last_ns;	/* mean latency of the first and the last tenth */
	bool moves;			/* it is significant */
	bool drifts;			/* ... and it matters */
	enum drift_shape shape;
	double from, until;		/* the part of the run that differs, 0 to 1; not of a trend */
	double within_ns, outside_ns;	/* mean latency there and elsewhere */
};

/* At least SERIES_MIN latencies, else nothing drifts. */
#define SERIES_MIN 500
struct drift drift_of(const int64_t *latencies_ns, size_t cnt);

#define MIXTURE_MAX 4
struct mixture {			/* the populations of the latencies, fastest first */
	size_t cnt;			/* 1: none can be distinguished */
	double weight[MIXTURE_MAX];	/* parts of all intervals */
	double centre_ns[MIXTURE_MAX];	/* where their logarithms are centred */
};

/* level: the run drifts, so each 64th of it is taken relative to its median. */
struct mixture mixture_of(const int64_t *latencies_ns, const uint32_t *copies, size_t cnt, bool level);

#define CARRIERS_MAX 10
struct carriers {			/* intervals far from the mean: a hundredth of them, from 1 to 10 */
	size_t cnt;
	size_t rows[CARRIERS_MAX];	/* farthest first */
	double share;			/* of the sum of (T - mean T)^2 */
	double effective_cnt;		/* (sum t^2)^2 / sum t^4: the effective number of intervals behind the variance */
};

/* copies: number of intervals of each latency; NULL: one. */
struct carriers carriers_of(const int64_t *latencies_ns, const uint32_t *copies, size_t cnt);

#endif
