/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * factors.c - functions, bodies and waits, each summed over all its places (paper 3.2.2).
 *
 * A function's time in an interval is summed over its call sites before the variance is taken, so that a cause spread
 * over many places counts as one:
 *
 *	f@1 takes 1,2,3,4 and f@2 4,2,1,1:  f is 5,4,4,5, variance 0.25, not 1.25 + 1.5
 *
 * If f is below f, only the outermost place counts, so that no time counts twice; bodies and waits never overlap.
 * Heights: a wait 0; a body 0, or its function's if that calls functions that were not probed (the body then holds
 * all of them), and the interval's own body the interval's, for nothing is known about it.  The root of the call
 * graph is not a factor: it would only say that "the request" explains all of the request.
 */
#include "analysis/factors/factors.h"

#include <stdlib.h>
#include <string.h>
#include "analysis/factors/confidence_findings.h"
#include "base/map.h"
#include "base/banned.h"

struct factor_maker {
	const struct analysis *a;
	const struct call_graph *g;
	const struct shown_tree *shown;
	struct factor_columns *c;
	struct influence_maker *influence;
	struct factor_sums *sums;
	struct times_row row;
	struct times_batch batch;
	VEC(strings) sites;		/* per factor */
};

static void make_factors(struct factor_maker *k);
static void make_times(struct factor_maker *k);
static void sum_row(void *arg, size_t row, const cells *places);
static void sum_batch(void *arg, const struct row_batch *b);
static void fill_factors(struct factor_maker *k, const struct tail_rows *tail);
static void keep_call_sites(struct factor_maker *k);
static void find_reasons(struct factor_maker *k);

struct factor_maker *begin_factors(const struct analysis *a, const struct call_graph *g, const struct shown_tree *shown,
				   struct row_reading *r, struct factor_columns *ret)
{
	struct factor_maker *k = xcalloc(1, sizeof(*k));

	k->a = a;
	k->g = g;
	k->shown = shown;
	k->c = ret;
	ret->of_node = xcalloc(a->f->nodes.cnt + 1, sizeof(*ret->of_node));
	ret->of_pair = map_new();
	make_factors(k);
	k->sums = xcalloc(a->f->factors.cnt + 1, sizeof(*k->sums));
	ret->presences = xcalloc(a->f->factors.cnt + 1, sizeof(*ret->presences));
	make_times(k);
	times_row_init(&k->row, ret->times);
	times_batch_init(&k->batch, ret->times);
	visit_rows(r, sum_row, sum_batch, k);
	find_pairs(a->f, ret);
	k->influence = begin_confidence(a, shown, ret, r);
	return k;
}

void end_factors(struct factor_maker *k, const struct tail_rows *tail)
{
	if (k->a->sums)
		factors_take_sums(k->a, k->c, k->sums);
	fill_factors(k, tail);
	keep_call_sites(k);
	find_reasons(k);
	fill_scores(k->a->f);
	end_confidence(k->influence);
	times_row_release(&k->row);
	times_batch_release(&k->batch);
	free(k->sums);
	free(k);
}

void factor_columns_release(struct factor_columns *c)
{
	times_free(c->times);
	free(c->presences);
	free(c->of_node);
	free(c->blocks_of_place);
	map_free(c->of_pair);
}

static uint32_t height_of(const struct factor_maker *k, const struct place *p)
{
	switch (p->kind) {
	case NODE_FUNCTION:
		return k->g->heights[p->function];
	case NODE_BODY:
		if (p->function == FUNCTION_NONE)
			return k->a->f->root_height;
		return k->g->open[p->function] ? k->g->heights[p->function] : 0;
	default:
		return 0;
	}
}

static void add_factor(struct factor_maker *k, const struct place *p, const struct node *node)
{
	static const enum factor_kind kinds[] = {
		[NODE_FUNCTION] = FACTOR_FUNCTION, [NODE_BODY] = FACTOR_BODY,
		[NODE_WAIT] = FACTOR_WAIT,
	};
	struct factor x = {
		.kind = kinds[p->kind], .function = node->function, .file = node->file,
		.line = node->line, .is_wait = node->is_wait, .wait = node->wait,
		.height = height_of(k, p), .open = node->open,
	};

	VEC_ADD(&k->a->f->factors, x);
	VEC_EXTEND(&k->sites);
}

/* The run queue comes first of all: no function causes it. */
static void add_runqueue(struct factor_maker *k)
{
	static const struct place nowhere = { .kind = NODE_WAIT };
	static const struct node node = { .kind = NODE_WAIT, .is_wait = true, .wait = STATE_RUNNABLE };

	k->c->runqueue = NODE_NONE;
	if (!has_runqueue(k->a))
		return;
	k->c->runqueue = (uint32_t)k->a->f->factors.cnt;
	add_factor(k, &nowhere, &node);
}

static void add_sites(struct factor_maker *k, uint32_t factor, const struct node *node)
{
	const struct analysis *a = k->a;
	uint32_t at = node->kind == NODE_FUNCTION ? node->id : node->parent;
	strings sites = { NULL, 0, 0 };

	place_call_sites(a, k->shown->place_of_node[at], &sites);
	for (size_t i = 0; i < sites.cnt; i++)
		VEC_ADD(&k->sites.items[factor], sites.items[i]);
	VEC_RELEASE(&sites);
}

static void make_factors(struct factor_maker *k)
{
	const struct analysis *a = k->a;
	_cleanup_(map_freep) struct map *index = map_new();

	k->c->of_node[0] = NODE_NONE;
	add_runqueue(k);
	for (uint32_t i = 1; i < a->f->nodes.cnt; i++) {
		const struct node *node = &a->f->nodes.items[i];
		const struct place *p = &a->v->places.items[k->shown->place_of_node[i]];
		uint64_t *slot;

		k->c->of_node[i] = NODE_NONE;
		if (p->kind == NODE_BLAME ||
		    (p->kind == NODE_FUNCTION && p->function == k->shown->root_function))
			continue;
		if (place_has_runqueue_factor(k->c, a->v, p)) {
			k->c->of_node[i] = k->c->runqueue;
			continue;
		}
		slot = map_slot(index, (uint64_t)p->kind << 40 | (uint64_t)p->wait << 32 |
				p->function);
		if (*slot == 0) {
			add_factor(k, p, node);
			*slot = a->f->factors.cnt;
		}
		k->c->of_node[i] = (uint32_t)(*slot - 1);
		if (p->kind != NODE_FUNCTION || p->outermost)
			a->f->factors.items[*slot - 1].samples += node->samples;
		add_sites(k, k->c->of_node[i], node);
	}
}

/* The factor that a place's time counts for, or NODE_NONE. */
static uint32_t factor_of_place(const struct factor_maker *k, uint32_t place)
{
	const struct place *p = &k->a->v->places.items[place];
	uint32_t node = k->shown->node_of_place[place];

	if (place_has_runqueue_factor(k->c, k->a->v, p))
		return k->c->runqueue;
	if (node == NODE_NONE || (p->kind == NODE_FUNCTION && !p->outermost))
		return NODE_NONE;
	return k->c->of_node[node];
}

static void make_times(struct factor_maker *k)
{
	size_t cnt = k->a->v->places.cnt;
	_cleanup_(freep) uint32_t *factors = xcalloc(cnt, sizeof(*factors));

	for (uint32_t i = 0; i < cnt; i++)
		factors[i] = factor_of_place(k, i);
	k->c->times = times_new(k->a->v, k->a->rows, factors, k->a->f->factors.cnt);
}

static void sum_row(void *arg, size_t row, const cells *places)
{
	struct factor_maker *k = arg;
	const struct analysis *a = k->a;
	int64_t latency_ns = a->full->of_row[row];
	bool in_tail = latency_ns >= a->f->tail.from_ns;

	times_row(&k->row, places);
	for (size_t c = 0; c < k->row.cells.cnt; c++) {
		struct factor_sums *s = &k->sums[k->row.cells.items[c].column];
		int64_t x = k->row.cells.items[c].ns;

		s->x += x;
		s->xx += (__int128)x * x;
		s->xt += (__int128)x * latency_ns;
		s->tail_x += in_tail ? x : 0;
		k->c->presences[k->row.cells.items[c].column].cnt += x > 0;
		k->c->presences[k->row.cells.items[c].column].t += x > 0 ? latency_ns : 0;
	}
}

static void sum_batch(void *arg, const struct row_batch *b)
{
	struct factor_maker *k = arg;
	batch_column in_tail;
	uint64_t tail = batch_rows_from(b, k->a->f->tail.from_ns, in_tail);

	times_batch(&k->batch, b);
	for (size_t c = 0; c < k->batch.columns.cnt; c++) {
		const struct times_column *x = &k->batch.columns.items[c];
		struct factor_sums *s = &k->sums[x->column];

		s->x += batch_sum(x->ns);
		s->xx += batch_product(x->ns, x->ns, x->rows_with);
		s->xt += batch_product(x->ns, b->ns[0], x->rows_with);
		s->tail_x += tail & x->rows_with ? batch_sum_where(x->ns, in_tail) : 0;
		k->c->presences[x->column].cnt += (uint64_t)__builtin_popcountll(x->rows_with);
		k->c->presences[x->column].t += batch_sum_of_rows(b->ns[0], x->rows_with);
	}
}

/* How much more of the factor the tail has than the average, relative to how much more latency. */
static void fill_tail(const struct analysis *a, const struct tail_rows *rows, struct factor *x, const struct factor_sums *s)
{
	const struct tail *tail = &a->f->tail;
	long double n = a->m->n, cnt = rows->slow;
	double extra = tail->mean_ns - a->f->interval.mean_ns;

	if (tail->cnt < TAIL_INTERVALS_MIN || extra <= 0)
		return;
	x->has_tail = true;
	x->tail_share = (double)((s->tail_x / cnt - s->x / n) / extra);
}

static void fill_factors(struct factor_maker *k, const struct tail_rows *tail)
{
	const struct analysis *a = k->a;
	uint64_t n = a->m->n;

	for (size_t i = 0; i < k->c->times->column_cnt; i++) {
		struct factor *x = &a->f->factors.items[i];
		const struct factor_sums *s = &k->sums[i];

		x->mean_ns = moments_mean(n, s->x);
		x->share = analysis_share(a, moments_covariance(n, s->x, a->m->places.items[0].x, s->xt));
		x->variance_share = x->samples ? 0 : analysis_share(a, moments_covariance(n, s->x, s->x, s->xx));
		x->has_presence = n > 0 && k->c->presences[i].cnt != PRESENCE_UNKNOWN;
		x->has_presence &= !x->samples;
		x->presence = x->has_presence ? (double)k->c->presences[i].cnt / (double)n : 0;
		fill_tail(a, tail, x, s);
	}
}

static void keep_call_sites(struct factor_maker *k)
{
	struct arena *arena = k->a->f->arena;

	for (size_t i = 0; i < k->sites.cnt; i++) {
		strings *sites = &k->sites.items[i], *kept = &k->a->f->factors.items[i].call_sites;

		strings_sort_unique(sites);
		kept->cnt = kept->cap = sites->cnt;
		kept->items = ARENA_NEW(arena, const char *, sites->cnt ? sites->cnt : 1);
		for (size_t j = 0; j < sites->cnt; j++)
			kept->items[j] = arena_strdup(arena, sites->items[j]);
		VEC_RELEASE(sites);
	}
	VEC_RELEASE(&k->sites);
}

/* ---- because_of: the blames of a wait, summed over its places --------------------- */

#define REASON_MAIN 0.8			/* of a blame's share, one below it that is nearly all of it */

struct reason {				/* a blame place's part of a factor */
	uint32_t factor;
	struct because because;
};

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_because(const struct because *a, const struct because *b)
{
	int r = compare_text(a->function, b->function);

	if (r == 0)
		r = compare_text(a->file, b->file);
	if (r == 0 && a->is_wait != b->is_wait)
		r = a->is_wait ? 1 : -1;
	if (r == 0)
		r = (a->wait > b->wait) - (a->wait < b->wait);
	return r ? r : compare_text(a->device, b->device);
}

static int compare_reasons(const void *x, const void *y)
{
	const struct reason *a = x, *b = y;

	if (a->factor != b->factor)
		return a->factor < b->factor ? -1 : 1;
	return compare_because(&a->because, &b->because);
}

static int by_share(const void *x, const void *y)
{
	const struct because *a = x, *b = y;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return compare_because(a, b);
}

/* Whether such a wait always ends because another thread acts.  A sleep or a read may end by itself, so an unknown
 * waker need not be sought. */
static bool somebody_ends(enum trace_state wait)
{
	return wait == STATE_LOCK || wait == STATE_COND || wait == STATE_JOIN;
}

/* Reasons first .. end - 1 are one factor's, equal ones side by side. */
static void keep_reasons(struct factor_maker *k, const struct reason *first, const struct reason *end)
{
	struct factor *x = &k->a->f->factors.items[first->factor];
	struct because *items = ARENA_NEW(k->a->f->arena, struct because, end - first);
	size_t cnt = 0;

	for (const struct reason *r = first; r < end; r++) {
		if (cnt > 0 && compare_because(&items[cnt - 1], &r->because) == 0)
			items[cnt - 1].share += r->because.share;
		else
			items[cnt++] = r->because;
	}
	if (cnt == 1 && !items[0].function && !items[0].is_wait && !somebody_ends(x->wait))
		return;
	qsort(items, cnt, sizeof(*items), by_share);
	x->because_of.items = items;
	x->because_of.cnt = x->because_of.cap = cnt;
}

typedef VEC(struct reason) all_reasons;

/* Most of a blame's share is that of one below it, which has a name. */
static uint32_t main_child(const struct analysis *a, uint32_t place)
{
	const struct place *places = a->v->places.items;
	double share = moments_with_latency(a->m, place);

	for (uint32_t i = places[place].first_child; i != NODE_NONE; i = places[i].next_sibling)
		if (places[i].function != FUNCTION_NONE && share > 0 && moments_with_latency(a->m, i) > REASON_MAIN * share)
			return i;
	return NODE_NONE;
}

/* Follows a path of blames (place_blames.c) down as long as one blame has nearly all of it; branches have reasons of their own. */
static void add_reasons(const struct factor_maker *k, uint32_t place, uint32_t factor, all_reasons *ret)
{
	const struct analysis *a = k->a;
	const struct place *places = a->v->places.items, *p;
	uint32_t below;

	for (; (below = main_child(a, place)) != NODE_NONE; place = below)
		for (uint32_t i = places[place].first_child; i != NODE_NONE; i = places[i].next_sibling)
			if (i != below && places[i].presence)
				add_reasons(k, i, factor, ret);
	p = &places[place];
	/* Without a name below one that has: what that one did itself. */
	if (p->function == FUNCTION_NONE && places[p->parent].kind == NODE_BLAME)
		p = &places[p->parent];
	VEC_ADD(ret, (struct reason){ factor, {
		.function = analysis_function_name(a, p->function), .file = analysis_function_file(a, p->function),
		.is_wait = p->is_wait, .wait = p->wait, .device = place_device(p),
		.share = analysis_share(a, moments_with_latency(a->m, place)) } });
}

static void find_reasons(struct factor_maker *k)
{
	const struct analysis *a = k->a;
	all_reasons reasons = { NULL, 0, 0 };

	for (uint32_t i = 0; i < a->v->places.cnt; i++) {
		const struct place *p = &a->v->places.items[i];
		uint32_t factor;

		if (p->kind != NODE_BLAME || p->presence == 0 || a->v->places.items[p->parent].kind == NODE_BLAME)
			continue;
		factor = k->c->of_node[k->shown->node_of_place[p->parent]];
		if (factor == k->c->runqueue && factor != NODE_NONE)
			continue;
		add_reasons(k, i, factor, &reasons);
	}
	if (reasons.cnt > 1)
		qsort(reasons.items, reasons.cnt, sizeof(*reasons.items), compare_reasons);
	for (size_t i = 0, end; i < reasons.cnt; i = end) {
		for (end = i + 1; end < reasons.cnt; end++)
			if (reasons.items[end].factor != reasons.items[i].factor)
				break;
		keep_reasons(k, &reasons.items[i], &reasons.items[end]);
	}
	VEC_RELEASE(&reasons);
}
