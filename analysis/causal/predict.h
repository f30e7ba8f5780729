/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * predict.h - predicts gains by replaying a run's trace.  Nothing runs, so the results are hypotheses.
 *
 *	sound		what is done, and in which order, does not depend on how long it takes: pipelines, barriers, threads that
 *			serve requests
 *	not sound	work that is found by polling or in batches, retries, spinning, timeouts, unfair locks, queues in devices,
 *			caches
 *
 * A gain compares the replay of the changed run with the replay of the unchanged one.  e->floor is the difference between the
 * latencies of the unchanged replay and the recorded latencies: the error that is known for certain.
 */
#ifndef ANALYSIS_CAUSAL_PREDICT_H
#define ANALYSIS_CAUSAL_PREDICT_H

#include "analysis/causal/experiments.h"

struct predictor;

/* t is sorted, and outlives the predictor.  interval: NULL selects the name with the most completed intervals.  Returns NULL if no
 * interval of that name was completed. */
struct predictor *predictor_new(const struct trace *t, const char *interval);
void predictor_free(struct predictor *p);		/* NULL is fine */
DEFINE_CLEANUP(struct predictor *, predictor_free);

/* The name of the interval that it predicts; owned by the trace. */
const char *predictor_interval(const struct predictor *p);

/* Fills in e's interval, baseline, floor. */
void predictor_baseline(const struct predictor *p, struct experiments *e);

/*
 * Replays one target at each of the speedups (kind_is_replayed_only(): once, as if the target were not there).  Appends the results
 * to e->list, or the refusal and its reason to e->refused.  Returns false if it refused.
 */
bool predictor_ask(struct predictor *p, const char *target, const double *speedups, size_t speedup_cnt, struct experiments *e);

/*
 * If targets are names of one thing, only the first stays: they would change mostly the same time.  Refused ones stay.
 *
 *	flush, io@flush, parse: flush only sleeps -> flush, parse
 */
void predictor_keep_distinct(const struct predictor *p, strings *targets);

/* Sorts the targets by their gains (by e->metric), largest first, keeps the first k (0: all), and chooses the best. */
void predictions_rank(struct experiments *e, size_t k);

#endif
