/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * estimate.h - computes gains, and their confidence intervals, from the blocks of causal experiments.
 *
 * A round has one block in which nothing is faster (the baseline) and one block for each point (a target and a speedup).  The
 * blocks of a round run close in time, so a disturbance of the machine hits them alike.  A gain therefore compares the point's
 * blocks with the baselines of the same rounds only.
 *
 *	block_samples blocks = ...			round 1: baseline 4.1 4.0 ms, point 0: 2.1 2.2 ms; round 2: ...
 *	struct estimate_options o = { .draws = 1000 };
 *	struct experiment x = { .target = "parse", .speedup = .5 };
 *	estimate_gains(&blocks, 0, &o, &x);		x.metrics[GAIN_P50].gain is .48, ci95 .46 to .49
 *
 * doc/causal.md describes how the intervals are computed, and their measured coverage.
 */
#ifndef ANALYSIS_CAUSAL_ESTIMATE_H
#define ANALYSIS_CAUSAL_ESTIMATE_H

#include "analysis/causal/experiments.h"

#define POINT_BASELINE UINT32_MAX

struct block_sample {
	uint32_t round, point;		/* point: any number, or POINT_BASELINE */
	int64_t *latency_ns;		/* virtual; owned by the block */
	size_t cnt;
	int64_t real_ns, delay_ns;	/* its virtual duration is real_ns - delay_ns */
};

typedef VEC(struct block_sample) block_samples;

void block_samples_add(block_samples *list, uint32_t round, uint32_t point, const int64_t *latency_ns, size_t cnt,
		       int64_t real_ns, int64_t delay_ns);
void block_samples_release(block_samples *list);

struct estimate_options {
	unsigned draws;			/* of the bootstrap; 0: 1,000 */
	double floor;			/* error of the method itself, as a fraction of a latency */
};

enum { ROUNDS_MIN = 3, ROUNDS_FOR_MEAN = 30 };	/* for an interval; below ROUNDS_FOR_MEAN, ranking uses the median */

/*
 * Fills in rounds, set_aside, interval_cnt, delay_ns and metrics; p_value is that of this point alone.  A round without an
 * interval on either side does not count.
 */
void estimate_gains(const block_samples *blocks, uint32_t point, const struct estimate_options *o, struct experiment *ret);

/* Sets e->baseline and e->baseline_cnt from the baselines of all rounds. */
void estimate_baseline(const block_samples *blocks, struct experiments *e);

/* Corrects p_value for the number of targets asked at the same speedup, for each metric (Holm 1979). */
void estimate_adjust(struct experiments *e);

/*
 * The error of the method itself in this program, as a fraction of a latency.  The largest of
 *	half a point		the error measured where there was no other source of error (doc/causal.md)
 *	2 slack_ns / median	a thread may owe up to slack_ns of pause at the begin and at the end of an interval
 *	a rehearsal		what a point that cannot gain anything shows beyond its own noise; NULL: no rehearsal
 */
double estimate_floor(const struct experiment *rehearsal, double median_ns, double slack_ns);

/* The metric to judge by if the user named none. */
enum gain_metric estimate_default_metric(uint64_t rounds);

#endif
