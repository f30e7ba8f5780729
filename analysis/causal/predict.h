/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * predict.h - what a replay of a run's trace says of "this were faster": hypotheses, for nothing is run.
 *
 *	sound		what is done, and in which order, does not depend on how long it takes: pipelines, barriers, threads that
 *			serve requests
 *	not sound	work that is found by polling or in batches, retries, spinning, timeouts, unfair locks, queues in devices,
 *			caches
 *
 * A gain compares two replays, one of the run as it was.  How far that one is from the recorded latencies is what the method is off
 * for certain: e->floor.
 */
#ifndef ANALYSIS_CAUSAL_PREDICT_H
#define ANALYSIS_CAUSAL_PREDICT_H

#include "analysis/causal/experiments.h"

struct predictor;

/* t is sorted, and outlives it.  interval: NULL for the one with the most completed intervals.  NULL: none of that name is
 * complete. */
struct predictor *predictor_new(const struct trace *t, const char *interval);
void predictor_free(struct predictor *p);		/* NULL is fine */
DEFINE_CLEANUP(struct predictor *, predictor_free);

/* The name of the interval that it predicts; lives as long as the trace. */
const char *predictor_interval(const struct predictor *p);

/* Fills in e's interval, baseline, floor. */
void predictor_baseline(const struct predictor *p, struct experiments *e);

/*
 * Asks one target, for each of the speedups (kind_is_replayed_only(): as if it were not there, once).  Appends to e->list, or to
 * e->refused where it may not be asked, with why.  false: it was refused.
 */
bool predictor_ask(struct predictor *p, const char *target, const double *speedups, size_t speedup_cnt, struct experiments *e);

/* Puts the targets of the largest gains (by e->metric) first, keeps k (0: all), chooses the best. */
void predictions_rank(struct experiments *e, size_t k);

#endif
