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
 * took time, where there are few siblings; of more than CHILDREN_WITH_ALL no products are taken here, see
 * sibling_pairs.h.  Rows that are alike are summed up together (row_batches.h).
 */
#include "analysis/tree/moments.h"

#include <string.h>
#include "analysis/tree/row_batches.h"
#include "analysis/tree/row_tree.h"
#include "analysis/findings/findings.h"
#include "base/banned.h"

struct pair_table {
	__int128 *sums;			/* triangular: b(b-1)/2 + a for ordinals a < b; NULL: none yet */
	size_t child_cnt;		/* that there is room for */
};

struct row_links {			/* links of a place in the row, among the places visited so far; 0: none */
	uint32_t last;			/* of its children */
	uint32_t before;		/* the sibling before it */
};

struct batch_sums {			/* as in struct sums */
	uint64_t x, xx, xt;
};

struct row_scratch {			/* of the row, or the batch, being added */
	struct row_tree tree;
	VEC(struct row_links) links;
	VEC(struct batch_sums) sums;
};

static size_t pair_index(const struct place *a, const struct place *b)
{
	size_t low = a->ordinal < b->ordinal ? a->ordinal : b->ordinal;
	size_t high = a->ordinal < b->ordinal ? b->ordinal : a->ordinal;

	return high * (high - 1) / 2 + low;
}

/* A parent with too many children has no sums any more: earlier ones are ignored. */
static bool has_pairs(const struct vtree *v, uint32_t parent)
{
	return v->places.items[parent].child_cnt <= CHILDREN_WITH_ALL;
}

/* Children are found as rows come: existing entries keep their place in the triangle. */
static void grow_table(struct pair_table *t, size_t child_cnt)
{
	size_t cnt = child_cnt + child_cnt / 2, old = t->child_cnt * (t->child_cnt - (t->child_cnt > 0)) / 2;

	cnt = cnt < 4 ? 4 : cnt > CHILDREN_WITH_ALL ? CHILDREN_WITH_ALL : cnt;
	t->sums = xrealloc(t->sums, cnt * (cnt - 1) / 2, sizeof(*t->sums));
	memset(t->sums + old, 0, (cnt * (cnt - 1) / 2 - old) * sizeof(*t->sums));
	t->child_cnt = cnt;
}

static __int128 *pair_slot(struct moments *m, const struct vtree *v, uint32_t a, uint32_t b)
{
	const struct place *pa = &v->places.items[a], *pb = &v->places.items[b];
	struct pair_table *table = &m->pairs.items[pa->parent];

	if (pa->ordinal >= table->child_cnt || pb->ordinal >= table->child_cnt)
		grow_table(table, 1 + (pa->ordinal > pb->ordinal ? pa->ordinal : pb->ordinal));
	return &table->sums[pair_index(pa, pb)];
}

static __int128 pair_sum(const struct moments *m, const struct vtree *v, uint32_t a, uint32_t b)
{
	const struct place *pa = &v->places.items[a], *pb = &v->places.items[b];
	const struct pair_table *table = &m->pairs.items[pa->parent];

	if (pa->ordinal >= table->child_cnt || pb->ordinal >= table->child_cnt)
		return 0;
	return table->sums[pair_index(pa, pb)];
}

struct moments *moments_new(void)
{
	struct moments *m = xcalloc(1, sizeof(*m));

	m->scratch = xcalloc(1, sizeof(*m->scratch));
	return m;
}

static void make_room(struct moments *m, size_t place_cnt)
{
	while (m->places.cnt < place_cnt) {
		VEC_EXTEND(&m->places);
		VEC_EXTEND(&m->pairs);
	}
}

static void add_products(struct moments *m, const struct vtree *v, uint32_t k, uint32_t weight)
{
	const struct listed *list = m->scratch->tree.list.items;
	struct row_links *links = m->scratch->links.items;
	uint32_t parent = list[k].parent;

	if (links[parent].last && has_pairs(v, list[parent].place))
		for (uint32_t j = links[parent].last; j; j = links[j].before)
			*pair_slot(m, v, list[k].place, list[j].place) += (__int128)list[k].ns * list[j].ns * weight;
	links[k].before = links[parent].last;
	links[parent].last = k;
}

static void add_row(struct moments *m, const struct vtree *v, const cells *row, uint32_t weight)
{
	struct row_scratch *s = m->scratch;
	const struct listed *list;

	make_room(m, v->places.cnt);
	row_tree_fill(&s->tree, v, row);
	list = s->tree.list.items;
	s->links.cnt = 0;
	for (uint32_t k = 0; k < s->tree.list.cnt; k++) {
		struct sums *sums = &m->places.items[list[k].place];

		sums->x += (__int128)list[k].ns * weight;
		sums->xx += (__int128)list[k].ns * list[k].ns * weight;
		sums->xt += (__int128)list[k].ns * list[0].ns * weight;
		VEC_EXTEND(&s->links);
		if (k > 0)
			add_products(m, v, k, weight);
	}
}

/* A place whose time is all its only child's has the same sums: most functions call nothing that is recorded. */
static void sum_nodes(struct moments *m, const struct row_batch *b)
{
	struct row_scratch *s = m->scratch;

	while (s->sums.cnt < b->nodes.cnt)
		VEC_EXTEND(&s->sums);
	for (size_t k = b->nodes.cnt; k-- > 0; ) {
		const struct batch_node *node = &b->nodes.items[k];
		struct sums *sums = &m->places.items[node->place];
		struct batch_sums *of_batch = &s->sums.items[k];

		if (node->only_child != k)
			*of_batch = s->sums.items[node->only_child];
		else
			*of_batch = (struct batch_sums){ batch_sum(b->ns[k]), row_batch_product(b, (uint32_t)k, (uint32_t)k),
							 row_batch_product(b, (uint32_t)k, 0) };
		sums->x += of_batch->x;
		sums->xx += of_batch->xx;
		sums->xt += of_batch->xt;
	}
}

static void add_batch_products(struct moments *m, const struct row_batch *b, uint32_t k)
{
	struct row_links *links = m->scratch->links.items;
	uint32_t parent = b->nodes.items[k].parent;

	if (links[parent].last && has_pairs(m->v, b->nodes.items[parent].place)) {
		for (uint32_t j = links[parent].last; j; j = links[j].before) {
			uint64_t product = row_batch_product(b, k, j);

			if (product)
				*pair_slot(m, m->v, b->nodes.items[k].place, b->nodes.items[j].place) += product;
		}
	}
	links[k].before = links[parent].last;
	links[parent].last = k;
}

static void add_batch(void *arg, const struct row_batch *b)
{
	struct moments *m = arg;

	make_room(m, m->v->places.cnt);
	sum_nodes(m, b);
	m->scratch->links.cnt = 0;
	for (uint32_t k = 0; k < b->nodes.cnt; k++) {
		VEC_EXTEND(&m->scratch->links);
		if (k > 0)
			add_batch_products(m, b, k);
	}
}

void moments_add_row(struct moments *m, const struct vtree *v, const cells *row, uint32_t weight)
{
	m->n += weight;
	if (!m->batches)
		m->batches = row_batches_new(v, add_batch, m);
	m->v = v;
	if (weight != 1 || !row_batches_add(m->batches, row, 0, 0))
		add_row(m, v, row, weight);
}

void moments_end(struct moments *m)
{
	if (m->batches)
		row_batches_end(m->batches);
	row_batches_free(m->batches);
	m->batches = NULL;
}

void moments_divide(struct moments *m, uint32_t unit)
{
	if (unit == 1)
		return;
	m->n /= unit;
	for (size_t i = 0; i < m->places.cnt; i++) {
		struct sums *s = &m->places.items[i];
		size_t cnt = m->pairs.items[i].child_cnt;

		s->x /= unit;
		s->xx /= unit;
		s->xt /= unit;
		for (size_t k = 0; cnt && k < cnt * (cnt - 1) / 2; k++)
			m->pairs.items[i].sums[k] /= unit;
	}
}

void moments_set(struct moments *m, const struct vtree *v, uint32_t place, const struct sums *sums)
{
	make_room(m, v->places.cnt);
	m->places.items[place] = *sums;
}

void moments_set_pair(struct moments *m, const struct vtree *v, uint32_t a, uint32_t b, __int128 xy)
{
	make_room(m, v->places.cnt);
	if (has_pairs(v, v->places.items[a].parent))
		*pair_slot(m, v, a, b) = xy;
}

void moments_renumber(struct moments *m, const struct vtree *v, const uint32_t *new_ids)
{
	struct sums *places;
	struct pair_table *pairs;

	make_room(m, v->places.cnt);
	places = xcalloc(m->places.cnt, sizeof(*places));
	pairs = xcalloc(m->pairs.cnt, sizeof(*pairs));
	for (size_t i = 0; i < m->places.cnt; i++) {
		places[new_ids[i]] = m->places.items[i];
		pairs[new_ids[i]] = m->pairs.items[i];
	}
	free(m->places.items);
	free(m->pairs.items);
	m->places.items = places;
	m->pairs.items = pairs;
	m->places.cap = m->pairs.cap = m->places.cnt;
}

void moments_free(struct moments *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->pairs.cnt; i++)
		free(m->pairs.items[i].sums);
	VEC_RELEASE(&m->pairs);
	VEC_RELEASE(&m->places);
	row_tree_release(&m->scratch->tree);
	VEC_RELEASE(&m->scratch->links);
	VEC_RELEASE(&m->scratch->sums);
	free(m->scratch);
	row_batches_free(m->batches);
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
	/* One exact numerator if it fits, so that zero comes out as zero. */
	if ((a < 0 ? -a : a) < (((__int128)1 << 124) / count))
		return (double)((long double)(a * count - rx * ry) / n / n);
	return (double)(((long double)a - (long double)(rx * ry) / n) / n);
}

/* Relative to the integer parts of the means, in integers: X may be long and vary little. */
double moments_centred(uint64_t n, __int128 all_x, __int128 all_y, uint64_t cnt, __int128 x, __int128 y, __int128 xy)
{
	__int128 kx = all_x / (__int128)n, ky = all_y / (__int128)n, rows = (__int128)cnt;
	double fx = (double)(all_x - kx * (__int128)n) / (double)n, fy = (double)(all_y - ky * (__int128)n) / (double)n;

	return (double)(xy - kx * y - ky * x + rows * kx * ky) - fy * (double)(x - rows * kx) -
	       fx * (double)(y - rows * ky) + (double)rows * fx * fy;
}

double moments_variance_of(const struct moments *m, uint32_t place)
{
	const struct sums *s = &m->places.items[place];

	return moments_covariance(m->n, s->x, s->x, s->xx);
}

double moments_with_latency(const struct moments *m, uint32_t place)
{
	return moments_covariance(m->n, m->places.items[place].x, m->places.items[0].x, m->places.items[place].xt);
}

double moments_of_siblings(const struct moments *m, const struct vtree *v, uint32_t a, uint32_t b)
{
	return moments_covariance(m->n, m->places.items[a].x, m->places.items[b].x, pair_sum(m, v, a, b));
}
