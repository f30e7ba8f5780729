/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sampled.h - of which functions there are samples enough to say their share.
 *
 * Private to analysis/.  A share that rests on samples is sum (T - mean T) over them, so a few in very long requests may decide it.
 * As many equal ones would be as uncertain as
 *
 *	(sum d^2)^2 / sum d^4,  d = T - mean T of the sample's request
 *
 * Below SAMPLED_LEAST of these no share is reported: the samples go to the function that called it, and if that has too few as well,
 * in the end they are what they were without samples, running time in no function.
 */
#ifndef ANALYSIS_PASS_SAMPLED_H
#define ANALYSIS_PASS_SAMPLED_H

#include "analysis/tree/moments.h"
#include "analysis/tree/rows.h"
#include "analysis/tree/variance_tree.h"

#define SAMPLED_LEAST 200

/* No more rows come, and the sums are complete; replaces both where samples moved.  Fills v->sample_cnt, if there are any. */
void sampled_settle(struct vtree *v, struct moments **m, struct rows **rows, int64_t period_ns);

#endif
