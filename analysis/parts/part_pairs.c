/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * part_pairs.c - finds parts of the latency that go together, or offset each other, wherever they are called.
 *
 * The tree has covariances of siblings only: those of parse() and reply(), not of the cache's fill() somewhere below
 * the one and its drop() somewhere below the other.  Parts (parts.c) are disjoint and add up to T, so pairs of parts
 * say everything once, across the tree:
 *
 *	Var(T) = sum Var(X_i) + sum over i < j of 2 Cov(X_i, X_j)
 *
 * Ten thousand parts have fifty million pairs, nearly all of them nothing.  By Cauchy and Schwarz
 *
 *	|2 Cov(X_i, X_j)| <= 2 sd(X_i) sd(X_j)
 *
 * so pairs whose right side is below a hundredth of Var(T) need not be summed.  The others are summed exactly, in
 * total and by blocks of time; those of a hundredth or more are kept, and the rest is one number for each part:
 *
 *	other pairs of i = 2 Cov(X_i, T - X_i - sum of the X_j that i is kept with)
 *
 * computed from integers, so that own + its kept pairs / 2 + its other pairs / 2 is its share exactly, whatever was
 * left out.
 *
 * Example: T = 10, 12, 10, 12: a 1, 2, 1, 2 and b 5, 6, 5, 6, and c 4 always.  Var(T) 1, Var(a) = Var(b) = .25, 2
 * Cov(a,b) = .5; 2 sd(a) sd(c) = 0: not looked at.  Share of a: .25 + .5 / 2 + 0.
 *
 * The confidence interval is that of confidence.c with the influence (2 (X - mean X)(Y - mean Y) - g (T - mean T)^2)
 * / Var(T).
 */
#include "analysis/parts/part_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/stats/confidence.h"
#include "base/map.h"
#include "base/banned.h"

#define PAIR_MIN 0.01			/* of Var(T) */
#define ROUNDING 1e-9			/* relative error of a bound: standard deviations are doubles */
#define PARTS_MAX 1024			/* the parts that vary most */
#define CANDIDATES_MAX 4096		/* pairs that are summed: 4 MB */
#define PLACES_MAX 65536		/* pairs of places that are searched to find where a pair is */

struct varying {
	uint32_t part;
	double sd;
};

struct candidate_pair {
	uint32_t p, q;			/* p < q, indexes into list */
	double bound;			/* 2 sd sd */
};

struct pair_maker {
	const struct analysis *a;
	const struct shown_tree *shown;
	const struct factor_columns *factors;
	const struct part_columns *columns;
	struct varying *list;		/* largest first */
	size_t cnt;			/* number of them that are in a candidate */
	uint32_t *index_of_part;	/* into list; NODE_NONE: in none */
	VEC(struct candidate_pair) candidates;
	uint32_t *candidate_at;		/* [p * cnt + q], plus one; 0: none */
	struct times_row row;
	struct times_batch batch;
	int64_t *ns;			/* per index, scratch of a row; else 0 */
	uint32_t *column_of;		/* per index, scratch of a batch: NODE_NONE: it took no time there */
	size_t block_cnt;		/* 1 where there are too few intervals for an error */
	__int128 *x, *xy;		/* [index * block_cnt + block], [candidate * block_cnt + block] */
	struct sums *t;			/* per block: T and its squares */
	uint64_t *row_cnt;		/* per block */
	uint32_t *first_place, *places;	/* of part i: places[first_place[i] .. first_place[i + 1] - 1] */
	uint32_t *depths;		/* per place */
};

/* ---- which pairs may matter ---- */

static int larger_first(const void *a, const void *b)
{
	const struct varying *x = a, *y = b;

	if (x->sd != y->sd)
		return x->sd > y->sd ? -1 : 1;
	return (x->part > y->part) - (x->part < y->part);
}

static int by_bound(const void *a, const void *b)
{
	const struct candidate_pair *x = a, *y = b;

	if (x->bound != y->bound)
		return x->bound > y->bound ? -1 : 1;
	if (x->p != y->p)
		return x->p < y->p ? -1 : 1;
	return (x->q > y->q) - (x->q < y->q);
}

static void choose_pairs(struct pair_maker *g)
{
	const struct analysis *a = g->a;
	size_t cnt = a->f->parts.cnt;
	double limit = PAIR_MIN * a->variance_ns2 * (1 - ROUNDING);

	g->list = xcalloc(cnt + 1, sizeof(*g->list));
	for (uint32_t i = 0; i < cnt; i++) {
		const struct sums *s = &g->columns->sums[i];

		g->list[i] = (struct varying){ i, a->f->parts.items[i].is_estimated ? 0 : sqrt(moments_covariance(a->m->n, s->x, s->x, s->xx)) };
	}
	if (cnt > 1)
		qsort(g->list, cnt, sizeof(*g->list), larger_first);
	if (cnt > PARTS_MAX)
		cnt = PARTS_MAX;
	for (uint32_t p = 0; p < cnt; p++)
		for (uint32_t q = p + 1; q < cnt && 2 * g->list[p].sd * g->list[q].sd >= limit; q++)
			VEC_ADD(&g->candidates, (struct candidate_pair){ p, q, 2 * g->list[p].sd * g->list[q].sd });
	if (g->candidates.cnt > CANDIDATES_MAX) {
		qsort(g->candidates.items, g->candidates.cnt, sizeof(*g->candidates.items), by_bound);
		g->candidates.cnt = CANDIDATES_MAX;
	}
	for (size_t i = 0; i < g->candidates.cnt; i++)
		if (g->candidates.items[i].q >= g->cnt)
			g->cnt = g->candidates.items[i].q + 1;
}

/* ---- their sums ---- */

static void make_room(struct pair_maker *g)
{
	size_t parts = g->a->f->parts.cnt;

	g->block_cnt = analysis_blocks(g->a).cnt ? analysis_blocks(g->a).cnt : 1;
	g->index_of_part = xmalloc((parts + 1) * sizeof(*g->index_of_part));
	memset(g->index_of_part, 0xff, (parts + 1) * sizeof(*g->index_of_part));
	for (uint32_t p = 0; p < g->cnt; p++)
		g->index_of_part[g->list[p].part] = p;
	g->candidate_at = xcalloc(g->cnt * g->cnt + 1, sizeof(*g->candidate_at));
	for (uint32_t i = 0; i < g->candidates.cnt; i++) {
		const struct candidate_pair *c = &g->candidates.items[i];

		g->candidate_at[c->p * g->cnt + c->q] = g->candidate_at[c->q * g->cnt + c->p] = i + 1;
	}
	g->ns = xcalloc(g->cnt + 1, sizeof(*g->ns));
	g->column_of = xcalloc(g->cnt + 1, sizeof(*g->column_of));
	g->x = xcalloc(g->cnt * g->block_cnt + 1, sizeof(*g->x));
	g->xy = xcalloc(g->candidates.cnt * g->block_cnt + 1, sizeof(*g->xy));
	g->t = xcalloc(g->block_cnt, sizeof(*g->t));
	g->row_cnt = xcalloc(g->block_cnt, sizeof(*g->row_cnt));
}

static void add_product(struct pair_maker *g, size_t candidate, size_t block, int64_t x, int64_t y)
{
	g->xy[candidate * g->block_cnt + block] += (__int128)x * y;
}

/* Goes by the parts that took time or by the candidates, whichever is fewer. */
static void add_products(struct pair_maker *g, size_t block, const struct time_cell *cells, size_t cnt)
{
	if (cnt * cnt / 2 > g->candidates.cnt) {
		for (size_t i = 0; i < cnt; i++)
			g->ns[cells[i].column] = cells[i].ns;
		for (size_t c = 0; c < g->candidates.cnt; c++)
			add_product(g, c, block, g->ns[g->candidates.items[c].p], g->ns[g->candidates.items[c].q]);
		for (size_t i = 0; i < cnt; i++)
			g->ns[cells[i].column] = 0;
		return;
	}
	for (size_t i = 0; i < cnt; i++)
		for (size_t k = 0; k < i; k++) {
			uint32_t at = g->candidate_at[cells[i].column * g->cnt + cells[k].column];

			if (at)
				add_product(g, at - 1, block, cells[i].ns, cells[k].ns);
		}
}

/* cells: of chosen parts, column their index. */
static void add_row(struct pair_maker *g, size_t row, const struct time_cell *cells, size_t cnt)
{
	size_t block = g->a->full->block_of_row[row];
	int64_t latency_ns = g->a->full->of_row[row];

	g->row_cnt[block]++;
	g->t[block].x += latency_ns;
	g->t[block].xx += (__int128)latency_ns * latency_ns;
	for (size_t i = 0; i < cnt; i++)
		g->x[cells[i].column * g->block_cnt + block] += cells[i].ns;
	add_products(g, block, cells, cnt);
}

static void sum_row(void *arg, size_t row, const cells *places)
{
	struct pair_maker *g = arg;
	struct time_cell *cells;
	size_t cnt = 0;

	times_row(&g->row, places);
	cells = g->row.cells.items;
	for (size_t k = 0; k < g->row.cells.cnt; k++) {
		struct time_cell c = { g->index_of_part[cells[k].column], cells[k].ns };

		if (c.column != NODE_NONE)
			cells[cnt++] = c;
	}
	add_row(g, row, cells, cnt);
}

static void sum_batch(void *arg, const struct row_batch *b)
{
	struct pair_maker *g = arg;
	const struct times_column *columns;

	times_batch(&g->batch, b);
	columns = g->batch.columns.items;
	g->row_cnt[b->group] += b->cnt;
	g->t[b->group].x += batch_sum(b->ns[0]);
	g->t[b->group].xx += row_batch_product(b, 0, 0);
	memset(g->column_of, 0xff, g->cnt * sizeof(*g->column_of));
	for (uint32_t i = 0; i < g->batch.columns.cnt; i++) {
		uint32_t index = g->index_of_part[columns[i].column];

		if (index == NODE_NONE)
			continue;
		g->column_of[index] = i;
		g->x[index * g->block_cnt + b->group] += batch_sum(columns[i].ns);
	}
	for (size_t c = 0; c < g->candidates.cnt; c++) {
		uint32_t p = g->column_of[g->candidates.items[c].p], q = g->column_of[g->candidates.items[c].q];

		if (p != NODE_NONE && q != NODE_NONE)
			g->xy[c * g->block_cnt + b->group] += batch_product(columns[p].ns, columns[q].ns,
									    columns[p].rows_with & columns[q].rows_with);
	}
}

static __int128 whole(const struct pair_maker *g, const __int128 *blocks)
{
	__int128 sum = 0;

	for (size_t b = 0; b < g->block_cnt; b++)
		sum += blocks[b];
	return sum;
}

/* ---- where a pair is ---- */

static void list_places(struct pair_maker *g)
{
	const struct vtree *v = g->a->v;
	const uint32_t *part_of_place = g->columns->times->column_of_place;
	size_t parts = g->a->f->parts.cnt;
	_cleanup_(freep) uint32_t *next = xcalloc(parts + 1, sizeof(*next));

	g->first_place = xcalloc(parts + 2, sizeof(*g->first_place));
	g->places = xcalloc(v->places.cnt + 1, sizeof(*g->places));
	g->depths = xcalloc(v->places.cnt + 1, sizeof(*g->depths));
	for (size_t i = 1; i < v->places.cnt; i++)	/* parents have smaller numbers */
		g->depths[i] = g->depths[v->places.items[i].parent] + 1;
	for (size_t i = 0; i < v->places.cnt; i++)
		if (part_of_place[i] != NODE_NONE)
			g->first_place[part_of_place[i] + 1]++;
	for (size_t i = 0; i < parts; i++) {
		g->first_place[i + 1] += g->first_place[i];
		next[i] = g->first_place[i];
	}
	for (uint32_t i = 0; i < v->places.cnt; i++)
		if (part_of_place[i] != NODE_NONE)
			g->places[next[part_of_place[i]]++] = i;
}

/* The place that is shown for a part's place: for a blame the wait, for a body that is all of its function the function. */
static uint32_t shown_place(const struct pair_maker *g, uint32_t place)
{
	const struct place *p = &g->a->v->places.items[place];

	if (p->kind == NODE_BLAME)
		return place_blamed_wait(g->a->v, place);
	return g->shown->node_of_place[place] == NODE_NONE ? p->parent : place;
}

/* The two siblings that contain them. */
static void part_ways(const struct pair_maker *g, uint32_t *i, uint32_t *k)
{
	const struct place *places = g->a->v->places.items;

	while (g->depths[*i] > g->depths[*k])
		*i = places[*i].parent;
	while (g->depths[*k] > g->depths[*i])
		*k = places[*k].parent;
	while (places[*i].parent != places[*k].parent) {
		*i = places[*i].parent;
		*k = places[*k].parent;
	}
}

/* The factor of kind pair whose siblings contain them, or NODE_NONE. */
static uint32_t sibling_factor(const struct pair_maker *g, uint32_t i, uint32_t k)
{
	const uint32_t *node_of_place = g->shown->node_of_place, *factor_of_node = g->factors->of_node;
	uint32_t x = node_of_place[i] == NODE_NONE ? NODE_NONE : factor_of_node[node_of_place[i]];
	uint32_t y = node_of_place[k] == NODE_NONE ? NODE_NONE : factor_of_node[node_of_place[k]];
	uint64_t pair;

	if (x == NODE_NONE || y == NODE_NONE ||
	    !map_get(g->factors->of_pair, (uint64_t)(x < y ? x : y) << 32 | (x < y ? y : x), &pair))
		return NODE_NONE;
	return (uint32_t)pair;
}

/* Sets within to the one sibling pair that contains every place of both parts, if any; across if they are not siblings
 * everywhere. */
static void find_siblings(const struct pair_maker *g, struct part_pair *pair)
{
	const uint32_t *a = g->places + g->first_place[pair->a], *b = g->places + g->first_place[pair->b];
	size_t a_cnt = g->first_place[pair->a + 1] - g->first_place[pair->a];
	size_t b_cnt = g->first_place[pair->b + 1] - g->first_place[pair->b];

	pair->within = NODE_NONE;
	if (a_cnt * b_cnt > PLACES_MAX) {
		pair->across = true;
		return;
	}
	for (size_t n = 0; n < a_cnt * b_cnt; n++) {
		uint32_t i = a[n / b_cnt], k = b[n % b_cnt], factor;
		uint32_t shown_i = shown_place(g, i), shown_k = shown_place(g, k);

		part_ways(g, &i, &k);
		pair->across |= i != shown_i || k != shown_k;
		factor = sibling_factor(g, i, k);
		if (n > 0 && factor != pair->within)
			factor = NODE_NONE;
		pair->within = factor;
		if (factor == NODE_NONE && pair->across)
			break;
	}
}

/* The label of a member, as for pairs of siblings (factor_pairs.c). */
static const char *label_of(const struct pair_maker *g, uint32_t part)
{
	const struct part *p = &g->a->f->parts.items[part];
	struct arena *arena = g->a->f->arena;

	if (p->is_wait)
		return p->function ? arena_printf(arena, "wait:%s in %s", trace_state_name(p->wait), p->function)
				   : arena_printf(arena, "wait:%s", trace_state_name(p->wait));
	if (!p->function)
		return "body";
	for (uint32_t i = g->first_place[part]; i < g->first_place[part + 1]; i++)
		if (shown_place(g, g->places[i]) == g->places[i])
			return arena_printf(arena, "body of %s", p->function);
	return p->function;
}

static void name_pair(const struct pair_maker *g, struct part_pair *pair)
{
	const char *a = label_of(g, pair->a), *b = label_of(g, pair->b);
	bool in_order = strcmp(a, b) <= 0;

	pair->labels[0] = in_order ? a : b;
	pair->labels[1] = in_order ? b : a;
	if (!in_order) {
		uint32_t first = pair->b;

		pair->b = pair->a;
		pair->a = first;
	}
}

/* ---- what is kept ---- */

static void set_ci95(const struct pair_maker *g, size_t candidate, const struct sums *x, const struct sums *y,
		     struct part_pair *pair)
{
	const struct candidate_pair *c = &g->candidates.items[candidate];
	__int128 t = g->a->m->places.items[0].x;
	uint64_t n = g->a->m->n;
	double blocks[CONFIDENCE_BLOCKS_MAX];
	struct confidence ci;

	if (analysis_blocks(g->a).cnt == 0)
		return;
	for (size_t b = 0; b < g->block_cnt; b++) {
		double xy = moments_centred(n, x->x, y->x, g->row_cnt[b], g->x[c->p * g->block_cnt + b],
					    g->x[c->q * g->block_cnt + b], g->xy[candidate * g->block_cnt + b]);
		double tt = moments_centred(n, t, t, g->row_cnt[b], g->t[b].x, g->t[b].x, g->t[b].xx);

		blocks[b] = (2 * xy - pair->share * tt) / g->a->variance_ns2;
	}
	ci = confidence_of(blocks, analysis_blocks(g->a), n);
	pair->has_ci95 = true;
	pair->ci95[0] = pair->share - ci.half_width;
	pair->ci95[1] = pair->share + ci.half_width;
}

/* rest: per part, T without it and without its kept partners; xt: its products with that. */
static void keep_pair(struct pair_maker *g, size_t candidate, struct sums *rest)
{
	const struct analysis *a = g->a;
	const struct candidate_pair *c = &g->candidates.items[candidate];
	struct part_pair pair = { .a = g->list[c->p].part, .b = g->list[c->q].part };
	const struct sums *x = &g->columns->sums[pair.a], *y = &g->columns->sums[pair.b];
	__int128 xy = whole(g, g->xy + candidate * g->block_cnt);

	pair.covariance_ns2 = moments_covariance(a->m->n, x->x, y->x, xy);
	pair.share = 2 * analysis_share(a, pair.covariance_ns2);
	if (fabs(pair.share) < PAIR_MIN)
		return;
	rest[pair.a].x -= y->x;
	rest[pair.a].xt -= xy;
	rest[pair.b].x -= x->x;
	rest[pair.b].xt -= xy;
	set_ci95(g, candidate, x, y, &pair);
	find_siblings(g, &pair);
	name_pair(g, &pair);
	VEC_ADD(&a->f->part_pairs, pair);
}

static int most_first(const void *a, const void *b)
{
	const struct part_pair *x = a, *y = b;

	if (fabs(x->share) != fabs(y->share))
		return fabs(x->share) > fabs(y->share) ? -1 : 1;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return (x->b > y->b) - (x->b < y->b);
}

static void keep_pairs(struct pair_maker *g)
{
	const struct analysis *a = g->a;
	_cleanup_(freep) struct sums *rest = xcalloc(a->f->parts.cnt + 1, sizeof(*rest));

	for (size_t i = 0; i < a->f->parts.cnt; i++) {
		rest[i].x = a->m->places.items[0].x - g->columns->sums[i].x;
		rest[i].xt = g->columns->sums[i].xt - g->columns->sums[i].xx;
	}
	for (size_t i = 0; i < g->candidates.cnt; i++)
		keep_pair(g, i, rest);
	if (a->f->part_pairs.cnt > 1)
		qsort(a->f->part_pairs.items, a->f->part_pairs.cnt, sizeof(*a->f->part_pairs.items), most_first);
	for (size_t i = 0; i < a->f->parts.cnt; i++) {
		struct part *p = &a->f->parts.items[i];
		const struct sums *x = &g->columns->sums[i];

		if (p->is_estimated)
			continue;
		p->variance_share = analysis_share(a, moments_covariance(a->m->n, x->x, x->x, x->xx));
		p->other_pairs = 2 * analysis_share(a, moments_covariance(a->m->n, x->x, rest[i].x, rest[i].xt));
	}
}

struct pair_maker *begin_part_pairs(const struct analysis *a, const struct shown_tree *shown, const struct factor_columns *factors,
				    const struct part_columns *parts, struct row_reading *r)
{
	struct pair_maker *g = xcalloc(1, sizeof(*g));

	g->a = a;
	g->shown = shown;
	g->factors = factors;
	g->columns = parts;
	if (a->variance_ns2 > 0)
		choose_pairs(g);
	if (g->candidates.cnt == 0)
		return g;
	make_room(g);
	times_row_init(&g->row, parts->times);
	times_batch_init(&g->batch, parts->times);
	visit_rows(r, sum_row, sum_batch, g);
	return g;
}

void end_part_pairs(struct pair_maker *g)
{
	if (g->candidates.cnt)
		list_places(g);
	keep_pairs(g);
	times_row_release(&g->row);
	times_batch_release(&g->batch);
	free(g->list);
	VEC_RELEASE(&g->candidates);
	free(g->index_of_part);
	free(g->candidate_at);
	free(g->ns);
	free(g->column_of);
	free(g->x);
	free(g->xy);
	free(g->t);
	free(g->row_cnt);
	free(g->first_place);
	free(g->places);
	free(g->depths);
	free(g);
}
