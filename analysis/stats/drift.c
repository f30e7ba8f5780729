/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * drift.c - tests whether latencies change in the course of the run, more than the likeness of neighbours explains.
 *
 * KPSS: with r the ranks of the latencies around their mean and S(t) their running sum,
 *
 *	kpss = sum S(t)^2 / (n^2 s^2)		s^2 = g(0) + 2 sum over l of (1 - l / (L + 1)) g(l)
 *
 * g(l): their autocovariance; L = max(30, 12 (n / 100)^(1/4)) lags, so that neighbours that are alike do not count as
 * a drift.  Above .739 it is one chance in a hundred.  Ranks, so that one stall is no drift.  Example, L = 0, T = 1,
 * 2, 3, 4: r = -1.5, -.5, .5, 1.5, S = -1.5, -2, -1.5, 0, sum 8.5, s^2 = 5/4: 8.5 / (16 * 1.25) = .425.
 *
 * Its form: does a straight line explain more of the means of the 64ths, or one stretch that differs from
 * the rest?  Example, means 1, 1, 4, 4, 1, 1, 1, 1: the stretch of the third and fourth explains all, a line little.
 *
 * Whether it matters: the part of the variance that is between 64ths of the run, less the part expected by chance.
 */
#include "analysis/stats/latency_checks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sort.h"
#include "base/banned.h"

#define KPSS_ONE_PERCENT 0.739
#define BETWEEN_MIN 0.05
#define BLOCKS 64
#define LAGS_AT_ONCE 4

/* Ranks around their mean; equal latencies share the middle one of theirs. */
static double *ranks_of(const int64_t *latencies_ns, size_t cnt)
{
	_cleanup_(freep) uint32_t *order = xcalloc(cnt, sizeof(*order));
	double *ranks = xcalloc(cnt, sizeof(*ranks)), mean = ((double)cnt - 1) / 2;

	sort_order(latencies_ns, cnt, order);
	for (size_t first = 0, end; first < cnt; first = end) {
		for (end = first + 1; end < cnt; end++)
			if (latencies_ns[order[end]] != latencies_ns[order[first]])
				break;
		for (size_t i = first; i < end; i++)
			ranks[order[i]] = (double)(first + end - 1) / 2 - mean;
	}
	return ranks;
}

/* Several lags at once: the additions of one sum wait for each other, those of different lags do not.  Each sum keeps
 * its own order. */
static void add_products(const double *ranks, size_t cnt, size_t first_lag, double ret[LAGS_AT_ONCE])
{
	double sums[LAGS_AT_ONCE] = { 0 };
	size_t all = first_lag + LAGS_AT_ONCE - 1, i = first_lag;

	for (; i < all && i < cnt; i++)
		for (size_t k = 0; first_lag + k <= i; k++)
			sums[k] += ranks[i] * ranks[i - first_lag - k];
	for (; i < cnt; i++)
		for (size_t k = 0; k < LAGS_AT_ONCE; k++)
			sums[k] += ranks[i] * ranks[i - first_lag - k];
	memcpy(ret, sums, sizeof(sums));
}

static double long_run_variance(const double *ranks, size_t cnt)
{
	size_t lags = (size_t)fmax(30, 12 * pow((double)cnt / 100, 0.25));
	double sum = 0, products[LAGS_AT_ONCE];

	for (size_t l = 0; l <= lags && l < cnt; l++) {
		if (l % LAGS_AT_ONCE == 0)
			add_products(ranks, cnt, l, products);
		sum += (l ? 2 : 1) * (1 - (double)l / ((double)lags + 1)) * products[l % LAGS_AT_ONCE] / (double)cnt;
	}
	return sum;
}

static double kpss_of(const int64_t *latencies_ns, size_t cnt)
{
	_cleanup_(freep) double *ranks = ranks_of(latencies_ns, cnt);
	double variance = long_run_variance(ranks, cnt), sum = 0, squares = 0;

	for (size_t i = 0; i < cnt; i++) {
		sum += ranks[i];
		squares += sum * sum;
	}
	return variance > 0 ? squares / ((double)cnt * (double)cnt * variance) : 0;
}

static double mean_of(const int64_t *latencies_ns, size_t first, size_t end)
{
	double sum = 0;

	for (size_t i = first; i < end; i++)
		sum += (double)latencies_ns[i];
	return end > first ? sum / (double)(end - first) : 0;
}

/* Variance of the blocks' means, less the mean variance within a block divided by its size, relative to the whole. */
static double between_blocks(const int64_t *latencies_ns, size_t cnt)
{
	double mean = mean_of(latencies_ns, 0, cnt), between = 0, within = 0, size = (double)cnt / BLOCKS;

	for (size_t b = 0; b < BLOCKS; b++) {
		size_t first = cnt * b / BLOCKS, end = cnt * (b + 1) / BLOCKS;
		double block = mean_of(latencies_ns, first, end);

		between += (block - mean) * (block - mean) / BLOCKS;
		for (size_t i = first; i < end; i++)
			within += ((double)latencies_ns[i] - block) * ((double)latencies_ns[i] - block) / (double)cnt;
	}
	return between + within > 0 ? fmax(0, (between - within / size) / (between + within)) : 0;
}

/* Part of the means' sum of squares that a straight line explains. */
static double explained_by_line(const double means[BLOCKS], double mean, double squares)
{
	double xy = 0, xx = 0;

	for (size_t b = 0; b < BLOCKS; b++) {
		double x = (double)b - (BLOCKS - 1) / 2.0;

		xy += x * (means[b] - mean);
		xx += x * x;
	}
	return squares > 0 ? xy * xy / xx / squares : 0;
}

/* The stretch from..until that differs most from the rest; the part that it explains. */
static double find_stretch(const double means[BLOCKS], double mean, double squares, size_t *ret_from, size_t *ret_until)
{
	double most = 0;

	for (size_t from = 0; from < BLOCKS; from++) {
		double sum = 0;

		for (size_t until = from + 1; until <= BLOCKS && until - from < BLOCKS; until++) {
			double cnt = (double)(until - from), explained;

			sum += means[until - 1] - mean;
			explained = sum * sum / cnt + sum * sum / (BLOCKS - cnt);
			if (explained <= most)
				continue;
			most = explained;
			*ret_from = from;
			*ret_until = until;
		}
	}
	return squares > 0 ? most / squares : 0;
}

/* Names the levels of a run with two of them: decides which is the exception. */
static void name_levels(size_t *from, size_t *until, enum drift_shape *ret)
{
	if (*from == 0 && *until > BLOCKS / 2) {
		*from = *until;
		*until = BLOCKS;
	} else if (*until == BLOCKS && *from <= BLOCKS / 2) {
		*until = *from;
		*from = 0;
	}
	*ret = *from == 0 ? DRIFT_START : *until == BLOCKS ? DRIFT_LATER : DRIFT_MIDDLE;
}

static void find_shape(struct drift *d, const int64_t *latencies_ns, size_t cnt)
{
	double means[BLOCKS], mean = 0, squares = 0;
	size_t from = 0, until = 0, first, end;

	for (size_t b = 0; b < BLOCKS; b++) {
		means[b] = mean_of(latencies_ns, cnt * b / BLOCKS, cnt * (b + 1) / BLOCKS);
		mean += means[b] / BLOCKS;
	}
	for (size_t b = 0; b < BLOCKS; b++)
		squares += (means[b] - mean) * (means[b] - mean);
	d->shape = DRIFT_TREND;
	if (find_stretch(means, mean, squares, &from, &until) <= explained_by_line(means, mean, squares))
		return;
	name_levels(&from, &until, &d->shape);
	first = cnt * from / BLOCKS;
	end = cnt * until / BLOCKS;
	d->from = (double)from / BLOCKS;
	d->until = (double)until / BLOCKS;
	d->within_ns = mean_of(latencies_ns, first, end);
	d->outside_ns = (mean_of(latencies_ns, 0, first) * (double)first +
			 mean_of(latencies_ns, end, cnt) * (double)(cnt - end)) / (double)(cnt - (end - first));
}

struct drift drift_of(const int64_t *latencies_ns, size_t cnt)
{
	struct drift d = { 0 };

	if (cnt < SERIES_MIN)
		return d;
	d.kpss = kpss_of(latencies_ns, cnt);
	d.between = between_blocks(latencies_ns, cnt);
	d.first_ns = mean_of(latencies_ns, 0, cnt / 10);
	d.last_ns = mean_of(latencies_ns, cnt - cnt / 10, cnt);
	d.moves = d.kpss > KPSS_ONE_PERCENT;
	d.drifts = d.moves && d.between > BETWEEN_MIN;
	if (d.drifts)
		find_shape(&d, latencies_ns, cnt);
	return d;
}
