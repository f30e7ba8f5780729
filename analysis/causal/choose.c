/* SPDX-License-Identifier: GPL-3.0-or-later */
/* choose.c - turns factors into targets, largest factor first. */
#include "analysis/causal/choose.h"

#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/str.h"

#define EXPLAINS 0.8			/* of a wait: what holds the lock and what it does are one thing */

static void add_target(struct experiments *e, strings *to, const char *prefix, const char *name)
{
	_cleanup_(freep) char *text = xasprintf("%s%s", prefix, name);

	for (size_t i = 0; i < to->cnt; i++)
		if (strcmp(to->items[i], text) == 0)
			return;
	if (to->cnt < CHOICE_MAX)
		VEC_ADD(to, arena_strdup(e->arena, text));
}

static bool ends_outside(enum trace_state wait)
{
	return wait == STATE_IO || wait == STATE_SLEEP;
}

/* The prefix of the target for a blame: "" for the function itself; NULL: the blame is no target. */
static const char *prefix_of(const struct because *b)
{
	if (!b->function || b->function[0] == '(')	/* (disk), (timer) */
		return NULL;
	return !b->is_wait ? "" : ends_outside(b->wait) ? "io@" : NULL;
}

/* Returns whether one of them explains nearly all of the wait. */
static bool add_blamed(struct experiments *e, strings *to, const struct factor *x, struct str *ret_instead)
{
	bool explains = false;

	for (size_t i = 0; i < x->because_of.cnt; i++) {
		const struct because *b = &x->because_of.items[i];
		const char *prefix = b->share > 0 ? prefix_of(b) : NULL;

		if (!prefix)
			continue;
		add_target(e, to, prefix, b->function);
		str_addf(ret_instead, "%s%s%s", ret_instead->len ? ", " : "", prefix, b->function);
		explains |= b->share >= EXPLAINS * x->share;
	}
	return explains;
}

static void refuse(struct experiments *e, const char *target, const char *why, const struct str *instead)
{
	for (size_t i = 0; i < e->refused.cnt; i++)
		if (strcmp(e->refused.items[i].target, target) == 0)
			return;
	experiments_refuse(e, target, why, instead->len ? str_cstr(instead) : NULL);
}

static void add_wait(struct experiments *e, strings *to, const struct factor *x, enum choice_for of)
{
	_cleanup_(str_release) struct str instead = STR_INIT, wait = STR_INIT;
	bool for_replay = of != CHOICE_EXPERIMENT, is_explained;

	if (ends_outside(x->wait)) {
		add_target(e, to, x->function ? "io@" : "io", x->function ? x->function : "");
		return;
	}
	if (state_is_runqueue(x->wait)) {
		if (for_replay)
			add_target(e, to, "runqueue", "");
		else
			refuse(e, "runqueue", "pausing other threads would free the CPUs in question", &instead);
		return;
	}
	is_explained = add_blamed(e, to, x, &instead);
	str_addf(&wait, "wait:%s", x->function ? x->function : "");
	if (x->wait == STATE_QUEUE) {
		str_reset(&wait);
		str_add(&wait, "queue");
	} else if (!x->function) {
		return;
	}
	if (of != CHOICE_REPLAY && x->wait == STATE_LOCK && x->function) {
		if (!is_explained)	/* else what the holder does has that name already */
			add_target(e, to, "lock:", x->function);
		str_addf(&instead, "%slock:%s", instead.len ? ", " : "", x->function);
	}
	if (for_replay)
		add_target(e, to, str_cstr(&wait), "");
	else
		refuse(e, str_cstr(&wait),
		       x->wait == STATE_QUEUE ? "a queue cannot be made faster, only the work of the threads that take from it" :
		       "a wait cannot be made faster, only what other threads do during it", &instead);
}

static int by_share(const void *a, const void *b)
{
	const struct factor *x = *(const struct factor *const *)a, *y = *(const struct factor *const *)b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return x < y ? -1 : x > y;
}

void choose_targets(const struct findings *f, enum choice_for of, struct experiments *e, strings *ret)
{
	_cleanup_(freep) const struct factor **order = xcalloc(f->factors.cnt + 1, sizeof(*order));

	for (size_t i = 0; i < f->factors.cnt; i++)
		order[i] = &f->factors.items[i];
	qsort(order, f->factors.cnt, sizeof(*order), by_share);
	for (size_t i = 0; i < f->factors.cnt && order[i]->share >= CHOICE_SHARE_MIN; i++) {
		const struct factor *x = order[i];

		if (x->kind == FACTOR_FUNCTION && x->function)
			add_target(e, ret, "", x->function);
		else if (x->kind == FACTOR_BODY && x->function)
			add_target(e, ret, "body:", x->function);
		else if (x->kind == FACTOR_WAIT)
			add_wait(e, ret, x, of);
	}
}
