/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refine_cost.c - learns the cost of a probe from the runs.
 *
 * At first it is a fixed estimate: the cost of two time stamps and a record alone.  In a program that fills the
 * caches, on busy cores, it is more.  The mean latency is about base + c N, with N probes an interval:
 *
 *	run 1	N 17,500	mean 1.40 ms
 *	run 2	N 500		mean 0.46 ms		c = 0.94 ms / 17,000 = 55 ns
 *
 * This is used if the difference in N is worth a tenth of the mean at the estimated cost, and the difference of the
 * means is significant (4 standard errors, since intervals are not independent).  The load may have changed in
 * between, so c stays between the estimate and four times that.  If a lot decided which intervals of a run were
 * recorded in full (struct probing), comparing the two kinds is better.
 *
 * A dormant probe counts as dormant_ns / probe_ns of one, and so does a probe in a root-only interval.  With one
 * interval in four in full, 100 calls count as 100 x (1 + 3 / 34) / 4 = 27 on average.
 *
 * All of this refers to the time outside the queue.  Where one thread works for all in turn, an interval also waits
 * for the probes of those before it: of 150 us, 120 of them in the queue, 1.5 us of probes are not 1 % but 5, of its
 * own 30 us and of the others' that it waits for.
 *
 * Probes that are cheap for the mean may be expensive for the variance.  A SORT that comes once in 3,000 requests,
 * 300,000 comparisons of 17 ns with as much for a probe: 100 probes a request are 1.7 us of 110, 1.5 %, but the SORT
 * takes twice as long, and it is the variance.  So a function's probes are also charged its part of the variance,
 * times the probes' part of its time (all of it for the comparison); the sum may be `overhead` as well.
 */
#include "analysis/refine/refine_state.h"

#include <math.h>
#include "base/banned.h"

#define WORTH_COMPARING 0.1
#define STANDARD_ERRORS 4
#define TIMES_MOST 4
#define QUEUE_MOST 0.99

/* Probes an interval on its critical path, on average over those in full and those that are not. */
static double count_probes(const struct refinement *r)
{
	double dormant = r->options.dormant_ns / r->options.probe_ns, cnt = 0;

	for (size_t i = 0; i < r->state->p->function_cnt; i++) {
		double calls = fmax(r->state->calls[i], 0);

		if (r->levels[i] == REFINE_DORMANT)
			cnt += calls * dormant;
		else if (r->levels[i] == REFINE_IN_INTERVALS)
			cnt += calls * (dormant + (1 - dormant) / r->gate);
		else if (r->levels[i] == REFINE_ALWAYS)
			cnt += calls;
	}
	return cnt;
}

/* Probes that record nothing in a root-only interval; being dormant there costs 3 % of a probe. */
static double count_difference(const struct refinement *r)
{
	double cnt = 0;

	for (size_t i = 0; i < r->state->p->function_cnt; i++)
		if (r->levels[i] == REFINE_IN_INTERVALS)
			cnt += fmax(r->state->calls[i], 0);
	return cnt;
}

static void believe(struct refinement *r, double probe_ns)
{
	r->probe_ns = fmin(fmax(probe_ns, r->options.probe_ns),
			   TIMES_MOST * r->options.probe_ns);
}

static void compare_runs(struct refinement *r, const struct interval_summary *now, double mean_ns,
			 double probes)
{
	const struct refine_run *before = &r->state->before;
	double more = probes - before->probes, longer_ns = mean_ns - before->mean_ns;
	double error = 0;

	if (before->cnt == 0 || now->cnt == 0 ||
	    fabs(more) * r->options.probe_ns < WORTH_COMPARING * fmin(mean_ns, before->mean_ns))
		return;
	error = sqrt(now->variance_ns2 / (double)now->cnt +
		     before->variance_ns2 / (double)before->cnt);
	if (fabs(longer_ns) > STANDARD_ERRORS * error && longer_ns / more > 0)
		believe(r, longer_ns / more);
}

/* The fraction of the mean latency in which the interval's thread worked for others or for none. */
static double queue_part(const struct findings *f)
{
	double queue_ns = 0;

	for (size_t i = 1; i < f->nodes.cnt; i++)
		if (refine_is_queue(&f->nodes.items[i]))
			queue_ns += f->nodes.items[i].mean_ns;
	return f->interval.mean_ns > 0 ? fmin(queue_ns / f->interval.mean_ns, QUEUE_MOST) : 0;
}

/* If few intervals are in full, the mean of all; else of those in full, which is nearly the same. */
static double mean_of_run(const struct refinement *r, const struct findings *f)
{
	double full = (double)f->interval.cnt, root = (double)f->probing.root_only_cnt;

	if (r->gate == 1 || full + root == 0)
		return f->interval.mean_ns;
	return (full * f->interval.mean_ns + root * f->probing.root_only_mean_ns) / (full + root);
}

/* Time of a function: in itself, and in which others were in the queue for it. */
struct spent {
	double share, mean_ns, calls;
};

static struct spent *sum_nodes(const struct refine_state *s, const struct findings *f)
{
	struct spent *spent = xcalloc(s->p->function_cnt + 1, sizeof(*spent));

	for (size_t i = 1; i < f->nodes.cnt; i++) {
		const struct node *n = &f->nodes.items[i];
		bool queue = n->kind == NODE_BLAME && refine_is_queue(&f->nodes.items[n->parent]);
		uint32_t at = refine_find(s, n->function, n->file, n->line);

		if (at == FUNCTION_NONE || (!queue && n->kind != NODE_FUNCTION))
			continue;
		if (queue && n->is_wait)
			continue;	/* it was blocked, which probes did not prolong */
		spent[at].share += fmax(n->share, 0);
		if (queue)
			continue;
		spent[at].mean_ns += n->mean_ns;
		spent[at].calls += n->calls_per_interval;
	}
	return spent;
}

/* Kept for later runs: a function left out because of this would come back otherwise. */
static double learn_share_costs(struct refinement *r, const struct findings *f)
{
	struct spent *spent = sum_nodes(r->state, f);
	double sum = 0;

	for (size_t i = 0; i < r->state->p->function_cnt; i++) {
		double probes_ns = spent[i].calls * r->probe_ns;

		if (r->levels[i] < REFINE_IN_INTERVALS || !(spent[i].mean_ns > 0))
			continue;
		r->state->share_cost[i] = spent[i].share * fmin(probes_ns / spent[i].mean_ns, 1);
		sum += r->state->share_cost[i];
	}
	free(spent);
	return sum;
}

void refine_learn_cost(struct refinement *r, const struct findings *f)
{
	double probes = count_probes(r), difference = count_difference(r);
	double mean_ns, cost_ns;

	r->queue = queue_part(f);
	mean_ns = mean_of_run(r, f) * (1 - r->queue);
	if (f->probing.measured && f->probing.mean_low > 0 && difference > 0)
		believe(r, (f->interval.mean_ns - f->probing.root_only_mean_ns) / difference);
	else if (r->gate == 1)
		compare_runs(r, &f->interval, mean_ns, probes);
	r->state->before = (struct refine_run){ r->gate == 1 ? f->interval.cnt : 0, probes, mean_ns,
						f->interval.variance_ns2 };
	cost_ns = probes * r->probe_ns;
	r->cost = mean_ns > 0 ? cost_ns / mean_ns : 0;
	/* At least half of the latency is the program's own, however expensive the probes seem. */
	r->state->mean_ns = mean_ns - fmin(cost_ns, mean_ns / 2);
	r->state->share_of_probes = learn_share_costs(r, f);
}
