/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * united_order.c - sorts the contents of a digest.
 *
 * Names are in byte order, functions by name, file and line, places by level and then by kind and name, sources by identity,
 * windows by interval, source and time.  Two digests with the same contents are the same bytes.
 */
#include "digest/united_order.h"

#include <stdlib.h>
#include <string.h>
#include "base/banned.h"

#define BY(x, y)					\
	do {						\
		if ((x) != (y))				\
			return (x) < (y) ? -1 : 1;	\
	} while (0)

#define BY_TEXT(x, y)								\
	do {									\
		int r_ = strcmp((x) ? (x) : "", (y) ? (y) : "");		\
		if (r_)								\
			return r_;						\
	} while (0)

/* ---- numbers: order[new] = old, and back ---- */

typedef int compare_fn(const void *a, const void *b, void *arg);

static uint32_t *order_of(size_t cnt, compare_fn *compare, struct summed *s)
{
	uint32_t *order = xcalloc(cnt + 1, sizeof(*order));

	for (size_t i = 0; i < cnt; i++)
		order[i] = (uint32_t)i;
	if (cnt > 1)
		qsort_r(order, cnt, sizeof(*order), compare, s);
	return order;
}

static uint32_t *back(const uint32_t *order, size_t cnt)
{
	uint32_t *numbers = xcalloc(cnt + 1, sizeof(*numbers));

	for (size_t i = 0; i < cnt; i++)
		numbers[order[i]] = (uint32_t)i;
	return numbers;
}

/* Sorts list, and returns the new numbers, [old], which the caller frees. */
#define RENUMBER(list, compare, s)								\
	({											\
		uint32_t *order_ = order_of((list)->cnt, compare, s);				\
		__typeof__((list)->items) items_ = xcalloc((list)->cnt + 1, sizeof(*(list)->items));	\
		for (size_t i_ = 0; i_ < (list)->cnt; i_++)					\
			items_[i_] = (list)->items[order_[i_]];					\
		uint32_t *numbers_ = back(order_, (list)->cnt);					\
		free((list)->items);								\
		(list)->items = items_;								\
		(list)->cap = (list)->cnt + 1;							\
		free(order_);									\
		numbers_;									\
	})

static int by_interval_name(const void *x, const void *y, void *arg)
{
	const struct summed *s = arg;

	BY_TEXT(s->interval_names.items[*(const uint32_t *)x], s->interval_names.items[*(const uint32_t *)y]);
	return 0;
}

static int by_call_site(const void *x, const void *y, void *arg)
{
	const struct summed *s = arg;

	BY_TEXT(s->call_sites.items[*(const uint32_t *)x], s->call_sites.items[*(const uint32_t *)y]);
	return 0;
}

static int by_function(const void *x, const void *y, void *arg)
{
	const struct summed *s = arg;
	const struct summed_function *a = &s->functions.items[*(const uint32_t *)x];
	const struct summed_function *b = &s->functions.items[*(const uint32_t *)y];

	BY_TEXT(a->name, b->name);
	BY_TEXT(a->file, b->file);
	BY(a->line, b->line);
	return 0;
}

static int by_call(const void *x, const void *y)
{
	const struct summed_call *a = x, *b = y;

	BY(a->caller, b->caller);
	BY(a->callee, b->callee);
	BY(a->call_site, b->call_site);
	return 0;
}

static int by_source(const void *x, const void *y, void *arg)
{
	const struct summed *s = arg;
	const struct summed_source *a = &s->sources.items[*(const uint32_t *)x];
	const struct summed_source *b = &s->sources.items[*(const uint32_t *)y];

	BY_TEXT(a->machine, b->machine);
	BY_TEXT(a->host, b->host);
	BY_TEXT(a->container, b->container);
	BY_TEXT(a->boot, b->boot);
	BY(a->started_ns, b->started_ns);
	BY_TEXT(a->run, b->run);
	BY_TEXT(a->build, b->build);
	BY(a->recording, b->recording);
	BY(a->clock_ns, b->clock_ns);
	return 0;
}

/* Compares siblings, or roots; names, functions and call sites have their final numbers. */
static int by_place(const void *x, const void *y, void *arg)
{
	const struct summed *s = arg;
	const struct summed_place *a = &s->places.items[*(const uint32_t *)x];
	const struct summed_place *b = &s->places.items[*(const uint32_t *)y];

	BY(a->name, b->name);
	BY(a->kind, b->kind);
	BY(a->is_wait, b->is_wait);
	BY(a->wait, b->wait);
	BY(a->device, b->device);
	BY(a->function, b->function);
	BY(a->call_site, b->call_site);
	return 0;
}

/* ---- places ---- */

/* Lists the children of each place: first[parent + 1], next[place]; the roots are at 0. */
static void list_children(const struct summed *s, uint32_t *first, uint32_t *next)
{
	memset(first, 0xff, (s->places.cnt + 2) * sizeof(*first));
	for (uint32_t i = 0; i < s->places.cnt; i++) {
		uint32_t parent = s->places.items[i].parent;

		next[i] = first[parent == NODE_NONE ? 0 : parent + 1];
		first[parent == NODE_NONE ? 0 : parent + 1] = i;
	}
}

static uint32_t *renumber_places(struct summed *s)
{
	size_t cnt = s->places.cnt, done = 0;
	_cleanup_(freep) uint32_t *first = xcalloc(cnt + 2, sizeof(*first)), *next = xcalloc(cnt + 1, sizeof(*next));
	_cleanup_(freep) uint32_t *order = xcalloc(cnt + 1, sizeof(*order));
	struct summed_place *items = xcalloc(cnt + 1, sizeof(*items));
	uint32_t *numbers;

	list_children(s, first, next);
	for (size_t above = 0; above <= done && done < cnt; above++) {	/* 0: the roots; then the children of above - 1 */
		uint32_t parent = above == 0 ? 0 : order[above - 1] + 1;
		size_t begin = done;

		for (uint32_t i = first[parent]; i != NODE_NONE; i = next[i])
			order[done++] = i;
		if (done - begin > 1)
			qsort_r(order + begin, done - begin, sizeof(*order), by_place, s);
	}
	numbers = back(order, cnt);
	for (size_t i = 0; i < cnt; i++) {
		items[i] = s->places.items[order[i]];
		if (items[i].parent != NODE_NONE)
			items[i].parent = numbers[items[i].parent];
	}
	free(s->places.items);
	s->places.items = items;
	s->places.cap = cnt + 1;
	return numbers;
}

/* ---- windows ---- */

static int by_sums(const void *x, const void *y)
{
	const struct summed_sums *a = x, *b = y;

	BY(a->place, b->place);
	return 0;
}

static int by_pair(const void *x, const void *y)
{
	const struct summed_pair *a = x, *b = y;

	BY(a->a, b->a);
	BY(a->b, b->b);
	return 0;
}

static int by_bucket(const void *x, const void *y)
{
	const struct summed_bucket *a = x, *b = y;

	BY(a->bucket, b->bucket);
	return 0;
}

static int by_cell(const void *x, const void *y)
{
	const struct summed_cell *a = x, *b = y;

	BY(a->bucket, b->bucket);
	BY(a->place, b->place);
	return 0;
}

static int by_share(const void *x, const void *y)
{
	const struct summed_share *a = x, *b = y;

	BY(a->bucket, b->bucket);
	BY(a->own, b->own);
	return 0;
}

static int compare_owns(const struct summed_own *a, const struct summed_own *b)
{
	BY(a->kind, b->kind);
	BY(a->wait, b->wait);
	BY(a->function, b->function);
	return 0;
}

static int by_own(const void *x, const void *y, void *arg)
{
	const struct summed_own *owns = arg;
	const uint32_t *a = x, *b = y;
	int r = compare_owns(&owns[*a], &owns[*b]);

	if (r)
		return r;
	BY(*a, *b);
	return 0;
}

/* Sorts, and merges equal items: add(to, from). */
#define IN_ORDER(list, compare, add)										\
	do {													\
		size_t kept_ = 0;										\
		if ((list)->cnt > 1)										\
			qsort((list)->items, (list)->cnt, sizeof(*(list)->items), compare);			\
		for (size_t i_ = 0; i_ < (list)->cnt; i_++) {							\
			if (kept_ && compare(&(list)->items[kept_ - 1], &(list)->items[i_]) == 0)		\
				add(&(list)->items[kept_ - 1], &(list)->items[i_]);				\
			else											\
				(list)->items[kept_++] = (list)->items[i_];					\
		}												\
		(list)->cnt = kept_;										\
	} while (0)

static void add_sums(struct summed_sums *to, const struct summed_sums *s)
{
	to->x += s->x;
	to->xx += s->xx;
	to->xt += s->xt;
	to->calls += s->calls;
	to->presence += s->presence;
}

static void add_pair(struct summed_pair *to, const struct summed_pair *p)
{
	to->xy += p->xy;
}

static void add_bucket(struct summed_bucket *to, const struct summed_bucket *b)
{
	to->n += b->n;
	to->recorded += b->recorded;
	to->t += b->t;
}

static void add_cell(struct summed_cell *to, const struct summed_cell *c)
{
	to->x += c->x;
}

static void add_share(struct summed_share *to, const struct summed_share *s)
{
	to->n += s->n;
}

/* Shares follow the numbers of the owns. */
static void order_owns(struct summed_window *w)
{
	size_t cnt = w->owns.cnt, kept = 0;
	_cleanup_(freep) uint32_t *order = xcalloc(cnt + 1, sizeof(*order)), *numbers = xcalloc(cnt + 1, sizeof(*numbers));
	struct summed_own *items = xcalloc(cnt + 1, sizeof(*items));

	for (size_t i = 0; i < cnt; i++)
		order[i] = (uint32_t)i;
	if (cnt > 1)
		qsort_r(order, cnt, sizeof(*order), by_own, w->owns.items);
	for (size_t i = 0; i < cnt; i++) {
		const struct summed_own *own = &w->owns.items[order[i]];

		if (kept && compare_owns(&items[kept - 1], own) == 0) {
			items[kept - 1].xx += own->xx;
			items[kept - 1].cnt += own->cnt;
			items[kept - 1].t += own->t;
		} else {
			items[kept++] = *own;
		}
		numbers[order[i]] = (uint32_t)kept - 1;
	}
	for (size_t i = 0; i < w->shares.cnt; i++)
		w->shares.items[i].own = numbers[w->shares.items[i].own];
	free(w->owns.items);
	w->owns.items = items;
	w->owns.cnt = kept;
	w->owns.cap = cnt + 1;
}

void window_put_in_order(struct summed_window *w)
{
	for (size_t i = 0; i < w->pairs.cnt; i++) {
		struct summed_pair *p = &w->pairs.items[i];
		uint32_t low = p->a < p->b ? p->a : p->b;

		p->b = p->a < p->b ? p->b : p->a;
		p->a = low;
	}
	order_owns(w);
	IN_ORDER(&w->sums, by_sums, add_sums);
	IN_ORDER(&w->pairs, by_pair, add_pair);
	IN_ORDER(&w->buckets, by_bucket, add_bucket);
	IN_ORDER(&w->cells, by_cell, add_cell);
	IN_ORDER(&w->shares, by_share, add_share);
}

static int by_window(const void *x, const void *y)
{
	const struct summed_window *a = x, *b = y;

	BY(a->root, b->root);
	BY(a->source, b->source);
	BY(a->from_ns, b->from_ns);
	BY(a->until_ns, b->until_ns);
	return 0;
}

static uint32_t new_function(const uint32_t *numbers, uint32_t function)
{
	return function > SUMMED_DEVICE(SUMMED_DEVICES) ? function : numbers[function];
}

static void renumber_window(struct summed_window *w, const uint32_t *places, const uint32_t *functions, const uint32_t *sources)
{
	w->root = places[w->root];
	w->source = sources[w->source];
	for (size_t i = 0; i < w->sums.cnt; i++)
		w->sums.items[i].place = places[w->sums.items[i].place];
	for (size_t i = 0; i < w->pairs.cnt; i++) {
		w->pairs.items[i].a = places[w->pairs.items[i].a];
		w->pairs.items[i].b = places[w->pairs.items[i].b];
	}
	for (size_t i = 0; i < w->owns.cnt; i++)
		w->owns.items[i].function = new_function(functions, w->owns.items[i].function);
	for (size_t i = 0; i < w->cells.cnt; i++)
		w->cells.items[i].place = places[w->cells.items[i].place];
	window_put_in_order(w);
}

void summed_put_in_order(struct summed *s)
{
	_cleanup_(freep) uint32_t *interval_names = RENUMBER(&s->interval_names, by_interval_name, s);
	_cleanup_(freep) uint32_t *call_sites = RENUMBER(&s->call_sites, by_call_site, s);
	_cleanup_(freep) uint32_t *functions = RENUMBER(&s->functions, by_function, s);
	_cleanup_(freep) uint32_t *sources = RENUMBER(&s->sources, by_source, s);
	_cleanup_(freep) uint32_t *places = NULL;

	for (size_t i = 0; i < s->calls.cnt; i++) {
		struct summed_call *c = &s->calls.items[i];

		*c = (struct summed_call){ functions[c->caller], functions[c->callee],
					   c->call_site >= SUMMED_THROUGH_OTHERS ? c->call_site : call_sites[c->call_site] };
	}
	if (s->calls.cnt > 1)
		qsort(s->calls.items, s->calls.cnt, sizeof(*s->calls.items), by_call);
	for (size_t i = 0; i < s->places.cnt; i++) {
		struct summed_place *p = &s->places.items[i];

		p->name = p->parent == NODE_NONE ? interval_names[p->name] : 0;
		p->function = new_function(functions, p->function);
		p->call_site = p->call_site == CALL_SITE_NONE ? CALL_SITE_NONE : call_sites[p->call_site];
	}
	places = renumber_places(s);
	for (size_t i = 0; i < s->windows.cnt; i++)
		renumber_window(&s->windows.items[i], places, functions, sources);
	if (s->windows.cnt > 1)
		qsort(s->windows.items, s->windows.cnt, sizeof(*s->windows.items), by_window);
}
