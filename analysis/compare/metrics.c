/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metrics.c - see metrics.h.
 *
 * The error of a figure within a run comes from sections: the run is cut into SECTIONS blocks with equal numbers of intervals, in
 * order of start, and the figure is computed for each block.  Intervals that are close in time, and so alike, share a block.
 */
#include "analysis/compare/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "base/order.h"

static const struct {
	const char *name;
	double quantile;		/* 0: none */
	size_t section_min;		/* intervals that a section needs */
} kinds[METRIC_CNT] = {
	[METRIC_MEAN] = { "mean", 0, 10 },
	[METRIC_P50] = { "p50", .5, 10 },
	[METRIC_P90] = { "p90", .9, 30 },
	[METRIC_P99] = { "p99", .99, 300 },
	[METRIC_P999] = { "p99.9", .999, 3000 },
	[METRIC_SD] = { "sd", 0, 30 },
	[METRIC_VAR] = { "var", 0, 30 },
};

const char *metric_name(enum metric m)
{
	return kinds[m].name;
}

bool metric_find(const char *name, enum metric *ret)
{
	for (unsigned m = 0; m < METRIC_CNT; m++)
		if (strcmp(kinds[m].name, name) == 0) {
			*ret = (enum metric)m;
			return true;
		}
	return false;
}

/* Computes the metrics; sorts latencies_ns, which may be in any order. */
static void metrics_of(int64_t *latencies_ns, size_t cnt, double ret[METRIC_CNT])
{
	double mean = 0, sum = 0;

	for (size_t i = 0; i < cnt; i++)
		mean += (double)latencies_ns[i] / (double)cnt;
	for (size_t i = 0; i < cnt; i++)
		sum += ((double)latencies_ns[i] - mean) * ((double)latencies_ns[i] - mean);
	qsort(latencies_ns, cnt, sizeof(*latencies_ns), compare_int64);
	for (unsigned m = 0; m < METRIC_CNT; m++)
		ret[m] = kinds[m].quantile > 0 ? (double)latencies_ns[nearest_rank(cnt, kinds[m].quantile)] : mean;
	ret[METRIC_VAR] = sum / (double)cnt;
	ret[METRIC_SD] = sqrt(ret[METRIC_VAR]);
}

static double log_se(const double sections[SECTIONS][METRIC_CNT], enum metric m)
{
	double mean = 0, sum = 0;

	for (size_t b = 0; b < SECTIONS; b++) {
		if (!(sections[b][m] > 0))
			return NAN;
		mean += log(sections[b][m]) / SECTIONS;
	}
	for (size_t b = 0; b < SECTIONS; b++)
		sum += pow(log(sections[b][m]) - mean, 2);
	return sqrt(sum / (SECTIONS - 1) / SECTIONS);
}

static void errors_within(int64_t *latencies_ns, size_t cnt, struct run_metrics *ret)
{
	double sections[SECTIONS][METRIC_CNT];

	if (cnt / SECTIONS < kinds[METRIC_MEAN].section_min)
		return;
	for (size_t b = 0; b < SECTIONS; b++) {
		size_t from = cnt * b / SECTIONS, to = cnt * (b + 1) / SECTIONS;

		metrics_of(latencies_ns + from, to - from, sections[b]);
	}
	for (unsigned m = 0; m < METRIC_CNT; m++)
		if (cnt / SECTIONS >= kinds[m].section_min)
			ret->log_se[m] = log_se((const double (*)[METRIC_CNT])sections, (enum metric)m);
}

/* The latencies of the intervals recorded in full, in order of start; the caller frees them. */
static int64_t *latencies_of(const struct findings *f, size_t *ret_cnt)
{
	int64_t *latencies_ns = xcalloc(f->intervals.cnt + 1, sizeof(*latencies_ns));

	*ret_cnt = 0;
	for (size_t i = 0; i < f->intervals.cnt; i++)
		if (!f->intervals.items[i].root_only)
			latencies_ns[(*ret_cnt)++] = f->intervals.items[i].end_ns - f->intervals.items[i].start_ns;
	return latencies_ns;
}

void run_metrics_of(const struct findings *f, struct run_metrics *ret)
{
	const struct interval_summary *iv = &f->interval;
	size_t cnt;
	_cleanup_(freep) int64_t *latencies_ns = latencies_of(f, &cnt);
	double all[METRIC_CNT];

	for (unsigned m = 0; m < METRIC_CNT; m++)
		ret->log_se[m] = NAN;
	ret->value[METRIC_MEAN] = iv->mean_ns;
	ret->value[METRIC_P50] = (double)iv->p50_ns;
	ret->value[METRIC_P90] = (double)iv->p90_ns;
	ret->value[METRIC_P99] = (double)iv->p99_ns;
	ret->value[METRIC_SD] = iv->stddev_ns;
	ret->value[METRIC_VAR] = iv->variance_ns2;
	ret->value[METRIC_P999] = NAN;
	if (!cnt || cnt != iv->cnt)	/* intervals stand for several, or single ones were not kept */
		return;
	errors_within(latencies_ns, cnt, ret);
	metrics_of(latencies_ns, cnt, all);
	ret->value[METRIC_P999] = all[METRIC_P999];
}
