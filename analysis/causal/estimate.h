/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * estimate.h - from the blocks of causal experiments to gains, and how far these can be trusted.
 *
 * A round has one block in which nothing is faster (the baseline), and one for each point, which is a target and a speedup.
 * All of a round's blocks are close in time, so whatever the machine does meanwhile hits them alike: a gain compares the
 * point's blocks with the baselines of the same rounds, never with others.
 *
 *	block_samples blocks = ...			round 1: baseline 4.1 4.0 ms, point 0: 2.1 2.2 ms; round 2: ...
 *	struct estimate_options o = { .draws = 1000 };
 *	struct experiment x = { .target = "parse", .speedup = .5 };
 *	estimate_gains(&blocks, 0, &o, &x);		x.metrics[GAIN_P50].gain is .48, ci95 .46 to .49
 *
 * doc/causal.md says how the intervals are made and what their coverage is.
 */
#ifndef ANALYSIS_CAUSAL_ESTIMATE_H
#define ANALYSIS_CAUSAL_ESTIMATE_H

#include "analysis/causal/experiments.h"

#define POINT_BASELINE UINT32_MAX

struct block_sample {
	uint32_t round, point;		/* point: any number, or POINT_BASELINE */
	int64_t *latency_ns;		/* virtual; the block's own */
	size_t cnt;
	int64_t real_ns, delay_ns;	/* it took virtually real_ns - delay_ns */
};

typedef VEC(struct block_sample) block_samples;

void block_samples_add(block_samples *list, uint32_t round, uint32_t point, const int64_t *latency_ns, size_t cnt,
		       int64_t real_ns, int64_t delay_ns);
void block_samples_release(block_samples *list);

struct estimate_options {
	unsigned draws;			/* of the bootstrap; 0: 1,000 */
	double floor;			/* what the method itself may be off, of a latency */
};

enum { ROUNDS_MIN = 3, ROUNDS_FOR_MEAN = 30 };	/* for an interval; below the latter the median is what is ranked by */

/*
 * Fills in rounds, set_aside, interval_cnt, delay_ns and metrics, p_value of the point for itself.  Rounds without an interval on
 * one of the two sides do not count.
 */
void estimate_gains(const block_samples *blocks, uint32_t point, const struct estimate_options *o, struct experiment *ret);

/* All baselines: e->baseline, e->baseline_cnt. */
void estimate_baseline(const block_samples *blocks, struct experiments *e);

/* p_value of all targets of a speedup, for each metric: as many were asked, one of them looks good by chance (Holm 1979). */
void estimate_adjust(struct experiments *e);

/*
 * What the method itself may be off in this program, a part of a latency: the largest of
 *	half a point		which is what it was off where nothing else could be (doc/causal.md)
 *	2 slack_ns / median	a thread may owe slack_ns unpaid where an interval begins and where it ends
 *	a rehearsal		a point that cannot have gained anything: what it shows beyond its own noise; NULL: there was none
 */
double estimate_floor(const struct experiment *rehearsal, double median_ns, double slack_ns);

/* The metric to judge by where the user has named none. */
enum gain_metric estimate_default_metric(uint64_t rounds);

#endif
