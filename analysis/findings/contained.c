/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * contained.c - which factors are worth a line of their own beside those before them.
 *
 *	log_append › lock wait 99.9 %	handle_request > log_append > lock wait has 99.9 of 100.0
 *	log_append 100.0 %		only contains it
 *	handle_request 100.0 %		only contains it
 *	hash_payload 7.0 %		another
 *
 * If a function is nearly all one wait of its own, the wait is reported, wherever it ranks: it says more.
 */
#include "analysis/findings/findings.h"

#include <string.h>
#include "base/banned.h"

static bool is_same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool is_of_function(const struct node *n, const struct factor *x)
{
	return is_same_text(n->function, x->function) && is_same_text(n->file, x->file) && n->line == x->line;
}

/* Whether its time there is the factor's. */
static bool is_place_of(const struct node *n, const struct factor *x)
{
	if (!is_of_function(n, x))
		return false;
	switch (x->kind) {
	case FACTOR_FUNCTION:
		return n->kind == NODE_FUNCTION;
	case FACTOR_BODY:
		return n->kind == NODE_BODY;
	case FACTOR_WAIT:
		return n->kind == NODE_WAIT && n->wait == x->wait;
	case FACTOR_PAIR:
		break;
	}
	return false;
}

static bool is_below(const struct findings *f, const struct node *n, const struct factor *x)
{
	while (n->parent != NODE_NONE) {
		n = &f->nodes.items[n->parent];
		if (is_place_of(n, x))
			return true;
	}
	return false;
}

/* The part of x's share that is in the places of that function. */
static double share_inside(const struct findings *f, const struct factor *x, const struct factor *function)
{
	double share = 0;

	for (size_t i = 0; i < f->nodes.cnt; i++) {
		const struct node *n = &f->nodes.items[i];

		if (is_place_of(n, x) && !is_below(f, n, x) && is_below(f, n, function))
			share += n->share;
	}
	return share;
}

static bool only_contains(const struct findings *f, const struct factor *x, const struct factor *before, double threshold)
{
	double inside;

	if (x->kind != FACTOR_FUNCTION || !x->function)
		return false;
	inside = share_inside(f, before, x);
	return inside >= NEARLY_ALL * x->share && x->share - inside <= threshold;
}

bool factor_only_contains(const struct findings *f, uint32_t x, const uint32_t *told, size_t cnt, double threshold)
{
	for (size_t i = 0; i < cnt; i++)
		if (only_contains(f, &f->factors.items[x], &f->factors.items[told[i]], threshold))
			return true;
	return false;
}

/* Whether to report order[i], of cnt ranked ones of which the first `told` are reported. */
static bool is_another(const struct findings *f, const uint32_t *order, size_t cnt, size_t told, size_t i, double threshold)
{
	const struct factor *x = &f->factors.items[order[i]];

	if (factor_only_contains(f, order[i], order, told, threshold))
		return false;
	for (size_t k = i + 1; k < cnt; k++) {
		const struct factor *y = &f->factors.items[order[k]];

		if (y->kind == FACTOR_WAIT && is_same_text(x->function, y->function) && is_same_text(x->file, y->file) && x->line == y->line &&
		    only_contains(f, x, y, threshold))
			return false;
	}
	return true;
}

size_t factors_select_reported(const struct findings *f, const struct select_options *o, uint32_t **ret_order)
{
	struct select_options all = *o;
	uint32_t *order;
	size_t cnt, told = 0;

	if (o->all || o->paper)
		return factors_select(f, o, ret_order);
	all.k = 0;
	cnt = factors_select(f, &all, &order);
	for (size_t i = 0; i < cnt && (o->k == 0 || told < o->k); i++)
		if (is_another(f, order, cnt, told, i, o->threshold))
			order[told++] = order[i];
	*ret_order = order;
	return told;
}
