/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * schedule.h - chooses the points of the next round of causal experiments, and decides when to stop.
 *
 *	rounds 1 to 6		every target at the first speedup (50 %, or the nearest to it), and a rehearsal
 *	later rounds		drops a target whose gain is below 2 points at best, is done with a target whose gain is known to
 *				2 points, goes on with the others; the three best targets get the other speedups, too
 *	the end			every gain is known to 2 points
 *
 * "Known to 2 points": the 95 % interval reaches at most 2 points to either side of the gain.  The rehearsal is the first target
 * at a speedup of 0.1 %: the whole machinery runs, and nothing can be gained.  It shows the error that the method itself has in
 * this program (estimate_floor()).
 */
#ifndef ANALYSIS_CAUSAL_SCHEDULE_H
#define ANALYSIS_CAUSAL_SCHEDULE_H

#include "analysis/causal/estimate.h"

#define REHEARSAL_SPEEDUP 0.001
#define KNOWN_TO 0.02
enum { ROUNDS_BEFORE_CHOICE = 6, TARGETS_IN_FULL = 3 };

struct schedule_target {
	const char *target;
	enum asked_kind kind;
	const char *function, *file;	/* NULL: none, or not known */
};

/* A point is a target and a speedup.  Its number is target * (speedup_cnt + 1) + speedup; each target's last is its rehearsal. */
struct schedule {
	const struct schedule_target *targets;
	size_t target_cnt;
	const double *speedups;		/* ascending, above 0, at most 1 */
	size_t speedup_cnt;
	bool has_metric;		/* the user named the metric to judge by */
	enum gain_metric metric;
	double slack_ns;		/* see estimate_floor() */
};

struct schedule_point {
	uint32_t number;		/* point of struct block_sample */
	uint32_t target;
	double speedup;
};

typedef VEC(struct schedule_point) schedule_points;

uint32_t schedule_number(const struct schedule *s, uint32_t target, size_t speedup);
uint32_t schedule_rehearsal(const struct schedule *s, uint32_t target);

/* Estimates the blocks of the rounds so far.  e->list gets the points that have a round that counts, by target, then speedup.  Sets
 * all of e but the names, refused, warnings and ended.  draws: see struct estimate_options. */
void schedule_estimate(const struct schedule *s, const block_samples *blocks, unsigned draws, struct experiments *e);

/* The points of the next round, given e (schedule_estimate()); none: stop.  round_cnt: rounds so far. */
void schedule_next(const struct schedule *s, const struct experiments *e, uint32_t round_cnt, schedule_points *ret);

#endif
