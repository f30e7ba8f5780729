/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_hgrm.c - `vprof export --format hgrm`: latencies by percentile, in ns, as HdrHistogram prints them.
 *
 *	       Value     Percentile TotalCount 1/(1-Percentile)
 *	  173054.000 0.500000000000        750           2.00
 *
 * Percentiles get closer as they approach 1: there are five for each halving of the distance.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/order.h"
#include "cmd/formats/export_format.h"
#include "cmd/formats/export_given.h"
#include "project/runs/digest_runs.h"

enum { TICKS = 5 };

/* The latencies behind the results, sorted; the caller frees them. */
static int64_t *sorted_latencies(const struct findings *f, size_t *ret_cnt)
{
	int64_t *list = xcalloc(f->intervals.cnt + 1, sizeof(*list));
	size_t cnt = 0;

	for (size_t i = 0; i < f->intervals.cnt; i++)
		if (!f->intervals.items[i].root_only)
			list[cnt++] = f->intervals.items[i].end_ns - f->intervals.items[i].start_ns;
	qsort(list, cnt, sizeof(*list), compare_int64);
	*ret_cnt = cnt;
	return list;
}

/* Prints the line of the count-th smallest latency and its equals; returns the number of latencies up to it. */
static size_t put_line(FILE *out, const int64_t *sorted, size_t cnt, double percentile)
{
	size_t rank = (size_t)ceil(percentile * (double)cnt - 1e-9), upto = rank ? rank : 1;

	while (upto < cnt && sorted[upto] == sorted[upto - 1])
		upto++;
	fprintf(out, "%12" PRId64 ".000 %14.12f %10zu", sorted[upto - 1], percentile, upto);
	if (percentile < 1)
		fprintf(out, " %14.2f", 1 / (1 - percentile));
	fputc('\n', out);
	return upto;
}

static int write_hgrm(FILE *out, const struct export_input *in)
{
	const struct interval_summary *iv = &in->findings->interval;
	size_t cnt, reached = 0;
	_cleanup_(freep) int64_t *sorted = sorted_latencies(in->findings, &cnt);

	fprintf(out, "%16s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
	for (double left = 1; cnt && reached < cnt && left > 1e-12; left /= 2)
		for (unsigned t = 0; t < TICKS && reached < cnt; t++)
			reached = put_line(out, sorted, cnt, 1 - left + left / 2 * t / TICKS);
	if (cnt)
		put_line(out, sorted, cnt, 1);
	fprintf(out, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", iv->mean_ns, iv->stddev_ns);
	fprintf(out, "#[Max     = %12.3f, Total count    = %12zu]\n", cnt ? (double)sorted[cnt - 1] : 0., cnt);
	fprintf(out, "#[Buckets = %12d, SubBuckets     = %12d]\n", 1, 1);
	return 0;
}

static int check(const struct export_input *in, struct diag *reterr)
{
	return in->is_digest ? run_digest_refuse(in->run, "export --format hgrm", reterr) : 0;
}

static const struct export_writer writer = { .check = check, .write = write_hgrm };

const struct export_format export_hgrm = {
	.name = "hgrm", .writer = &writer, .takes_interval = true,
};
