/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_graph.c - the call graph of one run.
 *
 * Its edges are the static calls of the trace (of an imported one the `call` lines, of a recorded one the project's)
 * and the calls seen at run time: an invocation inside another.  A seen call with a static one is a single edge;
 * without a call site it adds nothing to an edge that has one.  A seen call without a static one is marked observed.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/path/timeline.h"
#include "analysis/tree/call_graph.h"
#include "base/alloc.h"
#include "base/banned.h"
#include "base/map.h"
#include "project/runs/run_graph.h"

struct building {
	const struct trace *t;
	struct project *p;
	uint32_t *places;		/* index in t->functions -> index in p->functions */
	struct map *pairs, *sites;	/* existing calls, with and without the call site */
};

static int by_place(const void *a, const void *b, void *arg)
{
	const struct function *functions = arg;
	const struct function *x = &functions[*(const uint32_t *)a];
	const struct function *y = &functions[*(const uint32_t *)b];
	int file = strcmp(x->file ? x->file : "", y->file ? y->file : "");

	if (file)
		return file;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void add_functions(struct building *b)
{
	size_t cnt = b->t->functions.cnt;
	_cleanup_(freep) uint32_t *order = xcalloc(cnt + 1, sizeof(*order));

	b->places = xcalloc(cnt + 1, sizeof(*b->places));
	for (uint32_t i = 0; i < cnt; i++)
		order[i] = i;
	qsort_r(order, cnt, sizeof(*order), by_place, b->t->functions.items);
	for (uint32_t i = 0; i < cnt; i++) {
		const struct function *f = &b->t->functions.items[order[i]];

		b->places[order[i]] = i;
		VEC_ADD(&b->p->functions, (struct project_function){
			.key = f->key, .name = f->name, .file = f->file, .line = f->line,
			.probed = f->probed, .left_out = f->left_out,
		});
	}
}

static void add_call(struct building *b, uint32_t caller, uint32_t callee, uint32_t call_site,
		     bool observed)
{
	uint32_t from = b->places[caller], to = b->places[callee];
	uint64_t pair = (uint64_t)from << 32 | to;
	uint64_t *known = map_slot(b->pairs, pair);	/* 1 static, 2 observed */
	const char *site = NULL;

	if (call_site == CALL_SITE_NONE) {
		if (*known)
			return;
	} else {
		uint64_t *same = map_slot(b->sites, hash_u64(hash_u64(0, pair), call_site));

		if ((*same)++)
			return;
		site = b->t->call_sites.items[call_site];
	}
	observed &= *known != 1;
	*known = observed ? 2 : 1;
	VEC_ADD(&b->p->calls, (struct project_call){ from, to, site, false, observed, false });
}

static void add_seen_calls(struct building *b)
{
	_cleanup_(timeline_freep) struct timeline *tl = timeline_new(b->t);

	for (size_t i = 0; i < b->t->invocations.cnt; i++) {
		const struct invocation *inner = &b->t->invocations.items[i];

		if (tl->parents[i] != INVOCATION_NONE)
			add_call(b, b->t->invocations.items[tl->parents[i]].function,
				 inner->function, inner->call_site, true);
	}
}

struct project *run_graph(struct trace *t)
{
	struct building b = { .t = t, .p = xcalloc(1, sizeof(*b.p)), .pairs = map_new(),
			      .sites = map_new() };

	trace_sort(t);
	b.p->arena = arena_new();
	add_functions(&b);
	for (size_t i = 0; i < t->calls.cnt; i++)
		add_call(&b, t->calls.items[i].caller, t->calls.items[i].callee,
			 t->calls.items[i].call_site, t->calls.items[i].observed);
	add_seen_calls(&b);
	project_sort_calls(b.p);
	free(b.places);
	map_free(b.pairs);
	map_free(b.sites);
	return b.p;
}

uint32_t *graph_heights(const struct project *p)
{
	uint32_t *heights = xcalloc(p->functions.cnt + 1, sizeof(*heights));
	_cleanup_(freep) struct call_edge *edges = xcalloc(p->calls.cnt + 1, sizeof(*edges));
	size_t edge_cnt = 0;

	for (size_t i = 0; i < p->calls.cnt; i++) {
		const struct project_call *c = &p->calls.items[i];

		if (!p->functions.items[c->callee].left_out)
			edges[edge_cnt++] = (struct call_edge){ c->caller, c->callee };
	}
	heights_of(edges, edge_cnt, p->functions.cnt, heights, NULL);
	return heights;
}
