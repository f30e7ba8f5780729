/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_whole.c - checks the options of wait-graph, criticality and samples, and makes what they show.
 *
 * Example: "--group auto --threshold 0.3" is a wait-for graph with similar threads put together,
 * whose knots are trimmed of edges up to 30 % of the run.
 */
#include "cmd/show_whole.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

/* A fraction of the run, or its default. */
static int take_fraction(const char *name, double given, double normal, double *ret,
			 struct diag *reterr)
{
	*ret = isnan(given) ? normal : given;
	if (*ret >= 0)
		return 0;
	diag_set(reterr, EXIT_USAGE, -EINVAL, "--%s is a fraction of the run's length, not %g", name,
		 given);
	return diag_remedy(reterr, -EINVAL, "vprof show wait-graph --%s %g", name, normal);
}

static int make_wait_graph(struct trace *t, const struct whole_options *o, struct whole *ret,
			   struct diag *reterr)
{
	struct wait_graph_options w = {
		.group = strcmp(o->group, "none") != 0, .slow = o->slow, .quantile = o->quantile,
		.interval = o->interval,
	};
	int r = take_fraction("threshold", o->threshold, WAIT_THRESHOLD_DEFAULT, &w.threshold, reterr);

	if (r == 0)
		r = take_fraction("prefilter", o->prefilter, WAIT_PREFILTER_DEFAULT, &w.prefilter,
				  reterr);
	if (r < 0)
		return r;
	if (w.group && strcmp(o->group, "auto") != 0)
		return diag_set(reterr, EXIT_USAGE, -EINVAL, "--group is auto or none, not '%s'",
				o->group);
	r = wait_graph_new(t, &w, &ret->wait_graph);
	if (r == -ENODATA)
		return diag_set(reterr, EXIT_NO_EVIDENCE, r,
				"no interval completed: none is slow, none is typical");
	if (r < 0)
		return diag_set(reterr, EXIT_USAGE, r, "the run has no interval '%s'", o->interval);
	return 0;
}

static int make_samples(struct trace *t, const struct whole_options *o, struct whole *ret,
			struct diag *reterr)
{
	int64_t period_ns = SAMPLES_PERIOD_DEFAULT_NS;

	if (o->period) {
		char *end;

		errno = 0;
		period_ns = strtoll(o->period, &end, 10);
		if (errno || *end || end == o->period || period_ns <= 0) {
			diag_set(reterr, EXIT_USAGE, -EINVAL,
				 "--period is a number of nanoseconds above 0, not '%s'", o->period);
			return diag_remedy(reterr, -EINVAL, "vprof show samples --period 1000000");
		}
	}
	ret->samples = blocked_samples_new(t, period_ns);
	return 0;
}

int whole_make(enum view_needs needs, struct trace *t, const struct whole_options *o,
	       struct whole *ret, struct diag *reterr)
{
	switch (needs) {
	case NEEDS_WAIT_GRAPH:
		return make_wait_graph(t, o, ret, reterr);
	case NEEDS_CRITICALITY:
		if (o->nmin < 0)
			return diag_set(reterr, EXIT_USAGE, -EINVAL,
					"--nmin is a number of threads, not %g", o->nmin);
		ret->criticality = criticality_new(t, isnan(o->nmin) ? -1 : o->nmin);
		return 0;
	case NEEDS_SAMPLES:
		return make_samples(t, o, ret, reterr);
	default:
		return 0;
	}
}

void whole_release(struct whole *w)
{
	wait_graph_free(w->wait_graph);
	criticality_free(w->criticality);
	blocked_samples_free(w->samples);
}
