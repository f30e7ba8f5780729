/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iteration.h - the output of `vprof iterate` for each run and at its end.
 *
 *	run 2/12  + parse_request, cache_get     2.9 s   1,500 intervals   probes 0.3 % of the latency
 *	  measured +0.4 % mean (95 % CI -0.2 % to +1.0 %), 1,406 intervals against 94 root-only
 *	  1. log_append           97.7 %  ███████████▊  → its callees next
 */
#ifndef REPORT_ITERATION_ITERATION_H
#define REPORT_ITERATION_ITERATION_H

#include "analysis/refine/refine.h"
#include "report/report.h"

struct round_unprobed {
	const char *function, *reason;
};

struct round {
	uint32_t number;		/* of this iteration, from 1 */
	const struct run *run;
	const struct findings *findings;
	const struct refinement *refinement;	/* its step was made */
	/* The plan the run had: */
	size_t recorded_cnt, dormant_cnt;
	uint32_t gate;			/* one interval in `gate` is recorded in full; 1: all but a few */
	strings added;			/* functions that the run before did not record; of these: */
	strings never_called;		/* in an interval */
	strings absent;			/* in none of the programs that ran */
	VEC(struct round_unprobed) unprobed;	/* their units were compiled untouched */
	double variance_before_ns2;	/* of the run before, 0 if there was none */
	bool goes_on;			/* there will be another run */
};

/* Var(T) now over Var(T) in the run before, minus 1; 0 for the first. */
double round_drift(const struct round *r);

void round_release(struct round *r);	/* of the lists */

void round_text(const struct style *s, const struct round *r);
json_t *round_json(const struct round *r);

/* Parts of these: what of the new functions was not recorded.  json: fills in the plan's lists. */
void round_missing_text(const struct style *s, const struct round *r);
void round_missing_json(json_t *plan, const struct round *r);

/* "culprit_a, culprit_b": the k first; the caller frees it. */
char *round_selected(const struct round *r, bool utf8);

/* "42 % of the variance is lock wait in foo_get of libfoo.so, of which vprof built nothing; ..."; "" if nothing is left.
 * The caller frees it. */
char *left_text(const struct refinement *r, const struct findings *f);
json_t *left_json(const struct refinement *r, const struct findings *f);

/* rounds: an array of round_json(); taken.  in: of the last run, may be NULL. */
json_t *iteration_json(const struct refinement *r, json_t *rounds, const char *stop,
		       const char *why, const struct view_input *in);

#endif
