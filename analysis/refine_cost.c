/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refine_cost.c - what a probe costs, learnt from the runs.
 *
 * At first it is reckoned: what two time stamps and a record cost alone.  In a program that fills the
 * caches, on busy cores, it is more.  The mean latency is about base + c N, with N probes an interval:
 *
 *	run 1	N 17,500	mean 1.40 ms
 *	run 2	N 500		mean 0.46 ms		c = 0.94 ms / 17,000 = 55 ns
 *
 * This is believed where the difference in N is worth a tenth of the mean at the reckoned cost and that
 * of the means is no chance (4 standard errors, for intervals are not independent).  The load may have
 * changed in between, so c stays between the reckoned cost and four times that.  Where a lot decided
 * which intervals of a run were recorded in full (struct probing), the two kinds say it better.
 *
 * A dormant probe counts as dormant_ns / probe_ns of one.
 */
#include "analysis/refine_state.h"

#include <math.h>
#include "base/banned.h"

#define WORTH_COMPARING 0.1
#define STANDARD_ERRORS 4
#define TIMES_MOST 4

/* Probes an interval on its critical path. */
static double count_probes(const struct refinement *r)
{
	double dormant = r->options.dormant_ns / r->options.probe_ns, cnt = 0;

	for (size_t i = 0; i < r->state->p->function_cnt; i++)
		if (r->levels[i] != REFINE_OUT && r->state->calls[i] > 0)
			cnt += r->state->calls[i] * (r->levels[i] == REFINE_DORMANT ? dormant : 1);
	return cnt;
}

static void believe(struct refinement *r, double probe_ns)
{
	r->probe_ns = fmin(fmax(probe_ns, r->options.probe_ns),
			   TIMES_MOST * r->options.probe_ns);
}

static void compare_runs(struct refinement *r, const struct interval_summary *now, double probes)
{
	const struct refine_run *before = &r->state->before;
	double more = probes - before->probes, longer_ns = now->mean_ns - before->mean_ns;
	double error = 0;

	if (before->cnt == 0 || now->cnt == 0 ||
	    fabs(more) * r->options.probe_ns < WORTH_COMPARING * fmin(now->mean_ns, before->mean_ns))
		return;
	error = sqrt(now->variance_ns2 / (double)now->cnt +
		     before->variance_ns2 / (double)before->cnt);
	if (fabs(longer_ns) > STANDARD_ERRORS * error && longer_ns / more > 0)
		believe(r, longer_ns / more);
}

void refine_learn_cost(struct refinement *r, const struct findings *f)
{
	double probes = count_probes(r), cost_ns;

	if (f->probing.measured && f->probing.mean_low > 0 && probes > 0)
		believe(r, (f->interval.mean_ns - f->probing.root_only_mean_ns) / probes);
	else
		compare_runs(r, &f->interval, probes);
	r->state->before = (struct refine_run){ f->interval.cnt, probes, f->interval.mean_ns,
						f->interval.variance_ns2 };
	cost_ns = probes * r->probe_ns;
	r->cost = f->interval.mean_ns > 0 ? cost_ns / f->interval.mean_ns : 0;
	/* At least half of the latency is the program's own, whatever a probe is said to cost. */
	r->state->mean_ns = f->interval.mean_ns - fmin(cost_ns, f->interval.mean_ns / 2);
}
