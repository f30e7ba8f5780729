/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mixture.c - one kind of latency or two?
 *
 * Hits and misses of a cache, reads and writes under one name: variance is then mostly between kinds, and
 * what makes a read vary is hidden.  Log latencies (where the run drifts, less the median of
 * their 64th of it, for a drift is no kind) are fitted by one distribution, the likeliest of normal and uniform, and by two normal
 * ones (expectation and maximization over a histogram); they are two if the Bayesian criterion says so by
 * more than 10, they are more than 2 apart as Ashman measures it,
 *
 *	D = sqrt 2 |m1 - m2| / sqrt(s1^2 + s2^2)
 *
 * each has a twentieth or more, and between them is a gap: the fit's lowest point is at most .8 of either
 * centre, and of the latencies there are fewer around it as well, by a standard
 * error or more.  Two normal distributions also fit a hill with a flat top, as the
 * sum of two even ones has, where there is none.  Example: centres log 1 ms and log 3 ms, both of sd .3: D = 1.1 / .3 = 3.7.
 */
#include "analysis/series.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/banned.h"

#define BLOCKS 64
#define BINS 512
#define ROUNDS 500
#define BETTER_MIN 10			/* of the Bayesian information criterion */
#define DISTANCE_MIN 2
#define WEIGHT_MIN 0.05
#define GAP_MOST 0.8			/* of the lower centre, as fitted */

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

/* Weighted, but of no more evidence than values. */
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

/* Of latencies that are uniform, or whose logarithms are: two normal ones beat one there, but not this. */
static double uniform_likelihood(const struct histogram *h)
{
	double last = centre_of(h, BINS - 1), of_logs = h->n * log(1 / (last - h->first + h->width)), sum = 0;

	for (size_t b = 0; b < BINS; b++)
		sum += h->counts[b] * (centre_of(h, b) - last);
	sum -= h->n * log(1 - exp(h->first - last - h->width));
	return fmax(of_logs, sum);
}

/* One round; p becomes more likely. */
static void improve(const struct histogram *h, struct normal p[2])
{
	double weights[2] = { 0 }, sums[2] = { 0 }, squares[2] = { 0 };

	for (size_t b = 0; b < BINS; b++) {
		double x = centre_of(h, b), first = density(&p[0], x), second = density(&p[1], x);
		double all = first + second, part[2];

		if (h->counts[b] == 0 || !(all > 0))
			continue;
		part[0] = h->counts[b] * first / all;
		part[1] = h->counts[b] * second / all;
		for (int k = 0; k < 2; k++) {
			weights[k] += part[k];
			sums[k] += part[k] * x;
			squares[k] += part[k] * x * x;
		}
	}
	for (int k = 0; k < 2; k++) {
		if (!(weights[k] > 0))
			continue;
		p[k].weight = weights[k] / h->n;
		p[k].mean = sums[k] / weights[k];
		p[k].variance = fmax(squares[k] / weights[k] - p[k].mean * p[k].mean, h->width * h->width);
	}
}

/* From two starts: halves, and a slow tenth. */
static double fit_two(const struct histogram *h, const struct normal *one, struct normal ret[2])
{
	static const double slow[] = { 0.5, 0.1 };
	double best = -INFINITY;

	for (size_t start = 0; start < ARRAY_SIZE(slow); start++) {
		double sd = sqrt(one->variance), likely;
		struct normal p[2] = { { 1 - slow[start], one->mean - sd * slow[start], one->variance / 2 },
				       { slow[start], one->mean + sd * (1.5 - slow[start]), one->variance / 2 } };

		for (int round = 0; round < ROUNDS; round++)
			improve(h, p);
		likely = log_likelihood(h, p, 2);
		if (likely > best) {
			best = likely;
			memcpy(ret, p, sizeof(p));
		}
	}
	return best;
}

/* Values within an eighth of the centres' distance of x. */
static double count_around(const struct histogram *h, double x, double distance)
{
	double sum = 0;

	for (size_t b = 0; b < BINS; b++)
		if (fabs(centre_of(h, b) - x) <= distance / 8)
			sum += h->counts[b];
	return sum;
}

static bool has_gap(const struct histogram *h, const struct normal *fast, const struct normal *slow)
{
	double distance = slow->mean - fast->mean, lowest = INFINITY, at = 0, centre, counted;

	for (size_t b = 0; b < BINS; b++) {
		double x = centre_of(h, b), all = density(fast, x) + density(slow, x);

		if (x <= fast->mean || x >= slow->mean || all >= lowest)
			continue;
		lowest = all;
		at = x;
	}
	centre = fmin(density(fast, fast->mean) + density(slow, fast->mean),
		      density(fast, slow->mean) + density(slow, slow->mean));
	counted = fmin(count_around(h, fast->mean, distance), count_around(h, slow->mean, distance));
	return lowest < GAP_MOST * centre && count_around(h, at, distance) < counted - sqrt(counted);
}

struct mixture mixture_of(const int64_t *latencies_ns, const uint32_t *copies, size_t cnt, bool level)
{
	struct mixture m = { 0 };
	_cleanup_(freep) double *logs = NULL;
	struct histogram h;
	struct normal one, two[2];
	double better, likely;
	int slow;

	if (cnt < SERIES_MIN)
		return m;
	logs = logs_of(latencies_ns, cnt);
	if (level)
		level_blocks(logs, cnt);
	fill_histogram(&h, logs, copies, cnt);
	one = moments_of(&h);
	likely = fmax(log_likelihood(&h, &one, 1), uniform_likelihood(&h));
	better = 2 * (fit_two(&h, &one, two) - likely) - 3 * log(h.n);
	slow = two[1].mean > two[0].mean;
	m.weight = two[slow].weight;
	m.fast_ns = exp(two[!slow].mean);
	m.slow_ns = exp(two[slow].mean);
	m.distance = sqrt(2) * fabs(two[1].mean - two[0].mean) / sqrt(two[0].variance + two[1].variance);
	m.two = better > BETTER_MIN && m.distance > DISTANCE_MIN && m.weight >= WEIGHT_MIN &&
		m.weight <= 1 - WEIGHT_MIN && has_gap(&h, &two[!slow], &two[slow]);
	return m;
}
