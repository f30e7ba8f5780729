/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * summing.c - adds a row to the sums of its window.
 *
 * Example, one interval of weight 1: f 5, of it body of f 2 and g 3, T 5
 *
 *	sums	T 5 25 25   f 5 25 25   body of f 2 4 10   g 3 9 15	(x, xx, xt)
 *	pairs	(body of f, g) 6
 *	owns	f 25   body of f 4   g 9   body of g 9			squares of the time that all its places took together
 */
#include "analysis/summed/summing.h"

#include <string.h>
#include "analysis/factors/factors.h"
#include "base/map.h"
#include "base/banned.h"

struct summing *summing_new(int64_t window_ns)
{
	struct summing *s = xcalloc(1, sizeof(*s));

	s->window_ns = window_ns;
	s->by_number = map_new();
	s->own_of_key = map_new();
	return s;
}

void summing_free(struct summing *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->windows.cnt; i++) {
		struct summing_window *w = &s->windows.items[i];

		summed_window_release(&w->sums);
		map_free(w->pairs);
		map_free(w->cells);
		map_free(w->shares);
		map_free(w->buckets);
	}
	VEC_RELEASE(&s->windows);
	map_free(s->by_number);
	map_free(s->own_of_key);
	VEC_RELEASE(&s->owns);
	VEC_RELEASE(&s->called);
	VEC_RELEASE(&s->touched);
	VEC_RELEASE(&s->own_of_place);
	VEC_RELEASE(&s->own_of_runqueue);
	VEC_RELEASE(&s->own_of_runqueue_waits);
	VEC_RELEASE(&s->seen);
	VEC_RELEASE(&s->own_ns);
	VEC_RELEASE(&s->last_child);
	VEC_RELEASE(&s->before);
	VEC_RELEASE(&s->last_body);
	VEC_RELEASE(&s->body_before);
	row_tree_release(&s->tree);
	free(s);
}

static struct summing_window *window_of(struct summing *s, int64_t end_ns)
{
	int64_t number = s->window_ns ? end_ns / s->window_ns : 0;
	uint64_t *slot = map_slot(s->by_number, (uint64_t)number);
	struct summing_window *w;

	if (*slot)
		return &s->windows.items[*slot - 1];
	s->too_many |= s->windows.cnt == SUMMED_WINDOWS_MAX;
	if (s->too_many)
		return NULL;
	w = VEC_EXTEND(&s->windows);
	*slot = s->windows.cnt;
	w->number = number;
	w->sums.from_ns = s->window_ns ? number * s->window_ns : INT64_MIN;
	w->sums.until_ns = s->window_ns && number < INT64_MAX / s->window_ns ? (number + 1) * s->window_ns : INT64_MAX;
	w->pairs = map_new();
	w->cells = map_new();
	w->shares = map_new();
	w->buckets = map_new();
	return w;
}

/* ---- sums over several places ---- */

static uint32_t own_of(struct summing *s, enum own_kind kind, enum trace_state wait, uint32_t function)
{
	uint64_t *slot = map_slot(s->own_of_key, (uint64_t)kind << 40 | (uint64_t)wait << 32 | function);

	if (*slot == 0) {
		VEC_ADD(&s->owns, (struct summing_own){ kind, wait, function });
		VEC_ADD(&s->own_ns, 0);
		VEC_ADD(&s->last_body, 0);
		*slot = s->owns.cnt;
	}
	return (uint32_t)(*slot - 1);
}

/* A blame's time is part of its wait's.  A recursive function counts at its outermost place. */
static uint32_t own_of_place(struct summing *s, const struct place *p)
{
	switch (p->kind) {
	case NODE_FUNCTION:
		return p->outermost ? own_of(s, OWN_FUNCTION, STATE_RUNNING, p->function) : NODE_NONE;
	case NODE_BODY:
		return own_of(s, OWN_BODY, STATE_RUNNING, p->function);
	case NODE_WAIT:
		return own_of(s, OWN_WAIT, p->wait, p->function);
	default:
		return NODE_NONE;
	}
}

static void know_places(struct summing *s, const struct vtree *v)
{
	for (size_t i = s->own_of_place.cnt; i < v->places.cnt; i++) {
		const struct place *p = &v->places.items[i];
		bool runqueue = place_is_runqueue(v, p);

		VEC_ADD(&s->own_of_place, own_of_place(s, p));
		VEC_ADD(&s->own_of_runqueue, runqueue ? own_of(s, OWN_RUNQUEUE, STATE_RUNNING, FUNCTION_NONE) : NODE_NONE);
		VEC_ADD(&s->own_of_runqueue_waits, runqueue && p->kind == NODE_WAIT ?
			own_of(s, OWN_RUNQUEUE_WAITS, STATE_RUNNING, FUNCTION_NONE) : NODE_NONE);
		VEC_ADD(&s->seen, 0);
	}
}

/* ---- one row ---- */

/* Marks the places that were called, even if they took no time, and all places above them. */
static void mark_present(struct summing *s, struct summed_window *w, const struct vtree *v, uint32_t place, uint32_t weight)
{
	for (; place != NODE_NONE && s->seen.items[place] != s->row_cnt; place = v->places.items[place].parent) {
		s->seen.items[place] = s->row_cnt;
		w->sums.items[place].presence += weight;
	}
}

static void add_calls(struct summing *s, struct summed_window *w, const struct vtree *v, uint32_t weight)
{
	mark_present(s, w, v, 0, weight);
	for (size_t i = 0; i < s->called.cnt; i++) {
		w->sums.items[s->called.items[i]].calls += weight;
		mark_present(s, w, v, s->called.items[i], weight);
	}
	s->called.cnt = 0;
}

static void add_pair(struct summing_window *w, uint32_t a, uint32_t b, __int128 xy)
{
	uint32_t low = a < b ? a : b, high = a < b ? b : a;
	uint64_t *slot = map_slot(w->pairs, (uint64_t)low << 32 | high);

	if (*slot == 0) {
		VEC_ADD(&w->sums.pairs, (struct summed_pair){ low, high, 0 });
		*slot = w->sums.pairs.cnt;
	}
	w->sums.pairs.items[*slot - 1].xy += xy;
}

/* Adds the products with the siblings that come earlier in the list. */
static void add_pairs(struct summing *s, struct summing_window *w, uint32_t k, uint32_t weight)
{
	const struct listed *list = s->tree.list.items;
	uint32_t parent = list[k].parent;

	for (uint32_t j = s->last_child.items[parent]; j; j = s->before.items[j])
		add_pair(w, list[k].place, list[j].place, (__int128)list[k].ns * list[j].ns * weight);
	s->before.items[k] = s->last_child.items[parent];
	s->last_child.items[parent] = k;
}

/* Whether a function's body counts as a part depends on the whole tree (a leaf's body does not), so products are kept for all. */
static void add_bodies(struct summing *s, struct summing_window *w, uint32_t k, uint32_t weight)
{
	const struct listed *list = s->tree.list.items;
	uint32_t own = s->own_of_place.items[list[k].place];

	for (uint32_t j = s->last_body.items[own]; j; j = s->body_before.items[j])
		add_pair(w, list[k].place, list[j].place, (__int128)list[k].ns * list[j].ns * weight);
	s->body_before.items[k] = s->last_body.items[own];
	s->last_body.items[own] = k;
}

static void add_own(struct summing *s, uint32_t own, int64_t ns)
{
	if (own == NODE_NONE || ns == 0)
		return;
	if (s->own_ns.items[own] == 0)
		VEC_ADD(&s->touched, own);
	s->own_ns.items[own] += ns;
}

static void add_cell(struct summing_window *w, uint32_t bucket, uint32_t place, __int128 x)
{
	uint64_t *slot = map_slot(w->cells, (uint64_t)bucket << 32 | place);

	if (*slot == 0) {
		VEC_ADD(&w->sums.cells, (struct summed_cell){ bucket, place, 0 });
		*slot = w->sums.cells.cnt;
	}
	w->sums.cells.items[*slot - 1].x += x;
}

static void add_share(struct summing_window *w, uint32_t bucket, uint32_t own, uint32_t weight)
{
	uint64_t *slot = map_slot(w->shares, (uint64_t)bucket << 32 | own);

	if (*slot == 0) {
		VEC_ADD(&w->sums.shares, (struct summed_share){ bucket, own, 0 });
		*slot = w->sums.shares.cnt;
	}
	w->sums.shares.items[*slot - 1].n += weight;
}

static void end_owns(struct summing *s, struct summing_window *w, uint32_t bucket, int64_t latency_ns, uint32_t weight)
{
	while (w->sums.owns.cnt < s->owns.cnt)
		VEC_EXTEND(&w->sums.owns);
	for (size_t i = 0; i < s->touched.cnt; i++) {
		uint32_t own = s->touched.items[i];
		int64_t ns = s->own_ns.items[own];
		struct summed_own *sum = &w->sums.owns.items[own];

		sum->xx += (__int128)ns * ns * weight;
		sum->cnt += weight;
		sum->t += (__int128)latency_ns * weight;
		if (s->owns.items[own].kind != OWN_FUNCTION && s->owns.items[own].kind != OWN_RUNQUEUE)	/* those two are no parts */
			add_share(w, bucket, own, weight);
		s->own_ns.items[own] = 0;
		s->last_body.items[own] = 0;
	}
	s->touched.cnt = 0;
}

static void add_latency(struct summing_window *w, int64_t latency_ns, uint32_t weight)
{
	struct summed_window *sums = &w->sums;
	uint32_t bucket = bucket_of(latency_ns, BUCKET_BITS_FINE);
	uint64_t *slot = map_slot(w->buckets, bucket);
	struct summed_bucket *b;

	if (*slot == 0) {
		VEC_ADD(&sums->buckets, (struct summed_bucket){ .bucket = bucket });
		*slot = sums->buckets.cnt;
	}
	b = &sums->buckets.items[*slot - 1];
	b->n += weight;
	b->recorded++;
	b->t += (__int128)latency_ns * weight;
	if (!sums->recorded || latency_ns < sums->min_ns)
		sums->min_ns = latency_ns;
	if (!sums->recorded || latency_ns > sums->max_ns)
		sums->max_ns = latency_ns;
	sums->n += weight;
	sums->recorded++;
}

static void add_root_only(struct summed_root_only *r, int64_t latency_ns)
{
	r->n++;
	r->t += latency_ns;
	r->tt += (__int128)latency_ns * latency_ns;
	if (latency_ns > r->max_ns)
		r->max_ns = latency_ns;
}

static void add_places(struct summing *s, struct summing_window *w, const struct vtree *v, const cells *row, int64_t latency_ns,
		       uint32_t weight)
{
	uint32_t bucket = bucket_of(latency_ns, BUCKET_BITS);
	const struct listed *list;

	row_tree_fill(&s->tree, v, row);
	list = s->tree.list.items;
	while (s->last_child.cnt < s->tree.list.cnt) {
		VEC_ADD(&s->last_child, 0);
		VEC_ADD(&s->before, 0);
		VEC_ADD(&s->body_before, 0);
	}
	if (s->tree.list.cnt)
		memset(s->last_child.items, 0, s->tree.list.cnt * sizeof(*s->last_child.items));
	for (uint32_t k = 0; k < s->tree.list.cnt; k++) {
		uint32_t place = list[k].place;
		struct summed_sums *sums = &w->sums.sums.items[place];

		sums->x += (__int128)list[k].ns * weight;
		sums->xx += (__int128)list[k].ns * list[k].ns * weight;
		sums->xt += (__int128)list[k].ns * list[0].ns * weight;
		mark_present(s, &w->sums, v, place, weight);
		if (k > 0)
			add_pairs(s, w, k, weight);
		if (v->places.items[place].kind == NODE_BODY)
			add_bodies(s, w, k, weight);
		add_own(s, s->own_of_place.items[place], list[k].ns);
		add_own(s, s->own_of_runqueue.items[place], list[k].ns);
		add_own(s, s->own_of_runqueue_waits.items[place], list[k].ns);
	}
	for (size_t i = 0; i < row->cnt; i++)
		add_cell(w, bucket, row->items[i].place, (__int128)row->items[i].ns * weight);
	end_owns(s, w, bucket, latency_ns, weight);
}

void summing_add(struct summing *s, const struct vtree *v, const struct interval *iv, const cells *row)
{
	struct summing_window *w = window_of(s, iv->end_ns);
	uint32_t weight = interval_weight(iv);
	int64_t latency_ns = iv->end_ns - iv->start_ns;

	if (!w)
		return;
	if (iv->root_only) {
		add_root_only(&w->sums.root_only, latency_ns);
		return;
	}
	s->row_cnt++;
	know_places(s, v);
	for (uint32_t i = (uint32_t)w->sums.sums.cnt; i < v->places.cnt; i++)
		VEC_ADD(&w->sums.sums, (struct summed_sums){ .place = i });
	w->sums.unit = summed_divisor(weight, w->sums.unit);
	add_latency(w, latency_ns, weight);
	add_calls(s, &w->sums, v, weight);
	add_places(s, w, v, row, latency_ns, weight);
}
