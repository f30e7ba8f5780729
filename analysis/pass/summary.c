/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * summary.c - the interval in numbers.
 *
 * Quantiles are nearest rank: of 10, 20, 30, 40 the p50 is the ceil(.5 * 4) = 2nd, 20, and the
 * p99 the 4th, 40.  The variance has divisor n, as everywhere.
 */
#include "analysis/pass/summary.h"

#include <math.h>
#include <string.h>
#include "base/banned.h"
#include "base/order.h"
#include "base/sort.h"

static int64_t *sorted_ns(const int64_t *list, size_t cnt)
{
	_cleanup_(freep) uint32_t *order = xcalloc(cnt + 1, sizeof(*order));
	int64_t *sorted = xcalloc(cnt + 1, sizeof(*sorted));

	sort_order(list, cnt, order);
	for (size_t i = 0; i < cnt; i++)
		sorted[i] = list[order[i]];
	return sorted;
}

/* The ceil(q n)-th smallest of sorted[0 .. cnt - 1], cnt > 0. */
static int64_t quantile_ns(const int64_t *sorted, size_t cnt, double q)
{
	return sorted[nearest_rank(cnt, q)];
}

/* Where the tail begins, and how many rows it has. */
static struct tail_rows describe_tail(const struct analysis *a, const int64_t *sorted, double quantile)
{
	struct tail *tail = &a->f->tail;
	struct tail_rows rows = { 0 };
	__int128 sum = 0;

	tail->quantile = quantile;
	tail->from_ns = quantile_ns(sorted, a->m->n, quantile);
	for (size_t i = a->m->n; i > 0 && sorted[i - 1] >= tail->from_ns; i--) {
		rows.slow++;
		sum += sorted[i - 1];
	}
	tail->mean_ns = moments_mean(rows.slow, sum);
	tail->fast_to_ns = a->f->interval.p50_ns;
	sum = 0;
	for (size_t i = 0; i < a->m->n && sorted[i] <= tail->fast_to_ns; i++) {
		rows.fast++;
		sum += sorted[i];
	}
	tail->fast_mean_ns = moments_mean(rows.fast, sum);
	for (size_t i = 0; i < a->full->recorded_cnt; i++) {
		tail->cnt += a->full->of_recorded[i] >= tail->from_ns;
		tail->fast_cnt += a->full->of_recorded[i] <= tail->fast_to_ns;
	}
	return rows;
}

const struct pairing *pairing_of_interval(const struct analysis *a)
{
	for (uint32_t i = 0; i < a->t->interval_names.cnt; i++)
		if (a->f->interval.name && !strcmp(a->t->interval_names.items[i], a->f->interval.name))
			return trace_pairing(a->t, i);
	return NULL;
}

static void count_unpaired(const struct analysis *a)
{
	struct interval_summary *s = &a->f->interval;
	const struct pairing *p = pairing_of_interval(a);

	s->has_pairing = p;
	if (!p)
		return;
	s->nested = p->nested;
	s->unmatched_ends = p->unmatched_ends;
}

struct tail_rows summarize(const struct analysis *a, const struct counted_intervals *counted, double quantile)
{
	struct interval_summary *s = &a->f->interval;
	size_t cnt = a->m->n;
	_cleanup_(freep) int64_t *sorted = sorted_ns(a->full->of_row, cnt);

	s->cnt = a->full->recorded_cnt;
	s->dropped_open = counted->open;
	s->dropped_aborted = counted->aborted;
	s->dropped_bad_path = counted->bad_path;
	s->dropped_lost = counted->lost;
	count_unpaired(a);
	s->mean_ns = moments_mean(a->m->n, a->m->places.items[0].x);
	s->variance_ns2 = a->variance_ns2;
	s->stddev_ns = sqrt(a->variance_ns2);
	if (cnt == 0)
		return (struct tail_rows){ 0 };
	s->min_ns = sorted[0];
	s->p50_ns = quantile_ns(sorted, cnt, 0.5);
	s->p90_ns = quantile_ns(sorted, cnt, 0.9);
	s->p99_ns = quantile_ns(sorted, cnt, 0.99);
	s->max_ns = sorted[cnt - 1];
	return describe_tail(a, sorted, quantile);
}
