/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * summed_out.c - converts an analyzer's sums to numbers of their own, with only those functions and call sites that are in a tree.
 *
 * A function with the name of an interval is included, because it is the root of the call graph (root.c).
 */
#include "analysis/summed/summing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/collected.h"
#include "analysis/tree/call_graph.h"
#include "base/banned.h"

struct giving {				/* from the trace's numbers to the sums' numbers; NODE_NONE: left out */
	const struct trace *t;
	const struct call_graph *graph;
	struct summed *to;
	uint32_t *functions, *call_sites;
};

static const char *kept_text(struct summed *s, const char *text)
{
	return text ? arena_strdup(s->arena, text) : NULL;
}

/* ---- names ---- */

static uint32_t give_function(struct giving *g, uint32_t function)
{
	const struct function *f;

	if (function == FUNCTION_NONE)
		return SUMMED_NO_FUNCTION;
	if (DEVICE_OF_FUNCTION(function) != KIND_THREAD)
		return SUMMED_DEVICE(DEVICE_OF_FUNCTION(function));
	if (g->functions[function] != NODE_NONE)
		return g->functions[function];
	f = &g->t->functions.items[function];
	g->functions[function] = (uint32_t)g->to->functions.cnt;
	VEC_ADD(&g->to->functions, (struct summed_function){
		.name = kept_text(g->to, f->name), .file = kept_text(g->to, f->file), .line = f->line, .key = f->key,
		.open = g->graph->open[function],
		.registered = f->registered, .left_out = f->left_out });
	return g->functions[function];
}

static uint32_t give_call_site(struct giving *g, uint32_t call_site)
{
	if (call_site == CALL_SITE_NONE)
		return CALL_SITE_NONE;
	if (g->call_sites[call_site] == NODE_NONE) {
		g->call_sites[call_site] = (uint32_t)g->to->call_sites.cnt;
		VEC_ADD(&g->to->call_sites, kept_text(g->to, g->t->call_sites.items[call_site]));
	}
	return g->call_sites[call_site];
}

static void give_named_like(struct giving *g, const char *interval)
{
	for (uint32_t i = 0; i < g->t->functions.cnt; i++)
		if (strcmp(g->t->functions.items[i].name, interval) == 0)
			give_function(g, i);
}

/* Call it after all trees. */
static void give_calls(struct giving *g, const struct nestings *seen)
{
	for (size_t i = 0; i < g->t->calls.cnt; i++) {
		const struct call *c = &g->t->calls.items[i];

		if (g->functions[c->caller] != NODE_NONE && g->functions[c->callee] != NODE_NONE)
			VEC_ADD(&g->to->calls, (struct summed_call){ g->functions[c->caller], g->functions[c->callee],
								     give_call_site(g, c->call_site) });
	}
	for (size_t i = 0; i < seen->list.cnt; i++) {
		const struct nesting *n = &seen->list.items[i];

		if (g->functions[n->caller] != NODE_NONE && g->functions[n->callee] != NODE_NONE)
			VEC_ADD(&g->to->calls, (struct summed_call){ g->functions[n->caller], g->functions[n->callee],
								     CALL_SITE_NONE });
	}
}

/* By the calls between the kept functions. */
static void explain(const struct summed *s, uint32_t *heights, uint32_t *circles)
{
	_cleanup_(freep) struct call_edge *edges = xcalloc(s->calls.cnt + 1, sizeof(*edges));
	size_t cnt = 0;

	for (size_t i = 0; i < s->calls.cnt; i++)
		if (summed_call_counts(s, &s->calls.items[i]))
			edges[cnt++] = (struct call_edge){ s->calls.items[i].caller, s->calls.items[i].callee };
	heights_of(edges, cnt, s->functions.cnt, heights, circles);
}

static void give_through_others(struct giving *g, uint32_t caller, uint32_t callee)
{
	VEC_ADD(&g->to->calls, (struct summed_call){ caller, callee, SUMMED_THROUGH_OTHERS });
	VEC_ADD(&g->to->calls, (struct summed_call){ callee, caller, SUMMED_THROUGH_OTHERS });
}

/* Functions of a circle have one height.  Where the circle leads through functions that are not kept, the digest says that it is one. */
static void give_circles(struct giving *g)
{
	_cleanup_(freep) uint32_t *explained = xcalloc(g->to->functions.cnt + 1, sizeof(*explained));
	_cleanup_(freep) uint32_t *circles = xcalloc(g->to->functions.cnt + 1, sizeof(*circles));
	_cleanup_(freep) uint32_t *last = xcalloc(g->t->functions.cnt + 1, sizeof(*last));	/* of the circle, and 1 */

	explain(g->to, explained, circles);
	for (uint32_t i = 0; i < g->t->functions.cnt; i++) {
		uint32_t function = g->functions[i], *before = &last[g->graph->circles[i]];

		if (function == NODE_NONE)
			continue;
		if (*before && circles[*before - 1] != circles[function])
			give_through_others(g, *before - 1, function);
		*before = function + 1;
	}
}

/* Stores a function's height as a number if the calls between the kept functions do not explain it. */
static void give_heights(struct giving *g)
{
	struct summed *s = g->to;
	_cleanup_(freep) uint32_t *explained = xcalloc(s->functions.cnt + 1, sizeof(*explained));

	explain(s, explained, NULL);
	for (uint32_t i = 0; i < g->t->functions.cnt; i++) {
		uint32_t function = g->functions[i];

		if (function != NODE_NONE && explained[function] < g->graph->heights[i])
			s->functions.items[function].height = g->graph->heights[i];
	}
}

/* ---- one kind of intervals ---- */

static uint32_t give_tree(struct giving *g, const struct vtree *v, uint32_t name)
{
	uint32_t root = (uint32_t)g->to->places.cnt;

	for (size_t i = 0; i < v->places.cnt; i++) {
		const struct place *p = &v->places.items[i];

		VEC_ADD(&g->to->places, (struct summed_place){
			.parent = p->parent == NODE_NONE ? NODE_NONE : root + p->parent, .name = i ? 0 : name,
			.function = give_function(g, p->function), .call_site = give_call_site(g, p->call_site),
			.kind = p->kind, .wait = p->wait, .device = p->device, .is_wait = p->is_wait });
	}
	return root;
}

#define BY(x, y)					\
	do {						\
		if ((x) != (y))				\
			return (x) < (y) ? -1 : 1;	\
	} while (0)

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

#define SORT(list, by)									\
	do {										\
		if ((list)->cnt > 1)							\
			qsort((list)->items, (list)->cnt, sizeof(*(list)->items), by);	\
	} while (0)

/* Leaves out owns that took no time, so the shares get other numbers. */
static void give_owns(struct giving *g, const struct summing *s, struct summed_window *w)
{
	_cleanup_(freep) uint32_t *numbers = xcalloc(w->owns.cnt + 1, sizeof(*numbers));
	uint32_t cnt = 0;

	for (size_t i = 0; i < w->owns.cnt; i++) {
		struct summed_own own = w->owns.items[i];

		numbers[i] = cnt;
		if (own.cnt == 0)
			continue;
		own.kind = s->owns.items[i].kind;
		own.wait = s->owns.items[i].wait;
		own.function = give_function(g, s->owns.items[i].function);
		w->owns.items[cnt++] = own;
	}
	w->owns.cnt = cnt;
	for (size_t i = 0; i < w->shares.cnt; i++)
		w->shares.items[i].own = numbers[w->shares.items[i].own];
}

static void give_window(struct giving *g, struct summing *s, struct summing_window *from, uint32_t root)
{
	struct summed_window *w = VEC_EXTEND(&g->to->windows);
	size_t cnt = 0;

	*w = from->sums;
	from->sums = (struct summed_window){ 0 };
	w->root = root;
	for (size_t i = 0; i < w->sums.cnt; i++) {
		w->sums.items[cnt] = w->sums.items[i];
		w->sums.items[cnt].place += root;
		cnt += w->sums.items[i].presence > 0;
	}
	w->sums.cnt = cnt;
	for (size_t i = 0; i < w->pairs.cnt; i++) {
		w->pairs.items[i].a += root;
		w->pairs.items[i].b += root;
	}
	for (size_t i = 0; i < w->cells.cnt; i++)
		w->cells.items[i].place += root;
	give_owns(g, s, w);
	SORT(&w->pairs, by_pair);
	SORT(&w->buckets, by_bucket);
	SORT(&w->cells, by_cell);
	SORT(&w->shares, by_share);
}

static int by_number(const void *x, const void *y)
{
	const struct summing_window *a = x, *b = y;

	BY(a->number, b->number);
	return 0;
}

/* Intervals without an end, or that ended outside of any window, count in the last window. */
static void give_counts(struct summed_window *w, const struct trace *t, const struct counted_intervals *c, uint32_t name)
{
	const struct pairing *p = trace_pairing(t, name);

	w->counts = (struct summed_counts){
		.open = c->open, .aborted = c->aborted, .bad_path = c->bad_path, .lost = c->lost,
		.nested = p ? p->nested : 0, .unmatched_ends = p ? p->unmatched_ends : 0, .has_pairing = p,
		.lost_records = t->losses.records, .waited_ns = c->waited_ns, .no_waker_ns = c->no_waker_ns,
		.io_waited_ns = c->io_waited_ns, .io_no_waker_ns = c->io_no_waker_ns,
		.knows_runqueue = t->cpu_use.ns || t->cpu_use.kernel_knows };
}

static bool was_seen(const struct counted_intervals *c)
{
	return c->completed || c->open || c->aborted || c->bad_path || c->lost;
}

static void give_name(struct giving *g, struct collected *c, uint32_t name)
{
	struct summing *s = c->summing;
	uint32_t root;

	if (!was_seen(&c->counted))
		return;
	VEC_ADD(&g->to->interval_names, kept_text(g->to, g->t->interval_names.items[name]));
	give_named_like(g, g->t->interval_names.items[name]);
	root = give_tree(g, c->v, (uint32_t)g->to->interval_names.cnt - 1);
	SORT(&s->windows, by_number);
	for (size_t i = 0; i < s->windows.cnt; i++)
		give_window(g, s, &s->windows.items[i], root);
	if (s->windows.cnt == 0)
		*VEC_EXTEND(&g->to->windows) = (struct summed_window){ .root = root, .from_ns = INT64_MIN, .until_ns = INT64_MAX };
	give_counts(&g->to->windows.items[g->to->windows.cnt - 1], g->t, &c->counted, name);
}

static void give_source(struct summed *to, const struct summed_source *s)
{
	struct summed_source own = *s;

	own.machine = kept_text(to, s->machine);
	own.boot = kept_text(to, s->boot);
	own.host = kept_text(to, s->host);
	own.container = kept_text(to, s->container);
	own.build = kept_text(to, s->build);
	own.run = kept_text(to, s->run);
	VEC_ADD(&to->sources, own);
}

int analyzer_summed(struct analyzer *a, const struct trace *names, const struct summed_source *source, struct summed **ret)
{
	_cleanup_(call_graph_freep) struct call_graph *graph = NULL;
	_cleanup_(summed_freep) struct summed *s = summed_new();
	_cleanup_(freep) uint32_t *functions = xmalloc((names->functions.cnt + 1) * sizeof(*functions));
	_cleanup_(freep) uint32_t *call_sites = xmalloc((names->call_sites.cnt + 1) * sizeof(*call_sites));
	struct giving g = { .t = names, .to = s, .functions = functions, .call_sites = call_sites };

	if (!a->nestings_final)
		nestings_finish(a->nestings);
	a->nestings_final = true;
	g.graph = graph = call_graph_new(names, a->nestings);
	memset(functions, 0xff, (names->functions.cnt + 1) * sizeof(*functions));
	memset(call_sites, 0xff, (names->call_sites.cnt + 1) * sizeof(*call_sites));
	give_source(s, source);
	for (uint32_t i = 0; i < a->by_name.cnt && i < names->interval_names.cnt; i++) {
		if (a->by_name.items[i]->summing->too_many)
			return -EFBIG;
		give_name(&g, a->by_name.items[i], i);
	}
	give_calls(&g, a->nestings);
	give_circles(&g);
	give_heights(&g);
	*ret = TAKE_PTR(s);
	return 0;
}

void analyzer_sum_up(struct analyzer *a, int64_t window_ns)
{
	a->sums_up = true;
	a->window_ns = window_ns;
}
