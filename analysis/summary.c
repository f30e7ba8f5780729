/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * summary.c - the interval in numbers.
 *
 * Quantiles are nearest rank: of 10, 20, 30, 40 the p50 is the ceil(.5 * 4) = 2nd, 20, and the
 * p99 the 4th, 40.  The variance has divisor n, as everywhere.
 */
#include "analysis/passes.h"

#include <math.h>
#include "base/banned.h"
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

int64_t quantile_ns(const int64_t *sorted, size_t cnt, double q)
{
	double rank = ceil(q * (double)cnt - 1e-6);	/* .99 * 100 is 99.00000000000001 */

	return sorted[rank < 1 ? 0 : rank > (double)cnt ? cnt - 1 : (size_t)rank - 1];
}

/* Where it begins, and how much it holds. */
static void describe_tail(struct analysis *a, const int64_t *sorted)
{
	struct tail *tail = &a->f->tail;
	__int128 sum = 0;

	tail->quantile = a->quantile;
	tail->from_ns = quantile_ns(sorted, a->m->n, a->quantile);
	for (size_t i = a->m->n; i > 0 && sorted[i - 1] >= tail->from_ns; i--) {
		a->tail_rows++;
		sum += sorted[i - 1];
	}
	tail->mean_ns = moments_mean(a->tail_rows, sum);
	tail->fast_to_ns = a->f->interval.p50_ns;
	sum = 0;
	for (size_t i = 0; i < a->m->n && sorted[i] <= tail->fast_to_ns; i++) {
		a->fast_rows++;
		sum += sorted[i];
	}
	tail->fast_mean_ns = moments_mean(a->fast_rows, sum);
	for (size_t i = 0; i < a->recorded_cnt; i++) {
		tail->cnt += a->recorded_ns[i] >= tail->from_ns;
		tail->fast_cnt += a->recorded_ns[i] <= tail->fast_to_ns;
	}
}

static void count_unpaired(struct analysis *a)
{
	struct interval_summary *s = &a->f->interval;
	const struct pairing *p = pairing_of_interval(a);

	s->has_pairing = p;
	if (!p)
		return;
	s->nested = p->nested;
	s->unmatched_ends = p->unmatched_ends;
}

void summarize(struct analysis *a)
{
	struct interval_summary *s = &a->f->interval;
	size_t cnt = a->m->n;
	_cleanup_(freep) int64_t *sorted = sorted_ns(a->latencies_ns, cnt);

	s->cnt = a->recorded_cnt;
	s->dropped_open = a->counted->open;
	s->dropped_aborted = a->counted->aborted;
	s->dropped_bad_path = a->counted->bad_path;
	s->dropped_lost = a->counted->lost;
	count_unpaired(a);
	s->mean_ns = moments_mean(a->m->n, a->m->places.items[0].x);
	s->variance_ns2 = a->variance_ns2;
	s->stddev_ns = sqrt(a->variance_ns2);
	if (cnt == 0)
		return;
	s->min_ns = sorted[0];
	s->p50_ns = quantile_ns(sorted, cnt, 0.5);
	s->p90_ns = quantile_ns(sorted, cnt, 0.9);
	s->p99_ns = quantile_ns(sorted, cnt, 0.99);
	s->max_ns = sorted[cnt - 1];
	describe_tail(a, sorted);
}
