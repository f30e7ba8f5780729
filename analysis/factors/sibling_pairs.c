/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sibling_pairs.c - candidates in a staircase, and their sums.
 *
 * Children of a parent stand next to each other in slots, the one that varies most first.  Then the partners of a
 * slot are the slots after it, up to an end that never increases from slot to slot (as long as there are partners):
 *
 *	slot		0 (sd 9)   1 (sd 5)   2 (sd 1)   3 (sd 1)
 *	end		4	   4	      3		 4
 *	first sum	0	   3	      5		 5
 *
 * The sum of slots i < k is first_sum[i] + k - i - 1.  A row costs its children in slots, sorted, and their
 * candidates.
 */
#include "analysis/factors/sibling_pairs.h"

#include <math.h>
#include <string.h>
#include "analysis/pass/row_reading.h"
#include "analysis/tree/row_tree.h"
#include "base/banned.h"

#define ROUNDING 1e-9			/* relative error of a bound: standard deviations are doubles */
#define HALVINGS 64			/* after this many halvings a limit no longer changes */

size_t sibling_pairs_max = SIBLING_PAIRS_MAX;

struct slot {
	uint32_t place;
	uint32_t end;			/* its partners are the slots after it and before this one */
	uint32_t family_end;		/* slots from here on have another parent */
	bool all;
	double sd;
	size_t first_sum;
};

struct present {			/* in a row, or a batch */
	uint32_t slot, at;		/* at: in the row's list, or among the batch's nodes */
};

struct sibling_pairs {
	const struct analysis *a;
	VEC(struct slot) slots;
	uint32_t *slot_of_place;	/* NODE_NONE: in no candidate */
	size_t sum_cnt;
	__int128 *sums;
	struct row_tree tree;
	VEC(struct present) present;
};

struct sibling_pairs *sibling_pairs_new(const struct analysis *a)
{
	struct sibling_pairs *p = xcalloc(1, sizeof(*p));

	p->a = a;
	return p;
}

void sibling_pairs_free(struct sibling_pairs *p)
{
	if (!p)
		return;
	VEC_RELEASE(&p->slots);
	VEC_RELEASE(&p->present);
	row_tree_release(&p->tree);
	free(p->slot_of_place);
	free(p->sums);
	free(p);
}

/* ---- which pairs may matter ---- */

static int larger_first(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	if (x->sd != y->sd)
		return x->sd > y->sd ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

void sibling_pairs_add(struct sibling_pairs *p, const uint32_t *places, size_t cnt, bool all)
{
	size_t first = p->slots.cnt;

	for (size_t i = 0; i < cnt; i++)
		VEC_ADD(&p->slots, (struct slot){
			.place = places[i], .all = all, .family_end = (uint32_t)(first + cnt),
			.sd = sqrt(moments_variance_of(p->a->m, places[i])) });
	if (cnt > 1)
		qsort(p->slots.items + first, cnt, sizeof(*p->slots.items), larger_first);
}

static bool can_reach(const struct slot *x, const struct slot *y, double limit)
{
	return x->all || 2 * x->sd * y->sd >= limit * (1 - ROUNDING);
}

/* Sets the ends, and returns how many pairs that is, those of "all" not counted. */
static size_t set_ends(struct sibling_pairs *p, double limit)
{
	struct slot *slots = p->slots.items;
	size_t pair_cnt = 0;

	for (uint32_t i = 0, end = 0; i < p->slots.cnt; i++) {
		if (i == 0 || slots[i].family_end != slots[i - 1].family_end)
			end = slots[i].family_end;
		while (end > i + 1 && !can_reach(&slots[i], &slots[end - 1], limit))
			end--;
		slots[i].end = end > i + 1 ? end : i + 1;
		pair_cnt += slots[i].all ? 0 : slots[i].end - i - 1;
	}
	return pair_cnt;
}

/* The limits are too close to distinguish the pairs between them: takes the first of these, as many as fit. */
static void fill_up(struct sibling_pairs *p, double few, double many)
{
	size_t cnt = set_ends(p, few), room = sibling_pairs_max - cnt;
	_cleanup_(freep) uint32_t *ends = xcalloc(p->slots.cnt + 1, sizeof(*ends));

	for (size_t i = 0; i < p->slots.cnt; i++)
		ends[i] = p->slots.items[i].end;
	set_ends(p, many);
	for (size_t i = 0; i < p->slots.cnt; i++) {
		uint32_t *end = &p->slots.items[i].end;
		size_t more = *end - ends[i];

		if (more > room)
			more = room;
		*end = ends[i] + (uint32_t)more;
		room -= more;
	}
}

static void choose(struct sibling_pairs *p, double limit)
{
	double few = 0, many = limit;

	if (set_ends(p, limit) <= sibling_pairs_max)
		return;
	for (size_t i = 0; i < p->slots.cnt; i++)
		few = fmax(few, 2 * p->slots.items[i].sd * p->slots.items[i].sd);
	few *= 2;
	for (int i = 0; i < HALVINGS; i++) {
		double between = sqrt(few) * sqrt(many);

		if (set_ends(p, between) <= sibling_pairs_max)
			few = between;
		else
			many = between;
	}
	fill_up(p, few, many);
}

/* ---- their sums ---- */

static void number_sums(struct sibling_pairs *p)
{
	p->slot_of_place = xmalloc((p->a->v->places.cnt + 1) * sizeof(*p->slot_of_place));
	memset(p->slot_of_place, 0xff, (p->a->v->places.cnt + 1) * sizeof(*p->slot_of_place));
	for (uint32_t i = 0; i < p->slots.cnt; i++) {
		struct slot *s = &p->slots.items[i];

		s->first_sum = p->sum_cnt;
		p->sum_cnt += s->end - i - 1;
		if (i > 0 && s[-1].family_end == s->family_end)
			continue;		/* no slot has partners after the first one's */
		for (uint32_t k = i; s->end > i + 1 && k < s->end; k++)
			p->slot_of_place[p->slots.items[k].place] = k;
	}
	p->sums = xcalloc(p->sum_cnt + 1, sizeof(*p->sums));
}

static int by_slot(const void *a, const void *b)
{
	const struct present *x = a, *y = b;

	return (x->slot > y->slot) - (x->slot < y->slot);
}

static void add_present(struct sibling_pairs *p, uint32_t place, uint32_t at)
{
	if (p->slot_of_place[place] != NODE_NONE)
		VEC_ADD(&p->present, (struct present){ p->slot_of_place[place], at });
}

static void sort_present(struct sibling_pairs *p)
{
	if (p->present.cnt > 1)
		qsort(p->present.items, p->present.cnt, sizeof(*p->present.items), by_slot);
}

/* The product of the times of the a-th and the b-th node of OF, summed over its rows. */
typedef __int128 product_fn(const void *of, uint32_t a, uint32_t b);

static __int128 product_in_list(const void *of, uint32_t a, uint32_t b)
{
	const struct listed *list = of;

	return (__int128)list[a].ns * list[b].ns;
}

static __int128 product_in_batch(const void *of, uint32_t a, uint32_t b)
{
	return row_batch_product(of, a, b);
}

/* Adds the products of the pairs among p->present.  Inlined, so that each caller's PRODUCT is no call. */
static inline void add_products(struct sibling_pairs *p, product_fn *product, const void *of)
{
	const struct present *here;

	sort_present(p);
	here = p->present.items;
	for (size_t i = 0; i < p->present.cnt; i++) {
		const struct slot *s = &p->slots.items[here[i].slot];
		__int128 *sums = p->sums + s->first_sum;

		for (size_t k = i + 1; k < p->present.cnt && here[k].slot < s->end; k++)
			sums[here[k].slot - here[i].slot - 1] += product(of, here[i].at, here[k].at);
	}
}

static void add_row(void *arg, size_t row, const cells *places)
{
	struct sibling_pairs *p = arg;
	const struct listed *list;

	(void)row;
	row_tree_fill(&p->tree, p->a->v, places);
	list = p->tree.list.items;
	p->present.cnt = 0;
	for (uint32_t k = 0; k < p->tree.list.cnt; k++)
		add_present(p, list[k].place, k);
	add_products(p, product_in_list, list);
}

static void add_batch(void *arg, const struct row_batch *b)
{
	struct sibling_pairs *p = arg;

	p->present.cnt = 0;
	for (uint32_t k = 0; k < b->nodes.cnt; k++)
		add_present(p, b->nodes.items[k].place, k);
	add_products(p, product_in_batch, b);
}

static void take_sums(struct sibling_pairs *p)
{
	for (uint32_t i = 0; i < p->slots.cnt; i++) {
		const struct slot *s = &p->slots.items[i];

		for (uint32_t k = i + 1; k < s->end; k++)
			p->sums[s->first_sum + k - i - 1] = pair_sum_of(p->a->sums, s->place, p->slots.items[k].place);
	}
}

void sibling_pairs_sum(struct sibling_pairs *p, double limit)
{
	struct row_reading reading = { 0 };

	choose(p, limit);
	number_sums(p);
	if (p->sum_cnt == 0)
		return;
	if (p->a->sums) {
		take_sums(p);
		return;
	}
	visit_rows(&reading, add_row, add_batch, p);
	read_rows(&reading, p->a);
}

void sibling_pairs_each(const struct sibling_pairs *p, void (*visit)(void *arg, uint32_t x, uint32_t y, double covariance_ns2),
			void *arg)
{
	const struct moments *m = p->a->m;

	for (uint32_t i = 0; i < p->slots.cnt; i++) {
		const struct slot *s = &p->slots.items[i];

		for (uint32_t k = i + 1; k < s->end; k++) {
			uint32_t x = s->place, y = p->slots.items[k].place;

			visit(arg, x, y, moments_covariance(m->n, m->places.items[x].x, m->places.items[y].x,
							    p->sums[s->first_sum + k - i - 1]));
		}
	}
}
