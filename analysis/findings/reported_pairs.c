/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reported_pairs.c - which pairs are worth a line beside the factors.
 *
 * Hedges are pairs that offset each other: siblings in the tree, and parts across it.  If one pair of parts is
 * nearly all of a pair of siblings (.8), only the pair of parts is reported, since it is the same variance.
 * Companions take long together: parts across the tree only, since siblings are beside each other in the tree anyway;
 * not two members of one common cause, which is reported as such.
 *
 * Example: parse and reply -30 %; in them fill and drop -28 %, nothing else: hedge fill, drop -28 %, below parse and
 * reply.
 *
 * Two parts offset each other if an interval has both, and more of one goes with less of the other.  If each
 * interval has only one of them, E[XY] is 0, and
 *
 *	Cov(X,Y) = E[XY] - E[X] E[Y] = -E[X] E[Y]
 *
 * however little T varies: the share of Var(T) may be arbitrarily large, and says nothing about how long either
 * takes.  No covariance of times is lower.  So a pair with more than half of that covariance is reported as "either".
 * Examples: 600 us in one or the other: Cov = -90,000, E[X] E[Y] = 90,000: either.  X even between 0 and 600, Y = 600
 * - X: -30,000, a third of it: a hedge.
 */
#include "analysis/findings/findings.h"

#include <math.h>
#include <string.h>
#include "base/banned.h"

#define NEGLIGIBLE 1e-3			/* of a pair, at one of its places */
#define MOSTLY_APART 0.5		/* part of the covariance of two times that are never in one interval */

typedef VEC(struct reported_pair) reported_pairs;

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

/* covariance, products: sums over the places of the pair, of Cov(X,Y) and E[X] E[Y]. */
static bool are_apart(double covariance_ns2, double products_ns2)
{
	return products_ns2 > 0 && -covariance_ns2 > MOSTLY_APART * products_ns2;
}

/* The label of a pair's member (factor_pairs.c). */
static bool is_called(const struct node *n, const char *label)
{
	_cleanup_(freep) char *own = NULL;

	switch (n->kind) {
	case NODE_FUNCTION:
		return n->function && strcmp(n->function, label) == 0;
	case NODE_BODY:
		own = n->function ? xasprintf("body of %s", n->function) : xstrdup("body");
		break;
	case NODE_WAIT:
		own = n->function ? xasprintf("wait:%s in %s", trace_state_name(n->wait), n->function)
				  : xasprintf("wait:%s", trace_state_name(n->wait));
		break;
	default:
		return false;
	}
	return strcmp(own, label) == 0;
}

static bool siblings_are_apart(const struct findings *f, const struct factor *pair)
{
	double covariance_ns2 = 0, products_ns2 = 0;

	for (size_t i = 0; i < f->covariances.cnt; i++) {
		const struct covariance *c = &f->covariances.items[i];
		const struct node *a = &f->nodes.items[c->a], *b = &f->nodes.items[c->b];

		if (fabs(c->share) < NEGLIGIBLE * fabs(pair->share))
			continue;
		if ((is_called(a, pair->functions[0]) && is_called(b, pair->functions[1])) ||
		    (is_called(a, pair->functions[1]) && is_called(b, pair->functions[0]))) {
			covariance_ns2 += c->covariance_ns2;
			products_ns2 += a->mean_ns * b->mean_ns;
		}
	}
	return are_apart(covariance_ns2, products_ns2);
}

static void add_across(const struct findings *f, bool hedges, double limit, reported_pairs *list)
{
	for (size_t i = 0; i < f->part_pairs.cnt; i++) {
		const struct part_pair *p = &f->part_pairs.items[i];
		struct reported_pair told = {
			.labels = { p->labels[0], p->labels[1] }, .share = p->share, .has_ci95 = p->has_ci95,
			.ci95 = { p->ci95[0], p->ci95[1] }, .across = true,
			.either = are_apart(p->covariance_ns2,
					    f->parts.items[p->a].mean_ns * f->parts.items[p->b].mean_ns),
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

static void add_siblings(const struct findings *f, double limit, reported_pairs *list)
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
			VEC_ADD(list, (struct reported_pair){
				.labels = { x->functions[0], x->functions[1] }, .share = x->share,
				.has_ci95 = x->has_ci95, .ci95 = { x->ci95[0], x->ci95[1] },
				.either = siblings_are_apart(f, x) });
	}
}

static int largest_first(const void *a, const void *b)
{
	const struct reported_pair *x = a, *y = b;
	int r;

	if (fabs(x->share) != fabs(y->share))
		return fabs(x->share) > fabs(y->share) ? -1 : 1;
	r = strcmp(x->labels[0], y->labels[0]);
	return r ? r : strcmp(x->labels[1], y->labels[1]);
}

size_t findings_pairs(const struct findings *f, bool hedges, double limit, struct reported_pair **ret)
{
	reported_pairs list = { NULL, 0, 0 };

	add_across(f, hedges, limit, &list);
	if (hedges)
		add_siblings(f, limit, &list);
	if (list.cnt > 1)
		qsort(list.items, list.cnt, sizeof(*list.items), largest_first);
	*ret = list.items;
	return list.cnt;
}

/* "f", "body of f", "wait:lock in f" */
static bool is_label_of(const char *label, const char *function)
{
	size_t length = strlen(label), tail = strlen(function);

	return length >= tail && strcmp(label + length - tail, function) == 0 &&
	       (length == tail || (length > tail && label[length - tail - 1] == ' '));
}

const char *findings_instead_of(const struct findings *f, const char *function)
{
	_cleanup_(freep) struct reported_pair *pairs = NULL;
	size_t cnt = function ? findings_pairs(f, true, FACTORS_THRESHOLD_DEFAULT, &pairs) : 0;

	for (size_t i = 0; i < cnt; i++)
		for (size_t k = 0; pairs[i].either && k < 2; k++)
			if (is_label_of(pairs[i].labels[k], function) &&
			    !is_label_of(pairs[i].labels[1 - k], function))
				return pairs[i].labels[1 - k];
	return NULL;
}
