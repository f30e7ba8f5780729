/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pairs_told.c - which pairs are worth a line beside the factors.
 *
 * Hedges are pairs that make up for each other: siblings in the tree, and parts across it.  Where one pair of parts is nearly
 * all of a pair of siblings (.8), it is told and the siblings are not, for it is the same variance.  Companions take
 * long together: parts across the tree only, for siblings are beside each other in the tree anyway; not two members of one
 * common cause, which is told as such.
 *
 * Example: parse and reply -30 %; in them fill and drop -28 %, nothing else: hedge fill, drop -28 %, below parse and reply.
 */
#include "analysis/findings.h"

#include <math.h>
#include <string.h>
#include "base/banned.h"

#define NEARLY_ALL 0.8

typedef VEC(struct told_pair) told_pairs;

static bool is_member(const struct common_cause *c, uint32_t part)
{
	for (size_t i = 0; i < c->members.cnt; i++)
		if (c->members.items[i].part == part)
			return true;
	return false;
}

static bool is_told_as_common(const struct findings *f, const struct part_pair *p)
{
	for (size_t i = 0; i < f->common_causes.cnt; i++)
		if (is_member(&f->common_causes.items[i], p->a) && is_member(&f->common_causes.items[i], p->b))
			return true;
	return false;
}

static void add_across(const struct findings *f, bool hedges, double limit, told_pairs *list)
{
	for (size_t i = 0; i < f->part_pairs.cnt; i++) {
		const struct part_pair *p = &f->part_pairs.items[i];
		struct told_pair told = {
			.labels = { p->labels[0], p->labels[1] }, .share = p->share, .has_ci95 = p->has_ci95,
			.ci95 = { p->ci95[0], p->ci95[1] }, .across = true,
		};

		if (!p->across || !((hedges ? -p->share : p->share) > limit) || (!hedges && is_told_as_common(f, p)))
			continue;
		if (p->within != NODE_NONE) {
			told.below[0] = f->factors.items[p->within].functions[0];
			told.below[1] = f->factors.items[p->within].functions[1];
		}
		VEC_ADD(list, told);
	}
}

static void add_siblings(const struct findings *f, double limit, told_pairs *list)
{
	_cleanup_(freep) bool *told = xcalloc(f->factors.cnt + 1, sizeof(*told));

	for (size_t i = 0; i < f->part_pairs.cnt; i++) {
		const struct part_pair *p = &f->part_pairs.items[i];

		if (p->across && p->within != NODE_NONE && p->share < -limit &&
		    p->share <= NEARLY_ALL * f->factors.items[p->within].share)
			told[p->within] = true;
	}
	for (size_t i = 0; i < f->factors.cnt; i++) {
		const struct factor *x = &f->factors.items[i];

		if (x->kind == FACTOR_PAIR && x->share < -limit && !told[i])
			VEC_ADD(list, (struct told_pair){
				.labels = { x->functions[0], x->functions[1] }, .share = x->share,
				.has_ci95 = x->has_ci95, .ci95 = { x->ci95[0], x->ci95[1] } });
	}
}

static int largest_first(const void *a, const void *b)
{
	const struct told_pair *x = a, *y = b;
	int r;

	if (fabs(x->share) != fabs(y->share))
		return fabs(x->share) > fabs(y->share) ? -1 : 1;
	r = strcmp(x->labels[0], y->labels[0]);
	return r ? r : strcmp(x->labels[1], y->labels[1]);
}

size_t findings_pairs(const struct findings *f, bool hedges, double limit, struct told_pair **ret)
{
	told_pairs list = { NULL, 0, 0 };

	add_across(f, hedges, limit, &list);
	if (hedges)
		add_siblings(f, limit, &list);
	if (list.cnt > 1)
		qsort(list.items, list.cnt, sizeof(*list.items), largest_first);
	*ret = list.items;
	return list.cnt;
}
