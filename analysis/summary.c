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

static int compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

void sort_ns(int64_t *list, size_t cnt)
{
	if (cnt > 1)
		qsort(list, cnt, sizeof(*list), compare_ns);
}

int64_t quantile_ns(const int64_t *sorted, size_t cnt, double q)
{
	double rank = ceil(q * (double)cnt - 1e-6);	/* .99 * 100 is 99.00000000000001 */

	return sorted[rank < 1 ? 0 : rank > (double)cnt ? cnt - 1 : (size_t)rank - 1];
}

static void add_rows(struct analysis *a)
{
	const interval_list *full = &a->used->items, *root = &a->used->root_only;

	for (size_t i = 0, k = 0; i + k < full->cnt + root->cnt; ) {
		/* Both are in the order of the trace's array. */
		bool from_root = i == full->cnt ||
				 (k < root->cnt && root->items[k] < full->items[i]);
		const struct interval *iv = from_root ? root->items[k++] : full->items[i++];
		struct interval_row row = {
			.sid = iv->sid, .root_only = from_root, .start_ns = iv->start_ns, .end_ns = iv->end_ns,
			.start_tid = iv->start_tid, .end_tid = iv->end_tid,
		};

		VEC_ADD(&a->f->intervals, row);
	}
}

/* Where it begins, and how much it holds. */
static void describe_tail(struct analysis *a, const int64_t *sorted)
{
	struct tail *tail = &a->f->tail;
	__int128 sum = 0;

	tail->quantile = a->quantile;
	tail->from_ns = quantile_ns(sorted, a->m->n, a->quantile);
	for (size_t i = a->m->n; i > 0 && sorted[i - 1] >= tail->from_ns; i--) {
		tail->cnt++;
		sum += sorted[i - 1];
	}
	tail->mean_ns = moments_mean(tail->cnt, sum);
	tail->fast_to_ns = a->f->interval.p50_ns;
	sum = 0;
	for (size_t i = 0; i < a->m->n && sorted[i] <= tail->fast_to_ns; i++) {
		tail->fast_cnt++;
		sum += sorted[i];
	}
	tail->fast_mean_ns = moments_mean(tail->fast_cnt, sum);
}

void summarize(struct analysis *a)
{
	struct interval_summary *s = &a->f->interval;
	size_t cnt = a->used->items.cnt;
	_cleanup_(freep) int64_t *sorted = xcalloc(cnt + 1, sizeof(*sorted));

	s->cnt = cnt;
	s->dropped_open = a->used->open;
	s->dropped_aborted = a->used->aborted;
	s->dropped_bad_path = a->used->bad_path;
	s->dropped_lost = a->used->lost;
	s->mean_ns = moments_mean(a->m->n, a->m->places[0].x);
	s->variance_ns2 = a->variance_ns2;
	s->stddev_ns = sqrt(a->variance_ns2);
	add_rows(a);
	if (cnt == 0)
		return;
	for (size_t i = 0; i < cnt; i++)
		sorted[i] = a->latencies_ns[i];
	sort_ns(sorted, cnt);
	s->min_ns = sorted[0];
	s->p50_ns = quantile_ns(sorted, cnt, 0.5);
	s->p90_ns = quantile_ns(sorted, cnt, 0.9);
	s->p99_ns = quantile_ns(sorted, cnt, 0.99);
	s->max_ns = sorted[cnt - 1];
	describe_tail(a, sorted);
}
