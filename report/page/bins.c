/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bins.c - the positions at which the page's brush on the latencies can stand.
 *
 * There are about a hundred steps from the smallest to the largest latency, equal on the scale of the figure, and the percentiles
 * between them.  The page has the sums over each bin, so it compares any selection exactly, however many intervals there are.
 *
 *	latencies 100 ns to 1 s, p50 2 us: edges 100, 114, ..., 1920, 2000, 2001, 2196, ..., and a bin's last latency is the next edge - 1
 */
#include <math.h>
#include <stdlib.h>

#include "base/banned.h"
#include "base/order.h"
#include "report/page/bins.h"

#define STEPS 120

bool page_scale_is_log(const struct findings *f)
{
	return f->interval.min_ns < 1 || f->interval.max_ns / 10 >= f->interval.min_ns;
}

static int64_t step(const struct findings *f, unsigned i)
{
	int64_t min_ns = f->interval.min_ns, max_ns = f->interval.max_ns;
	double from = min_ns > 1 ? (double)min_ns : 1, part = (double)i / STEPS;

	if (i == 0)
		return min_ns;
	if (page_scale_is_log(f))
		return (int64_t)(from * pow((double)max_ns / from, part));
	return min_ns + (int64_t)((double)(max_ns - min_ns) * part);
}

static size_t without_doubles(int64_t *list, size_t cnt)
{
	size_t kept = 0;

	if (cnt)
		qsort(list, cnt, sizeof(*list), compare_int64);
	for (size_t i = 0; i < cnt; i++)
		if (!kept || list[kept - 1] != list[i])
			list[kept++] = list[i];
	return kept;
}

size_t page_steps(const struct findings *f, int64_t **ret)
{
	int64_t *list = *ret = xcalloc(STEPS + 1, sizeof(*list));

	if (!f->interval.cnt)
		return 0;
	for (unsigned i = 0; i < STEPS; i++)
		list[i] = step(f, i);
	return without_doubles(list, STEPS);
}

/* A percentile begins a bin (p99 and above) or ends one (the median and below). */
size_t page_edges(const struct findings *f, int64_t **ret)
{
	_cleanup_(freep) int64_t *steps = NULL;
	size_t step_cnt = page_steps(f, &steps), cnt = 0;
	int64_t *list = *ret = xcalloc(step_cnt + 8, sizeof(*list));
	const int64_t more[] = {
		f->interval.p50_ns, f->tail.fast_to_ns + 1, f->interval.p90_ns, f->interval.p99_ns, f->tail.from_ns,
	};

	for (size_t i = 0; i < step_cnt; i++)
		list[cnt++] = steps[i];
	for (size_t i = 0; step_cnt && i < ARRAY_SIZE(more); i++)
		if (more[i] > f->interval.min_ns && more[i] <= f->interval.max_ns)
			list[cnt++] = more[i];
	return without_doubles(list, cnt);
}
