/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_whole.h - what the views of a whole run are made from; they need no interval.
 */
#ifndef CMD_SHOW_WHOLE_H
#define CMD_SHOW_WHOLE_H

#include <math.h>

#include "base/diag.h"
#include "report/report.h"

struct whole_options {
	double threshold, prefilter;	/* NAN: the default */
	const char *group;		/* "auto" or "none" */
	bool slow;
	double quantile;
	const char *interval;
	double nmin;			/* NAN: the default */
	const char *period;		/* ns */
};

#define WHOLE_OPTIONS_INIT { .threshold = NAN, .prefilter = NAN, .group = "auto", .nmin = NAN }

struct whole {
	struct wait_graph *wait_graph;
	struct criticality *criticality;
	struct blocked_samples *samples;
};

/* Makes what the view needs of the run's trace, which must outlive it. */
int whole_make(enum view_needs needs, struct trace *t, const struct whole_options *o,
	       struct whole *ret, struct diag *reterr);
void whole_release(struct whole *w);

#endif
