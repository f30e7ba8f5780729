/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * summed_tail.c - quantiles from buckets, and the time that slow and fast intervals took, up to the edge of a bucket.
 *
 * A quantile is the mean of the fine bucket (128 per octave) that holds it: the error is below 0.8 %, and 0 if the bucket holds
 * only one latency.  The tail begins at the edge of the coarse bucket (eight per octave) that leaves closest to the wanted
 * fraction above it; the findings say what fraction that is.  Example, 0.99 of 1,000: the edges leave 31, 12 and 4 above, so the
 * tail has 12, 1.2 %.
 */
#include "analysis/summed/summed_tree.h"

#include <math.h>
#include <string.h>
#include "analysis/findings/hosts.h"
#include "analysis/stats/confidence.h"
#include "base/banned.h"

/* ---- buckets ---- */

static void add_buckets(struct summed_tree *t)
{
	struct summed_total *to = &t->total;
	_cleanup_(freep) struct bucket_sum *by_number = xcalloc(BUCKETS_MAX(BUCKET_BITS_FINE), sizeof(*by_number));

	for (size_t i = 0; i < t->windows.cnt; i++)
		for (size_t k = 0; k < t->windows.items[i]->buckets.cnt; k++) {
			const struct summed_bucket *b = &t->windows.items[i]->buckets.items[k];

			by_number[b->bucket].n += b->n;
			by_number[b->bucket].recorded += b->recorded;
			by_number[b->bucket].t += b->t;
		}
	for (uint32_t i = 0; i < BUCKETS_MAX(BUCKET_BITS_FINE); i++)
		if (by_number[i].n)
			VEC_ADD(&to->buckets, (struct bucket_sum){ i, by_number[i].n / to->unit, by_number[i].recorded,
								   by_number[i].t / to->unit });
}

/* Nearest rank, as in summary.c; the latency is the bucket's mean, clamped to the smallest and largest latency. */
static int64_t quantile_ns(const struct summed_total *t, double q)
{
	double rank = ceil(q * (double)t->n - 1e-6);
	uint64_t before = 0;

	for (size_t i = 0; i < t->buckets.cnt; i++) {
		const struct bucket_sum *b = &t->buckets.items[i];

		before += b->n;
		if ((double)before >= rank && b->n)
			return (int64_t)(b->t / (__int128)b->n);
	}
	return t->max_ns;
}

/* The coarse bucket at whose lower edge the tail begins. */
static uint32_t tail_bucket(const struct summed_total *t, double quantile)
{
	double wanted = (1 - quantile) * (double)t->n, best = INFINITY;
	uint32_t found = 0;
	uint64_t above = 0;

	for (size_t i = t->buckets.cnt; i-- > 0; ) {
		uint32_t coarse = bucket_of(bucket_from(t->buckets.items[i].bucket, BUCKET_BITS_FINE), BUCKET_BITS);
		uint32_t next = i ? bucket_of(bucket_from(t->buckets.items[i - 1].bucket, BUCKET_BITS_FINE), BUCKET_BITS) : UINT32_MAX;

		above += t->buckets.items[i].n;
		if (coarse == next || fabs((double)above - wanted) >= best)
			continue;
		best = fabs((double)above - wanted);
		found = coarse;
	}
	return found;
}

/* The coarse bucket at whose upper edge the fast intervals end: the edge closest to half of the intervals. */
static uint32_t fast_bucket(const struct summed_total *t)
{
	double wanted = (double)t->n / 2, best = INFINITY;
	uint32_t found = 0;
	uint64_t below = 0;

	for (size_t i = 0; i < t->buckets.cnt; i++) {
		uint32_t coarse = bucket_of(bucket_from(t->buckets.items[i].bucket, BUCKET_BITS_FINE), BUCKET_BITS);
		uint32_t next = i + 1 < t->buckets.cnt ?
				bucket_of(bucket_from(t->buckets.items[i + 1].bucket, BUCKET_BITS_FINE), BUCKET_BITS) : UINT32_MAX;

		below += t->buckets.items[i].n;
		if (coarse == next || fabs((double)below - wanted) >= best)
			continue;
		best = fabs((double)below - wanted);
		found = coarse;
	}
	return found;
}

/* ---- slow and fast intervals ---- */

struct edges {
	uint32_t slow_from, fast_to;	/* coarse buckets, inclusive */
};

static void add_cells(struct summed_tree *t, const struct edges *e)
{
	struct place_sums *to = &t->sums;

	to->slow_x = xcalloc(t->v->places.cnt + 1, sizeof(*to->slow_x));
	to->fast_x = xcalloc(t->v->places.cnt + 1, sizeof(*to->fast_x));
	for (size_t i = 0; i < t->windows.cnt; i++)
		for (size_t k = 0; k < t->windows.items[i]->cells.cnt; k++) {
			const struct summed_cell *c = &t->windows.items[i]->cells.items[k];
			uint32_t place = t->place_of[c->place];

			to->slow_x[place] += c->bucket >= e->slow_from ? c->x : 0;
			to->fast_x[place] += c->bucket <= e->fast_to ? c->x : 0;
		}
	for (size_t i = 0; i < t->v->places.cnt; i++) {
		to->slow_x[i] /= t->total.unit;
		to->fast_x[i] /= t->total.unit;
	}
}

static struct own_sums *own_at(struct place_sums *to, const struct summed_own *o)
{
	uint64_t *slot = map_slot(to->owns, own_key(o->kind, o->wait, o->function));

	if (*slot == 0) {
		VEC_EXTEND(&to->own_sums);
		*slot = to->own_sums.cnt - 1;
	}
	return &to->own_sums.items[*slot];
}

static void add_owns(struct summed_tree *t, const struct edges *e)
{
	for (size_t i = 0; i < t->windows.cnt; i++) {
		const struct summed_window *w = t->windows.items[i];

		for (size_t k = 0; k < w->owns.cnt; k++) {
			struct own_sums *own = own_at(&t->sums, &w->owns.items[k]);

			own->xx += w->owns.items[k].xx;
			own->t += w->owns.items[k].t;
			own->cnt += w->owns.items[k].cnt;
		}
		for (size_t k = 0; k < w->shares.cnt; k++) {
			struct own_sums *own = own_at(&t->sums, &w->owns.items[w->shares.items[k].own]);

			own->slow += w->shares.items[k].bucket >= e->slow_from ? w->shares.items[k].n : 0;
			own->fast += w->shares.items[k].bucket <= e->fast_to ? w->shares.items[k].n : 0;
		}
	}
	for (size_t i = 0; i < t->sums.own_sums.cnt; i++) {
		struct own_sums *own = &t->sums.own_sums.items[i];

		own->xx /= t->total.unit;
		own->t /= t->total.unit;
		own->cnt /= t->total.unit;
		own->slow /= t->total.unit;
		own->fast /= t->total.unit;
	}
}

/* ---- blocks ---- */

static void add_to_block(struct summed_tree *t, struct window_block *b, const struct summed_window *w, const struct edges *e)
{
	uint32_t unit = t->total.unit;

	b->n += w->n / unit;
	for (size_t k = 0; k < w->sums.cnt; k++) {
		uint32_t place = t->place_of[w->sums.items[k].place];

		b->x[place] += w->sums.items[k].x / unit;
		b->xt[place] += w->sums.items[k].xt / unit;
	}
	b->t = b->x[0];
	b->tt = b->xt[0];
	for (size_t k = 0; k < w->cells.cnt; k++)
		if (w->cells.items[k].bucket >= e->slow_from)
			b->slow_x[t->place_of[w->cells.items[k].place]] += w->cells.items[k].x / unit;
	for (size_t k = 0; k < w->buckets.cnt; k++) {
		const struct summed_bucket *k_th = &w->buckets.items[k];

		if (bucket_of(bucket_from(k_th->bucket, BUCKET_BITS_FINE), BUCKET_BITS) < e->slow_from)
			continue;
		b->slow_n += k_th->n / unit;
		b->slow_t += k_th->t / unit;
	}
}

/* Per source its host. */
static uint32_t *hosts_of(const struct summed *s, uint32_t *ret_host_cnt)
{
	VEC(struct trace_origin) origins = { NULL, 0, 0 };
	uint32_t *hosts;

	for (size_t i = 0; i < s->sources.cnt; i++)
		VEC_ADD(&origins, (struct trace_origin){ .machine = s->sources.items[i].machine, .host = s->sources.items[i].host });
	hosts = hosts_of_origins(origins.items, origins.cnt, ret_host_cnt);
	VEC_RELEASE(&origins);
	return hosts;
}

/*
 * The blocks of windows: hosts if there are CONFIDENCE_HOSTS_MIN or more, else windows, in order of host and time; fewer than
 * CONFIDENCE_BLOCKS_MIN windows give no confidence interval.  ret: per window, in the order of t->windows.
 */
static void choose_blocks(struct summed_tree *t, size_t *ret)
{
	struct place_sums *to = &t->sums;
	uint32_t host_cnt;
	_cleanup_(freep) uint32_t *hosts = hosts_of(t->s, &host_cnt);
	_cleanup_(freep) size_t *number = xcalloc(host_cnt + 1, sizeof(*number));	/* of hosts with intervals, from 1 */
	size_t cnt = 0;

	for (size_t i = 0; i < t->windows.cnt; i++) {
		size_t *n = &number[hosts[t->windows.items[i]->source]];

		if (t->windows.items[i]->n == 0)
			continue;
		*n = *n ? *n : ++to->host_cnt;
		ret[i] = cnt++;
	}
	if (blocks_for(t->total.recorded) == 0)
		return;
	to->kind.of_hosts = to->host_cnt >= CONFIDENCE_HOSTS_MIN;
	for (size_t i = 0; to->kind.of_hosts && i < t->windows.cnt; i++)
		ret[i] = number[hosts[t->windows.items[i]->source]] - 1;
	cnt = to->kind.of_hosts ? to->host_cnt : cnt >= CONFIDENCE_BLOCKS_MIN ? cnt : 0;
	to->kind.cnt = cnt < CONFIDENCE_BLOCKS_MAX ? cnt : CONFIDENCE_BLOCKS_MAX;
	for (size_t i = 0; cnt && i < t->windows.cnt; i++)
		ret[i] = ret[i] * to->kind.cnt / cnt;
}

static void add_blocks(struct summed_tree *t, const struct edges *e)
{
	struct place_sums *to = &t->sums;
	_cleanup_(freep) size_t *block_of = xcalloc(t->windows.cnt + 1, sizeof(*block_of));
	size_t places = t->v->places.cnt;

	choose_blocks(t, block_of);
	if (to->kind.cnt == 0)
		return;
	to->blocks = xcalloc(to->kind.cnt, sizeof(*to->blocks));
	for (size_t i = 0; i < to->kind.cnt; i++) {
		to->blocks[i].x = xcalloc(3 * places + 1, sizeof(*to->blocks[i].x));
		to->blocks[i].xt = to->blocks[i].x + places;
		to->blocks[i].slow_x = to->blocks[i].xt + places;
	}
	for (size_t i = 0; i < t->windows.cnt; i++)
		if (t->windows.items[i]->n > 0)
			add_to_block(t, &to->blocks[block_of[i]], t->windows.items[i], e);
}

/* ---- the interval's figures ---- */

static struct tail_rows describe_tail(struct findings *f, const struct summed_tree *t, const struct edges *e)
{
	struct tail_rows rows = { 0 };
	__int128 slow_t = 0, fast_t = 0;

	for (size_t i = 0; i < t->total.buckets.cnt; i++) {
		const struct bucket_sum *b = &t->total.buckets.items[i];
		uint32_t coarse = bucket_of(bucket_from(b->bucket, BUCKET_BITS_FINE), BUCKET_BITS);

		if (coarse >= e->slow_from) {
			rows.slow += b->n;
			slow_t += b->t;
			f->tail.cnt += b->recorded;
		}
		if (coarse <= e->fast_to) {
			rows.fast += b->n;
			fast_t += b->t;
			f->tail.fast_cnt += b->recorded;
		}
	}
	f->tail.from_ns = bucket_from(e->slow_from, BUCKET_BITS);
	f->tail.fast_to_ns = bucket_from(e->fast_to + 1, BUCKET_BITS) - 1;
	f->tail.quantile = t->total.n ? 1 - (double)rows.slow / (double)t->total.n : 0;
	f->tail.mean_ns = moments_mean(rows.slow, slow_t);
	f->tail.fast_mean_ns = moments_mean(rows.fast, fast_t);
	return rows;
}

static void describe_interval(const struct analysis *a, const struct summed_tree *t)
{
	struct interval_summary *s = &a->f->interval;

	s->cnt = t->total.recorded;
	s->dropped_open = t->total.counted.open;
	s->dropped_aborted = t->total.counted.aborted;
	s->dropped_bad_path = t->total.counted.bad_path;
	s->dropped_lost = t->total.counted.lost;
	s->nested = t->total.counts.nested;
	s->unmatched_ends = t->total.counts.unmatched_ends;
	s->has_pairing = t->total.counts.has_pairing;
	s->mean_ns = moments_mean(a->m->n, a->m->places.items[0].x);
	s->variance_ns2 = a->variance_ns2;
	s->stddev_ns = sqrt(a->variance_ns2);
	s->min_ns = t->total.min_ns;
	s->max_ns = t->total.max_ns;
	s->p50_ns = quantile_ns(&t->total, 0.5);
	s->p90_ns = quantile_ns(&t->total, 0.9);
	s->p99_ns = quantile_ns(&t->total, 0.99);
}

struct tail_rows summarize_buckets(const struct analysis *a, struct summed_tree *t, double quantile)
{
	struct edges e = { 0, 0 };
	struct tail_rows rows;

	add_buckets(t);
	describe_interval(a, t);
	a->f->tail.quantile = quantile;
	e.slow_from = tail_bucket(&t->total, quantile);
	e.fast_to = fast_bucket(&t->total);
	add_cells(t, &e);
	add_owns(t, &e);
	add_blocks(t, &e);
	if (a->m->n == 0)
		return (struct tail_rows){ 0 };
	rows = describe_tail(a->f, t, &e);
	return rows;
}
