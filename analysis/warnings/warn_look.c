/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * warn_look.c - what to keep in mind where intervals are requests on sockets (struct look).
 */
#include <inttypes.h>
#include "analysis/pass/sampled.h"
#include "analysis/warnings/warnings.h"
#include "base/banned.h"

#define SEVERAL_SHARE 0.05
#define UNSOLICITED_SHARE 0.05
#define PARKED_SHARE 0.20
#define UNNAMED_SHARE 0.25
#define SAMPLE_COST_SHARE 0.02
#define SAMPLE_COST_USUAL_NS 30e3

static void warn_parked(const struct analysis *a)
{
	double share = 0;

	for (size_t i = 0; i < a->f->nodes.cnt; i++)
		if (a->f->nodes.items[i].kind == NODE_WAIT && a->f->nodes.items[i].wait == STATE_PARKED)
			share += a->f->nodes.items[i].share;
	if (share > PARKED_SHARE)
		findings_warn(a->f, "parked",
			      "%.0f %% of the variance is time in which no thread here had the request: another server, a timer or the "
			      "client had it, and this run does not say why that took so long; look at the process behind",
			      100 * share);
}

/* Slow requests had more samples, which made them slower: up to c E[X] / Var(T) of a share, of which most is taken off. */
static void warn_sample_cost(const struct analysis *a)
{
	double worst = 0, cost_ns = (double)a->t->look.sample_cost_ns;
	const struct node *most = NULL;

	for (size_t i = 0; i < a->f->nodes.cnt; i++) {
		const struct node *n = &a->f->nodes.items[i];
		double share = a->variance_ns2 > 0 ? (cost_ns > 0 ? cost_ns : SAMPLE_COST_USUAL_NS) * n->mean_ns / a->variance_ns2 : 0;

		if (n->samples && n->function && share > worst) {
			worst = share;
			most = n;
		}
	}
	if (!most || worst <= SAMPLE_COST_SHARE)
		return;
	if (cost_ns > 0)
		findings_warn(a->f, "sample-cost",
			      "a sample makes a request %.0f us longer; that is taken off, but it would be %.0f points of the share of %s, and "
			      "some of them may be left: look longer with fewer samples (--samples 250)", cost_ns / 1e3, 100 * worst, most->function);
	else
		findings_warn(a->f, "sample-cost",
			      "what a sample takes could not be measured, and nothing is taken off: shares of running functions may be too "
			      "large, that of %s by %.0f points or so; look again on a quieter machine", most->function, 100 * worst);
}

/* There are samples, and too few to report anything. */
static void warn_few_samples(const struct analysis *a)
{
	if (!a->t->look.sample_ns)
		return;
	for (size_t i = 0; i < a->f->nodes.cnt; i++)
		if (a->f->nodes.items[i].samples)
			return;
	findings_warn(a->f, "few-samples",
		      "running time is in no function: the %" PRIu64 " samples in requests count as %" PRIu64 " equal ones, because few requests "
		      "carry the variance, and fewer than %d give no function's share; look longer (--duration 60s)",
		      a->f->samples, a->f->effective_samples, SAMPLED_LEAST);
}

static void warn_unnamed(const struct analysis *a)
{
	const struct look *k = &a->t->look;

	if (!k->unnamed_file || (double)k->unnamed_stacks <= UNNAMED_SHARE * (double)k->stacks)
		return;
	findings_warn(a->f, "unnamed-frames",
		      "in %.0f %% of the stacks of threads that had a request the innermost function has no name, mostly in %s: their time is that "
		      "of the function with a name around it; install its debug symbols (Debian: PACKAGE-dbgsym, or DEBUGINFOD_URLS)",
		      100 * (double)k->unnamed_stacks / (double)k->stacks, k->unnamed_file);
}

void warn_look(const struct analysis *a)
{
	const struct look *k = &a->t->look;
	uint64_t sends = k->answers + k->unsolicited;

	if (!k->is_one)
		return;
	if (k->answers && (double)k->several > SEVERAL_SHARE * (double)k->answers)
		findings_warn(a->f, "burst",
			      "%" PRIu64 " of %" PRIu64 " exchanges hold several requests (pipelining, HTTP/2): each is one interval, and "
			      "its latency is the burst's; a load that waits for each answer tells them apart", k->several, k->answers);
	if (sends && (double)k->unsolicited > UNSOLICITED_SHARE * (double)sends)
		findings_warn(a->f, "unsolicited",
			      "%.0f %% of the sends answer no request: the figures are of the others alone",
			      100 * (double)k->unsolicited / (double)sends);
	warn_parked(a);
	warn_sample_cost(a);
	warn_unnamed(a);
	warn_few_samples(a);
}
