/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wait_slow.c - chooses the waits that count for slow intervals, and for typical ones.
 *
 * Slow is at or above the quantile, typical at or below the median, as for `show slow-vs-fast`.  A wait counts if it
 * is on behalf of an interval of the class, while one of them is open.  All other waits, mainly those of background
 * threads, only pass waits on (wait_cascade.c): idle workers that wait for work do not count, nor do waits for other
 * intervals.
 *
 *	slow: 7 open (10,50]	a wait (5,30] for 7: (5,10] passes on, (10,30] counts
 */
#include "analysis/whole_run/wait_passes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "analysis/tree/intervals.h"
#include "base/map.h"
#include "base/banned.h"
#include "base/saturate.h"
#include "base/search.h"

static int by_latency(const void *pa, const void *pb)
{
	const struct interval *a = *(const struct interval *const *)pa;
	const struct interval *b = *(const struct interval *const *)pb;
	int64_t x_ns = a->end_ns - a->start_ns, y_ns = b->end_ns - b->start_ns;

	if (x_ns != y_ns)
		return x_ns < y_ns ? -1 : 1;
	return (a->sid > b->sid) - (a->sid < b->sid);
}

static int by_start(const void *pa, const void *pb)
{
	const struct wait_window *a = pa, *b = pb;

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static void choose(struct wait_choice *c, const struct interval *const *sorted, size_t cnt)
{
	__int128 sum_ns = 0;
	size_t kept = 0;

	c->sids = map_new();
	for (size_t i = 0; i < cnt; i++) {
		map_set(c->sids, sorted[i]->sid, 1);
		VEC_ADD(&c->windows, (struct wait_window){ sorted[i]->start_ns, sorted[i]->end_ns });
		sum_ns += sorted[i]->end_ns - sorted[i]->start_ns;
	}
	if (cnt == 0)
		return;
	c->summary.cnt = cnt;
	c->summary.sum_ns = narrow_saturated(sum_ns);
	qsort(c->windows.items, cnt, sizeof(*c->windows.items), by_start);
	for (size_t i = 1; i < cnt; i++) {
		struct wait_window *last = &c->windows.items[kept], *next = &c->windows.items[i];

		if (next->start_ns > last->end_ns)
			c->windows.items[++kept] = *next;
		else if (next->end_ns > last->end_ns)
			last->end_ns = next->end_ns;
	}
	c->windows.cnt = kept + 1;
}

static int64_t latency_ns(const struct interval *iv)
{
	return iv->end_ns - iv->start_ns;
}

/* The index of the ceil(q cnt)-th of cnt sorted latencies. */
static size_t rank_of(size_t cnt, double q)
{
	size_t rank = (size_t)ceil(q * (double)cnt);

	return rank < 1 ? 0 : rank > cnt ? cnt - 1 : rank - 1;
}

int wait_choose(const struct trace *t, const char *interval, double quantile,
		const char **ret_name, struct wait_choice *slow, struct wait_choice *typical)
{
	VEC(const struct interval *) sorted = { NULL, 0, 0 };
	size_t slow_first, typical_cnt;
	uint32_t name;
	int r = intervals_choose(t, interval, &name);

	if (r < 0)
		return r;
	for (size_t i = 0; i < t->intervals.cnt; i++) {
		const struct interval *iv = &t->intervals.items[i];

		if (iv->name == name && iv->status == INTERVAL_COMPLETED && !iv->lost)
			VEC_ADD(&sorted, iv);
	}
	if (sorted.cnt == 0) {
		VEC_RELEASE(&sorted);
		return -ENODATA;
	}
	*ret_name = t->interval_names.items[name];
	qsort(sorted.items, sorted.cnt, sizeof(*sorted.items), by_latency);
	slow_first = rank_of(sorted.cnt, quantile);
	while (slow_first > 0 &&
	       latency_ns(sorted.items[slow_first - 1]) == latency_ns(sorted.items[slow_first]))
		slow_first--;
	typical_cnt = rank_of(sorted.cnt, 0.5) + 1;
	while (typical_cnt < sorted.cnt &&
	       latency_ns(sorted.items[typical_cnt]) == latency_ns(sorted.items[typical_cnt - 1]))
		typical_cnt++;
	choose(slow, sorted.items + slow_first, sorted.cnt - slow_first);
	choose(typical, sorted.items, typical_cnt);
	VEC_RELEASE(&sorted);
	return 0;
}

void wait_choice_release(struct wait_choice *c)
{
	VEC_RELEASE(&c->windows);
	map_free(c->sids);
}

static void add_part(waits *ret, const struct graph_wait *v, int64_t start_ns, int64_t end_ns, bool counts)
{
	struct graph_wait part = *v;

	if (start_ns >= end_ns)
		return;
	part.start_ns = start_ns;
	part.end_ns = end_ns;
	part.counts = counts;
	VEC_ADD(ret, part);
}

/* The first window that ends after ns. */
static size_t window_after(const struct wait_choice *c, int64_t ns)
{
	return partition_point(i, c->windows.cnt, c->windows.items[i].end_ns <= ns);
}

void wait_select(const struct wait_world *w, const struct wait_choice *c, waits *ret)
{
	for (size_t i = 0; i < w->waits.cnt; i++) {
		const struct graph_wait *v = &w->waits.items[i];
		int64_t at_ns = v->start_ns;
		uint64_t unused;

		if (!c) {
			VEC_ADD(ret, *v);
			continue;
		}
		if (v->sid != SID_NONE && map_get(c->sids, v->sid, &unused))
			for (size_t j = window_after(c, v->start_ns); j < c->windows.cnt; j++) {
				const struct wait_window *open = &c->windows.items[j];
				int64_t from_ns = open->start_ns > at_ns ? open->start_ns : at_ns;
				int64_t to_ns = open->end_ns < v->end_ns ? open->end_ns : v->end_ns;

				if (from_ns >= v->end_ns)
					break;
				add_part(ret, v, at_ns, from_ns, false);
				add_part(ret, v, from_ns, to_ns, true);
				at_ns = to_ns;
			}
		add_part(ret, v, at_ns, v->end_ns, false);
	}
}
