/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wait_groups.c - threads that wait alike are one vertex (wPerf 4.2).
 *
 * Two threads are alike if their waits are distributed alike over call paths and classes: their overlap is above
 * 0.45, the authors' limit.  Likeness is transitive: a chain of pairs is one group.  A wait in no probed function
 * does not show a thread's purpose, so threads with only such waits stay alone; so do those whose names differ in
 * more than a number.  The kernel's workers take any work of their pool, in any function, so only their name shows
 * their purpose.
 *
 *	A	f/lock 3, g/io 1	0.75 0.25
 *	B	f/lock 5, h/cond 5	0.5       0.5	in common: 0.5, alike
 */
#include "analysis/whole_run/wait_passes.h"

#include <stdlib.h>
#include <string.h>
#include "base/map.h"
#include "base/banned.h"

#define ALIKE_ABOVE 0.45
#define KERNEL_WORKER "kworker/"
#define KEY_KERNEL_WORKER UINT64_MAX	/* of no call path */

struct bin {
	uint64_t key;			/* call path and class */
	uint64_t cnt;
};

struct histogram {
	uint32_t actor;
	const char *name;		/* of its first thread; "" without */
	size_t first, bin_cnt;		/* of bins */
	uint64_t sum;
};

struct grouping {
	struct wait_world *w;
	VEC(struct bin) bins;
	VEC(struct histogram) all;
	uint32_t *parent;		/* for each histogram: a link towards its group's first */
};

static int by_key(const void *pa, const void *pb)
{
	const struct bin *a = pa, *b = pb;

	return (a->key > b->key) - (a->key < b->key);
}

/* Sorts the bins from h->first on and puts equal ones together. */
static void finish_histogram(struct grouping *g, struct histogram *h)
{
	size_t kept = h->first;

	if (g->bins.cnt > h->first)
		qsort(&g->bins.items[h->first], g->bins.cnt - h->first, sizeof(*g->bins.items), by_key);
	for (size_t i = h->first; i < g->bins.cnt; i++) {
		if (kept > h->first && g->bins.items[kept - 1].key == g->bins.items[i].key)
			g->bins.items[kept - 1].cnt++;
		else
			g->bins.items[kept++] = g->bins.items[i];
	}
	h->sum = g->bins.cnt - h->first;
	h->bin_cnt = kept - h->first;
	g->bins.cnt = kept;
	if (h->sum)
		VEC_ADD(&g->all, *h);
}

static void collect(struct grouping *g)
{
	const struct wait_world *w = g->w;

	for (size_t i = 0, end; i < w->waits.cnt; i = end) {
		const struct actor *a = &w->actors.items[w->waits.items[i].actor];
		const char *name = a->members.cnt ? whole_run_thread_name(w->tl->trace, a->members.items[0])
						  : NULL;
		struct histogram h = { .actor = w->waits.items[i].actor, .name = name ? name : "",
				       .first = g->bins.cnt };

		for (end = i; end < w->waits.cnt && w->waits.items[end].actor == h.actor; end++) {
			const struct graph_wait *v = &w->waits.items[end];

			if (v->path != PATH_NONE && a->kind == VERTEX_THREAD)
				VEC_ADD(&g->bins, (struct bin){
					(uint64_t)v->path * STATE_CNT + v->state, 1 });
		}
		if (g->bins.cnt == h.first && strncmp(h.name, KERNEL_WORKER, strlen(KERNEL_WORKER)) == 0)
			VEC_ADD(&g->bins, (struct bin){ KEY_KERNEL_WORKER, 1 });
		finish_histogram(g, &h);
	}
}

static bool names_agree(const char *a, const char *b)
{
	for (;; a++, b++) {
		a = past_digits(a);
		b = past_digits(b);
		if (*a != *b || !*a)
			return *a == *b;
	}
}

static bool alike(const struct grouping *g, const struct histogram *a, const struct histogram *b)
{
	const struct bin *x = &g->bins.items[a->first], *x_end = x + a->bin_cnt;
	const struct bin *y = &g->bins.items[b->first], *y_end = y + b->bin_cnt;
	double common = 0;

	while (x < x_end && y < y_end) {
		if (x->key == y->key) {
			double p = (double)x++->cnt / (double)a->sum;
			double q = (double)y++->cnt / (double)b->sum;

			common += p < q ? p : q;
		} else if (x->key < y->key) {
			x++;
		} else {
			y++;
		}
	}
	return common > ALIKE_ABOVE;
}

static uint32_t first_of(const struct grouping *g, uint32_t i)
{
	while (g->parent[i] != i) {
		g->parent[i] = g->parent[g->parent[i]];
		i = g->parent[i];
	}
	return i;
}

/* A value that is equal for threads that wait in the same places equally often. */
static uint64_t fingerprint(const struct grouping *g, const struct histogram *h)
{
	uint64_t hash = 0, common = 0;

	for (size_t i = 0; i < h->bin_cnt; i++)
		for (uint64_t a = g->bins.items[h->first + i].cnt; a; ) {
			uint64_t rest = common % a;

			common = a;
			a = rest;
		}
	for (size_t i = 0; i < h->bin_cnt; i++) {
		hash = hash_u64(hash, g->bins.items[h->first + i].key);
		hash = hash_u64(hash, g->bins.items[h->first + i].cnt / common);
	}
	return hash;
}

static void join_if_alike(struct grouping *g, uint32_t i, uint32_t j)
{
	uint32_t x = first_of(g, i), y = first_of(g, j);

	if (x != y && names_agree(g->all.items[i].name, g->all.items[j].name) &&
	    alike(g, &g->all.items[i], &g->all.items[j]))
		g->parent[x > y ? x : y] = x > y ? y : x;
}

/* Thousands of threads are mostly copies of a few: only those that differ are compared in pairs. */
static void join_all(struct grouping *g)
{
	_cleanup_(map_freep) struct map *seen = map_new();	/* fingerprint -> the first, plus one */
	VEC(uint32_t) different = { NULL, 0, 0 };

	for (uint32_t i = 0; i < g->all.cnt; i++) {
		uint64_t *first = map_slot(seen, fingerprint(g, &g->all.items[i]));

		g->parent[i] = i;
		if (*first)
			join_if_alike(g, i, (uint32_t)(*first - 1));
		else
			*first = (uint64_t)i + 1;
		if (g->parent[i] == i)
			VEC_ADD(&different, i);
	}
	for (size_t i = 0; i < different.cnt; i++)
		for (size_t j = 0; j < i; j++)
			join_if_alike(g, different.items[i], different.items[j]);
	VEC_RELEASE(&different);
}

void wait_groups(struct wait_world *w)
{
	struct grouping g = { .w = w };

	collect(&g);
	g.parent = xcalloc(g.all.cnt + 1, sizeof(*g.parent));
	join_all(&g);
	for (uint32_t i = 0; i < g.all.cnt; i++)
		w->actors.items[g.all.items[i].actor].group = g.all.items[first_of(&g, i)].actor;
	VEC_RELEASE(&g.bins);
	VEC_RELEASE(&g.all);
	free(g.parent);
}
