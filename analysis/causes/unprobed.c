/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unprobed.c - see unprobed.h. */
#include <math.h>
#include <string.h>
#include "analysis/causes/unprobed.h"

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* It is nearly all a wait of its own, not one for a known thread or peer. */
static bool waits_itself(const struct summed_cause *c)
{
	return c->known && c->function && !c->peer && c->is_wait && !c->is_mixed && c->has_waiter && c->how != HOW_QUEUE &&
	       c->waited == c->wait && is_same(c->waiter, c->function) && is_same(c->waiter_file, c->file);
}

static bool is_inside(const struct waiter *w, const struct summed_cause *c)
{
	return !w->is_outer && w->function && w->key && w->wait == c->wait && is_same(w->inside, c->function) &&
	       is_same(w->inside_file, c->file);
}

/* The function of the project that nearly all of it waited in; NULL: there is none, or others make up for it. */
static const struct waiter *only_one(const struct findings *f, const struct summed_cause *c)
{
	const struct waiter *first = NULL;
	double rest = 0;

	for (size_t i = 0; i < f->waiters.cnt; i++) {
		if (!is_inside(&f->waiters.items[i], c))
			continue;
		if (!first)
			first = &f->waiters.items[i];
		else if (!is_same(first->function, f->waiters.items[i].function))
			rest += fabs(f->waiters.items[i].share);
	}
	return first && rest + fabs(first->share - c->share) <= (1 - NEARLY_ALL) * c->share ? first : NULL;
}

static bool is_listed(const struct findings *f, const struct waiter *w)
{
	for (size_t i = 0; i < f->causes.cnt; i++)
		if (is_same(f->causes.items[i].function, w->function))
			return true;
	return false;
}

void causes_name_unprobed(struct findings *f)
{
	for (size_t i = 0; i < f->causes.cnt; i++) {
		struct summed_cause *c = &f->causes.items[i];
		const struct waiter *w = c->share > 0 && waits_itself(c) ? only_one(f, c) : NULL;

		if (!w || is_listed(f, w))
			continue;
		c->function = w->function;
		c->file = w->file;
		c->line = w->line;
	}
}
