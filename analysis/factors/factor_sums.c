/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * factor_sums.c - the sums of factors where there are no rows: X and X T add up over places, X^2 was summed over all of them.
 *
 * Example: f at two places with x 3 and 2, xt 30 and 20: x 5, xt 50; of xx 25 the places know 9 and 4.
 */
#include "analysis/factors/factors.h"

#include "base/banned.h"

/* As factor_of_place() chooses: times->column_of_place has it. */
static void add_places(const struct analysis *a, const struct factor_columns *c, struct factor_sums *sums, __int128 *slow_x)
{
	for (uint32_t i = 0; i < a->v->places.cnt; i++) {
		uint32_t factor = c->times->column_of_place[i];

		if (factor == NODE_NONE)
			continue;
		sums[factor].x += a->m->places.items[i].x;
		sums[factor].xt += a->m->places.items[i].xt;
		sums[factor].tail_x += slow_x[i];
	}
}

/* Slow ones' time of all places: those without children have it, parents have smaller numbers. */
static __int128 *slow_of_all(const struct analysis *a)
{
	__int128 *slow_x = xcalloc(a->v->places.cnt + 1, sizeof(*slow_x));

	for (size_t i = a->v->places.cnt; i-- > 0; ) {
		slow_x[i] += a->sums->slow_x[i];
		if (i > 0)
			slow_x[a->v->places.items[i].parent] += slow_x[i];
	}
	return slow_x;
}

static uint64_t key_of(const struct factor_columns *c, uint32_t factor, const struct place *p)
{
	if (factor == c->runqueue)
		return own_key(OWN_RUNQUEUE, STATE_RUNNING, FUNCTION_NONE);
	switch (p->kind) {
	case NODE_FUNCTION:
		return own_key(OWN_FUNCTION, STATE_RUNNING, p->function);
	case NODE_BODY:
		return own_key(OWN_BODY, STATE_RUNNING, p->function);
	default:
		return own_key(OWN_WAIT, p->wait, p->function);
	}
}

/* A leaf's body is not shown, so it is not in the factor: functions with such places, and others. */
static struct map *with_hidden_bodies(const struct analysis *a, const struct factor_columns *c)
{
	struct map *functions = map_new();

	for (uint32_t i = 0; i < a->v->places.cnt; i++) {
		const struct place *p = &a->v->places.items[i];

		if (p->kind == NODE_BODY && p->presence && c->times->column_of_place[i] == NODE_NONE)
			map_set(functions, p->function, 1);
	}
	return functions;
}

/* Bodies of one function in the places that count: the square of their sum, place by place. */
static void take_bodies(const struct analysis *a, const struct factor_columns *c, uint32_t factor, struct factor_sums *sums)
{
	place_list places = { NULL, 0, 0 };

	for (uint32_t i = 0; i < a->v->places.cnt; i++)
		if (c->times->column_of_place[i] == factor)
			VEC_ADD(&places, i);
	sums->xx = 0;
	for (size_t i = 0; i < places.cnt; i++) {
		sums->xx += a->m->places.items[places.items[i]].xx;
		for (size_t k = 0; k < i; k++)
			sums->xx += 2 * pair_sum_of(a->sums, places.items[i], places.items[k]);
	}
	/* In how many intervals one of several took time was not counted. */
	c->presences[factor].cnt = places.cnt == 1 ? a->v->places.items[places.items[0]].presence : PRESENCE_UNKNOWN;
	VEC_RELEASE(&places);
}

void factors_take_sums(const struct analysis *a, const struct factor_columns *c, struct factor_sums *sums)
{
	_cleanup_(freep) __int128 *slow_x = slow_of_all(a);
	_cleanup_(freep) bool *taken = xcalloc(c->times->column_cnt + 1, sizeof(*taken));
	_cleanup_(map_freep) struct map *hidden = with_hidden_bodies(a, c);

	add_places(a, c, sums, slow_x);
	for (uint32_t i = 0; i < a->v->places.cnt; i++) {
		const struct place *p = &a->v->places.items[i];
		uint32_t factor = c->times->column_of_place[i];
		struct own_sums own;
		uint64_t one;

		if (factor == NODE_NONE || taken[factor])
			continue;
		taken[factor] = true;
		own = own_sums_of(a->sums, key_of(c, factor, p));
		sums[factor].xx = own.xx;
		c->presences[factor].cnt = own.cnt;
		c->presences[factor].t = own.t;
		if (p->kind == NODE_BODY && map_get(hidden, p->function, &one))
			take_bodies(a, c, factor, &sums[factor]);
	}
}
