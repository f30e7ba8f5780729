/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mixture.c - one kind of latency, or several?
 *
 * Hits and misses of a cache, reads and writes under one name: variance is then mostly between kinds, and what makes
 * a read vary is hidden.  Log latencies are fitted by one distribution, the likeliest of normal and uniform, and by
 * 2, 3 and 4 normal ones (expectation and maximization over a histogram).  If the run drifts, each is taken less the
 * median of its 64th of the run, because a drift is not a population.  There are k populations if k normal
 * distributions are likelier than fewer by more than 10 of the Bayesian criterion, each has a twentieth or more, and
 * any two neighbours are apart: by more than 2 as Ashman measures it,
 *
 *	D = sqrt 2 |m1 - m2| / sqrt(s1^2 + s2^2)
 *
 * and with a gap between them: the fit's lowest point is at most .8 of either centre, and fewer latencies lie around
 * it, by a standard error or more.  Several normal distributions also fit a hill with a flat top, which has no gap.
 * The largest such k counts.  Example: centres log 1 ms and log 3 ms, both of sd .3: D = 1.1 / .3 = 3.7.
 */
#include "analysis/stats/latency_checks.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/banned.h"

#define BLOCKS 64
#define BINS 512
#define ROUNDS 500			/* for two; more, which begin from a fit of fewer, get a third of that */
#define MOVED_MIN 1e-3			/* bins in a round */
#define BETTER_MIN 10			/* of the Bayesian information criterion */
#define DISTANCE_MIN 2
#define WEIGHT_MIN 0.05
#define GAP_MOST 0.8			/* relative to the lower centre, as fitted */

struct normal {
	double weight, mean, variance;
};

struct histogram {
	double first, width;		/* of the bins' centres */
	double counts[BINS];
	double n;
};

static double median_of(const double *values, size_t cnt)
{
	_cleanup_(freep) double *mixed = xcalloc(cnt + 1, sizeof(*mixed));

	memcpy(mixed, values, cnt * sizeof(*mixed));
	return gsl_stats_median(mixed, 1, cnt);
}

static double *logs_of(const int64_t *latencies_ns, size_t cnt)
{
	double *logs = xcalloc(cnt, sizeof(*logs));

	for (size_t i = 0; i < cnt; i++)
		logs[i] = log(fmax((double)latencies_ns[i], 1));
	return logs;
}

/* Less their block's median, and the median of all added again. */
static void level_blocks(double *logs, size_t cnt)
{
	double median = median_of(logs, cnt);

	for (size_t b = 0; b < BLOCKS; b++) {
		size_t first = cnt * b / BLOCKS, end = cnt * (b + 1) / BLOCKS;
		double level = median_of(logs + first, end - first) - median;

		for (size_t i = first; i < end; i++)
			logs[i] -= level;
	}
}

/* Weighted, but counts as no more evidence than values. */
static void fill_histogram(struct histogram *h, const double *values, const uint32_t *copies, size_t cnt)
{
	double low = values[0], high = values[0], all = 0;

	memset(h, 0, sizeof(*h));
	for (size_t i = 1; i < cnt; i++) {
		low = fmin(low, values[i]);
		high = fmax(high, values[i]);
	}
	h->width = fmax((high - low) / (BINS - 1), 1e-6);
	h->first = low;
	h->n = (double)cnt;
	for (size_t i = 0; i < cnt; i++)
		all += copies ? copies[i] : 1;
	for (size_t i = 0; i < cnt; i++)
		h->counts[(size_t)((values[i] - low) / h->width + 0.5)] +=
			(copies ? copies[i] : 1) * (double)cnt / all;
}

static double centre_of(const struct histogram *h, size_t bin)
{
	return h->first + (double)bin * h->width;
}

static double density(const struct normal *p, double x)
{
	return p->weight / sqrt(2 * 3.14159265358979323846 * p->variance) *
	       exp(-(x - p->mean) * (x - p->mean) / (2 * p->variance));
}

static struct normal moments_of(const struct histogram *h)
{
	struct normal p = { 1, 0, 0 };

	for (size_t b = 0; b < BINS; b++)
		p.mean += h->counts[b] * centre_of(h, b) / h->n;
	for (size_t b = 0; b < BINS; b++)
		p.variance += h->counts[b] * pow(centre_of(h, b) - p.mean, 2) / h->n;
	p.variance = fmax(p.variance, h->width * h->width);
	return p;
}

static double log_likelihood(const struct histogram *h, const struct normal *p, size_t cnt)
{
	double sum = 0;

	for (size_t b = 0; b < BINS; b++) {
		double all = 0;

		for (size_t k = 0; k < cnt; k++)
			all += density(&p[k], centre_of(h, b));
		if (h->counts[b] > 0)
			sum += h->counts[b] * log(fmax(all, 1e-300));
	}
	return sum;
}

/* Likelihood of latencies that are uniform, or whose logarithms are: two normal distributions fit those better than
 * one, but not better than this. */
static double uniform_likelihood(const struct histogram *h)
{
	double last = centre_of(h, BINS - 1), of_logs = h->n * log(1 / (last - h->first + h->width)), sum = 0;

	for (size_t b = 0; b < BINS; b++)
		sum += h->counts[b] * (centre_of(h, b) - last);
	sum -= h->n * log(1 - exp(h->first - last - h->width));
	return fmax(of_logs, sum);
}

/* One round; p becomes more likely.  False: it no longer moved. */
static bool improve(const struct histogram *h, struct normal *p, size_t cnt)
{
	double weights[MIXTURE_MAX] = { 0 }, sums[MIXTURE_MAX] = { 0 }, squares[MIXTURE_MAX] = { 0 };
	bool moved = false;

	for (size_t b = 0; b < BINS; b++) {
		double x = centre_of(h, b), part[MIXTURE_MAX], all = 0;

		if (h->counts[b] == 0)
			continue;
		for (size_t k = 0; k < cnt; k++) {
			part[k] = density(&p[k], x);
			all += part[k];
		}
		if (!(all > 0))
			continue;
		for (size_t k = 0; k < cnt; k++) {
			double counted = h->counts[b] * part[k] / all;

			weights[k] += counted;
			sums[k] += counted * x;
			squares[k] += counted * x * x;
		}
	}
	for (size_t k = 0; k < cnt; k++) {
		double before = p[k].mean;

		if (!(weights[k] > 0))
			continue;
		p[k].weight = weights[k] / h->n;
		p[k].mean = sums[k] / weights[k];
		moved |= fabs(p[k].mean - before) > h->width * MOVED_MIN;
		p[k].variance = fmax(squares[k] / weights[k] - p[k].mean * p[k].mean, h->width * h->width);
	}
	return moved;
}

static int by_mean(const void *a, const void *b)
{
	const struct normal *x = a, *y = b;

	return (x->mean > y->mean) - (x->mean < y->mean);
}

/* From these starts; best: the likeliest so far, in order of their means. */
static void try_fit(const struct histogram *h, const struct normal *start, size_t cnt, struct normal *best, double *likely)
{
	struct normal p[MIXTURE_MAX];
	double found;

	memcpy(p, start, cnt * sizeof(*p));
	for (int round = 0; round < (cnt > 2 ? ROUNDS / 3 : ROUNDS) && improve(h, p, cnt); round++)
		;
	found = log_likelihood(h, p, cnt);
	if (!(found > *likely))
		return;
	*likely = found;
	qsort(p, cnt, sizeof(*p), by_mean);
	memcpy(best, p, cnt * sizeof(*p));
}

/* From two starts: halves, and a slow tenth. */
static double fit_two(const struct histogram *h, const struct normal *one, struct normal ret[MIXTURE_MAX])
{
	static const double slow[] = { 0.5, 0.1 };
	double best = -INFINITY, sd = sqrt(one->variance);

	for (size_t i = 0; i < ARRAY_SIZE(slow); i++) {
		struct normal p[2] = { { 1 - slow[i], one->mean - sd * slow[i], one->variance / 2 },
				       { slow[i], one->mean + sd * (1.5 - slow[i]), one->variance / 2 } };

		try_fit(h, p, 2, ret, &best);
	}
	return best;
}

/* Starts from fits of one fewer, each component divided in turn. */
static double fit_more(const struct histogram *h, const struct normal *fewer, size_t cnt, struct normal ret[MIXTURE_MAX])
{
	double best = -INFINITY;

	for (size_t i = 0; i + 1 < cnt; i++) {
		struct normal p[MIXTURE_MAX];
		double sd = sqrt(fewer[i].variance);

		memcpy(p, fewer, (cnt - 1) * sizeof(*p));
		p[i] = (struct normal){ fewer[i].weight / 2, fewer[i].mean - sd, fewer[i].variance / 4 };
		p[cnt - 1] = (struct normal){ fewer[i].weight / 2, fewer[i].mean + sd, fewer[i].variance / 4 };
		try_fit(h, p, cnt, ret, &best);
	}
	return best;
}

/* Number of values within an eighth of the centres' distance of x. */
static double count_around(const struct histogram *h, double x, double distance)
{
	double sum = 0;

	for (size_t b = 0; b < BINS; b++)
		if (fabs(centre_of(h, b) - x) <= distance / 8)
			sum += h->counts[b];
	return sum;
}

static double density_of_all(const struct normal *p, size_t cnt, double x)
{
	double all = 0;

	for (size_t k = 0; k < cnt; k++)
		all += density(&p[k], x);
	return all;
}

/* Whether there is a gap between p[i] and p[i + 1]. */
static bool has_gap(const struct histogram *h, const struct normal *p, size_t cnt, size_t i)
{
	const struct normal *fast = &p[i], *slow = &p[i + 1];
	double distance = slow->mean - fast->mean, lowest = INFINITY, at = 0, centre, counted;

	for (size_t b = 0; b < BINS; b++) {
		double x = centre_of(h, b), all;

		if (x <= fast->mean || x >= slow->mean)
			continue;
		all = density_of_all(p, cnt, x);
		if (all >= lowest)
			continue;
		lowest = all;
		at = x;
	}
	centre = fmin(density_of_all(p, cnt, fast->mean), density_of_all(p, cnt, slow->mean));
	counted = fmin(count_around(h, fast->mean, distance), count_around(h, slow->mean, distance));
	return lowest < GAP_MOST * centre && count_around(h, at, distance) < counted - sqrt(counted);
}

static bool are_apart(const struct histogram *h, const struct normal *p, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (p[i].weight < WEIGHT_MIN)
			return false;
	for (size_t i = 0; i + 1 < cnt; i++) {
		double sum = p[i].variance + p[i + 1].variance;

		if (!(sqrt(2) * (p[i + 1].mean - p[i].mean) > DISTANCE_MIN * sqrt(sum)) || !has_gap(h, p, cnt, i))
			return false;
	}
	return true;
}

static void set_populations(struct mixture *m, const struct normal *p, size_t cnt)
{
	m->cnt = cnt;
	for (size_t i = 0; i < cnt; i++) {
		m->weight[i] = p[i].weight;
		m->centre_ns[i] = exp(p[i].mean);
	}
}

struct mixture mixture_of(const int64_t *latencies_ns, const uint32_t *copies, size_t cnt, bool level)
{
	struct mixture m = { .cnt = 1 };
	_cleanup_(freep) double *logs = NULL;
	struct histogram h;
	struct normal one, fewer[MIXTURE_MAX], p[MIXTURE_MAX];
	double likely, likely_normal;
	size_t base = 1;		/* number of fits as likely as that */

	if (cnt < SERIES_MIN)
		return m;
	logs = logs_of(latencies_ns, cnt);
	if (level)
		level_blocks(logs, cnt);
	fill_histogram(&h, logs, copies, cnt);
	one = moments_of(&h);
	set_populations(&m, &one, 1);
	likely_normal = log_likelihood(&h, &one, 1);
	likely = fmax(likely_normal, uniform_likelihood(&h));
	for (size_t k = 2; k <= MIXTURE_MAX; k++) {
		double found = k == 2 ? fit_two(&h, &one, p) : fit_more(&h, fewer, k, p);

		memcpy(fewer, p, k * sizeof(*p));
		if (2 * (found - likely_normal) - 3 * log(h.n) <= BETTER_MIN)
			break;			/* one hill: there is nothing to find */
		if (2 * (found - likely) - 3 * (double)(k - base) * log(h.n) <= BETTER_MIN)
			continue;
		if (are_apart(&h, p, k))
			set_populations(&m, p, k);
		likely = found;
		base = k;
	}
	return m;
}
