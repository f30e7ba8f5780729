/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * moments.c - sums over rows, and the variances they give.
 *
 * Example, two intervals: places B = 1, 3 and C = 2, 2, so T = 3, 5.
 *	sum B = 4, sum B^2 = 10, sum BT = 18, sum T = 8, n = 2
 *	Var(B) = 10/2 - (4/2)^2 = 1		Cov(B,T) = 18/2 - 2 * 4 = 1
 *
 * The textbook form above loses all digits when the mean is large; here it is evaluated
 * around K = floor(sum / n) in integers, and only the last division is in floating point:
 *	A = sum XY - Kx sum Y - Ky sum X + n Kx Ky	(= sum (X-Kx)(Y-Ky))
 *	Cov = (A - rx ry / n) / n			rx = sum X - n Kx
 *
 * A row costs its places with their ancestors, and a product for each two siblings that both
 * took time: rows are short, so this is far from (number of places)^2.
 */
#include "analysis/moments.h"

#include "base/map.h"
#include "base/banned.h"

#define DENSE_CHILDREN_MAX 1024		/* above: pairs in a hash map, for few ever meet */

struct pair_table {
	__int128 *sums;			/* triangular: b(b-1)/2 + a for ordinals a < b; NULL: none yet */
};

struct row_scratch {			/* of the row being added */
	int64_t *ns;			/* per place, whole subtree */
	uint32_t *next;			/* sibling that took time in this row too */
	uint32_t *head;			/* per parent: the first of them */
	VEC(uint32_t) touched;
};

bool moments_fit(uint64_t n, int64_t longest_ns)
{
	__int128 square = (__int128)longest_ns * longest_ns;

	return n == 0 || square <= ((__int128)1 << 124) / (__int128)n;
}

static __int128 *pair_slot(struct moments *m, const struct vtree *v, uint32_t a, uint32_t b)
{
	const struct place *pa = &v->places.items[a], *pb = &v->places.items[b];
	size_t low = pa->ordinal < pb->ordinal ? pa->ordinal : pb->ordinal;
	size_t high = pa->ordinal < pb->ordinal ? pb->ordinal : pa->ordinal;
	size_t child_cnt = v->places.items[pa->parent].child_cnt;
	uint64_t *slot;

	if (child_cnt <= DENSE_CHILDREN_MAX) {
		struct pair_table *table = &m->pairs[pa->parent];

		if (!table->sums)
			table->sums = xcalloc(child_cnt * (child_cnt - 1) / 2, sizeof(*table->sums));
		return &table->sums[high * (high - 1) / 2 + low];
	}
	slot = map_slot(m->sparse, (uint64_t)(a < b ? a : b) << 32 | (a < b ? b : a));
	if (*slot == 0) {
		VEC_ADD(&m->sparse_sums, 0);
		*slot = m->sparse_sums.cnt;
	}
	return &m->sparse_sums.items[*slot - 1];
}

static __int128 pair_sum(const struct moments *m, const struct vtree *v, uint32_t a, uint32_t b)
{
	const struct place *pa = &v->places.items[a], *pb = &v->places.items[b];
	size_t low = pa->ordinal < pb->ordinal ? pa->ordinal : pb->ordinal;
	size_t high = pa->ordinal < pb->ordinal ? pb->ordinal : pa->ordinal;
	uint64_t slot;

	if (v->places.items[pa->parent].child_cnt <= DENSE_CHILDREN_MAX) {
		const struct pair_table *table = &m->pairs[pa->parent];

		return table->sums ? table->sums[high * (high - 1) / 2 + low] : 0;
	}
	if (!map_get(m->sparse, (uint64_t)(a < b ? a : b) << 32 | (a < b ? b : a), &slot))
		return 0;
	return m->sparse_sums.items[slot - 1];
}

static void add_row(struct moments *m, const struct vtree *v, size_t row, int64_t latency_ns,
		    struct row_scratch *s)
{
	for (size_t c = v->rows.items[row]; c < v->rows.items[row + 1]; c++) {
		for (uint32_t i = v->cells.items[c].place; i != NODE_NONE;
		     i = v->places.items[i].parent) {
			if (s->ns[i] == 0)
				VEC_ADD(&s->touched, i);
			s->ns[i] += v->cells.items[c].ns;
		}
	}
	for (size_t k = 0; k < s->touched.cnt; k++) {
		uint32_t i = s->touched.items[k], parent = v->places.items[i].parent;

		m->places[i].x += s->ns[i];
		m->places[i].xx += (__int128)s->ns[i] * s->ns[i];
		m->places[i].xt += (__int128)s->ns[i] * latency_ns;
		if (parent == NODE_NONE)
			continue;
		for (uint32_t j = s->head[parent]; j != NODE_NONE; j = s->next[j])
			*pair_slot(m, v, i, j) += (__int128)s->ns[i] * s->ns[j];
		s->next[i] = s->head[parent];
		s->head[parent] = i;
	}
	for (size_t k = 0; k < s->touched.cnt; k++) {
		s->ns[s->touched.items[k]] = 0;
		s->head[s->touched.items[k]] = NODE_NONE;
	}
	s->touched.cnt = 0;
}

struct moments *moments_new(const struct vtree *v, const int64_t *latencies_ns)
{
	size_t cnt = v->places.cnt;
	struct moments *m = xcalloc(1, sizeof(*m));
	struct row_scratch s = {
		.ns = xcalloc(cnt, sizeof(*s.ns)), .next = xcalloc(cnt, sizeof(*s.next)),
		.head = xcalloc(cnt, sizeof(*s.head)),
	};

	m->n = vtree_row_cnt(v);
	m->place_cnt = cnt;
	m->places = xcalloc(cnt, sizeof(*m->places));
	m->pairs = xcalloc(cnt, sizeof(*m->pairs));
	m->sparse = map_new();
	for (size_t i = 0; i < cnt; i++)
		s.head[i] = NODE_NONE;
	for (size_t row = 0; row < m->n; row++)
		add_row(m, v, row, latencies_ns[row], &s);
	free(s.ns);
	free(s.next);
	free(s.head);
	VEC_RELEASE(&s.touched);
	return m;
}

void moments_free(struct moments *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->place_cnt; i++)
		free(m->pairs[i].sums);
	free(m->pairs);
	free(m->places);
	map_free(m->sparse);
	VEC_RELEASE(&m->sparse_sums);
	free(m);
}

double moments_mean(uint64_t n, __int128 x)
{
	return n ? (double)((long double)x / n) : 0;
}

double moments_covariance(uint64_t n, __int128 x, __int128 y, __int128 xy)
{
	__int128 count = (__int128)n, kx, ky, a, rx, ry;

	if (n == 0)
		return 0;
	kx = x / count;
	ky = y / count;
	rx = x - count * kx;
	ry = y - count * ky;
	a = xy - kx * y - ky * x + count * kx * ky;
	/* One exact numerator where it fits, so that what is zero comes out as zero. */
	if ((a < 0 ? -a : a) < (((__int128)1 << 124) / count))
		return (double)((long double)(a * count - rx * ry) / n / n);
	return (double)(((long double)a - (long double)(rx * ry) / n) / n);
}

double moments_variance_of(const struct moments *m, uint32_t place)
{
	const struct sums *s = &m->places[place];

	return moments_covariance(m->n, s->x, s->x, s->xx);
}

double moments_with_latency(const struct moments *m, uint32_t place)
{
	return moments_covariance(m->n, m->places[place].x, m->places[0].x, m->places[place].xt);
}

double moments_of_siblings(const struct moments *m, const struct vtree *v, uint32_t a, uint32_t b)
{
	return moments_covariance(m->n, m->places[a].x, m->places[b].x, pair_sum(m, v, a, b));
}
