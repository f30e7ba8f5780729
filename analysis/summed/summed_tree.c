/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * summed_tree.c - builds one tree, its sums and its call graph from windows.
 *
 * Heights: a digest holds the calls between the functions of its tree, and for each function its height through functions that it
 * does not hold.  The height in the united digests is the longest path through these calls that ends with such a height, so the
 * latter is represented by a chain of that many functions without a name.
 */
#include "analysis/summed/summed_tree.h"

#include <string.h>
#include "base/banned.h"

void summed_tree_free(struct summed_tree *t)
{
	if (!t)
		return;
	trace_free(t->names);
	vtree_free(t->v);
	moments_free(t->m);
	call_graph_free(t->graph);
	map_free(t->sums.pairs);
	VEC_RELEASE(&t->sums.pair_sums);
	map_free(t->sums.owns);
	VEC_RELEASE(&t->sums.own_sums);
	free(t->sums.slow_x);
	free(t->sums.fast_x);
	for (size_t i = 0; t->sums.blocks && i < t->sums.kind.cnt; i++)
		free(t->sums.blocks[i].x);
	free(t->sums.blocks);
	VEC_RELEASE(&t->total.buckets);
	VEC_RELEASE(&t->windows);
	free(t->place_of);
	free(t);
}

/* ---- names ---- */

static struct trace *names_of(const struct summed *s)
{
	struct trace *t = trace_new();

	for (size_t i = 0; i < s->functions.cnt; i++) {
		const struct summed_function *f = &s->functions.items[i];

		VEC_ADD(&t->functions, (struct function){
			.name = arena_strdup(t->arena, f->name), .file = f->file ? arena_strdup(t->arena, f->file) : NULL,
			.line = f->line, .key = f->key, .probed = true, .left_out = f->left_out, .registered = f->registered });
	}
	for (size_t i = 0; i < s->call_sites.cnt; i++)
		VEC_ADD(&t->call_sites, arena_strdup(t->arena, s->call_sites.items[i]));
	for (size_t i = 0; i < s->interval_names.cnt; i++)
		VEC_ADD(&t->interval_names, arena_strdup(t->arena, s->interval_names.items[i]));
	for (size_t i = 0; i < s->calls.cnt; i++)
		if (s->calls.items[i].call_site != SUMMED_THROUGH_OTHERS)
			VEC_ADD(&t->calls, (struct call){ s->calls.items[i].caller, s->calls.items[i].callee,
							  s->calls.items[i].call_site, false });
	trace_sort_events(t);
	return t;
}

static struct call_graph *graph_of(const struct summed *s)
{
	struct call_graph *g = xcalloc(1, sizeof(*g));
	size_t cnt = s->functions.cnt, edge_cnt = 0, most = 0;
	struct call_edge *edges;
	uint32_t *heights;

	for (size_t i = 0; i < cnt; i++)
		most = s->functions.items[i].height > most ? s->functions.items[i].height : most;
	edges = xcalloc(s->calls.cnt + cnt + most + 1, sizeof(*edges));
	heights = xcalloc(cnt + most + 1, sizeof(*heights));
	for (size_t i = 0; i < s->calls.cnt; i++)
		if (summed_call_counts(s, &s->calls.items[i]))
			edges[edge_cnt++] = (struct call_edge){ s->calls.items[i].caller, s->calls.items[i].callee };
	/* The chain: cnt has height 0, cnt + 1 has height 1, and so on. */
	for (size_t k = 1; k < most; k++)
		edges[edge_cnt++] = (struct call_edge){ (uint32_t)(cnt + k), (uint32_t)(cnt + k - 1) };
	for (size_t i = 0; i < cnt; i++)
		if (s->functions.items[i].height)
			edges[edge_cnt++] = (struct call_edge){ (uint32_t)i, (uint32_t)(cnt + s->functions.items[i].height - 1) };
	heights_of(edges, edge_cnt, cnt + most, heights, NULL);
	g->function_cnt = cnt;
	g->heights = heights;
	g->open = xcalloc(cnt + 1, sizeof(*g->open));
	for (size_t i = 0; i < cnt; i++)
		g->open[i] = s->functions.items[i].open;
	free(edges);
	return g;
}

/* ---- places ---- */

static void add_place(struct summed_tree *t, uint32_t i)
{
	const struct summed_place *p = &t->s->places.items[i];
	struct place like = {
		.kind = p->kind, .wait = p->wait, .device = p->device, .is_wait = p->is_wait,
		.function = p->function, .call_site = p->call_site,
	};
	uint32_t parent = t->place_of[p->parent];

	t->place_of[i] = vtree_add_place(t->v, parent, &like);
	if (p->kind == NODE_BODY)
		t->v->places.items[parent].body = t->place_of[i];
}

/* Makes the tree of that interval, with its final numbers. */
static void plant(struct summed_tree *t, const char *name)
{
	const struct summed *s = t->s;
	_cleanup_(freep) uint32_t *new_ids = NULL;

	t->v = vtree_new(CHARGE_WAITER);
	for (uint32_t i = 0; i < s->places.cnt; i++) {
		const struct summed_place *p = &s->places.items[i];

		t->place_of[i] = NODE_NONE;
		if (p->parent == NODE_NONE && name && strcmp(s->interval_names.items[p->name], name) == 0)
			t->place_of[i] = 0;
		else if (p->parent != NODE_NONE && t->place_of[p->parent] != NODE_NONE)
			add_place(t, i);
	}
	new_ids = vtree_renumber(t->v, t->names);
	for (size_t i = 0; i < s->places.cnt; i++)
		if (t->place_of[i] != NODE_NONE)
			t->place_of[i] = new_ids[t->place_of[i]];
	for (size_t i = 0; i < s->windows.cnt; i++)
		if (t->place_of[s->windows.items[i].root] == 0)
			VEC_ADD(&t->windows, &s->windows.items[i]);
}

/* ---- sums ---- */

static void add_counts(struct summed_total *to, const struct summed_window *w)
{
	const struct summed_counts *c = &w->counts;

	to->counted.in_full += w->recorded;
	to->counted.completed += w->recorded + w->root_only.n;
	to->counted.open += c->open;
	to->counted.aborted += c->aborted;
	to->counted.bad_path += c->bad_path;
	to->counted.lost += c->lost;
	to->counted.waited_ns += c->waited_ns;
	to->counted.no_waker_ns += c->no_waker_ns;
	to->counted.io_waited_ns += c->io_waited_ns;
	to->counted.io_no_waker_ns += c->io_no_waker_ns;
	to->counts.nested += c->nested;
	to->counts.unmatched_ends += c->unmatched_ends;
	to->counts.lost_records += c->lost_records;
	to->counts.has_pairing |= c->has_pairing;
	to->counts.knows_runqueue |= c->knows_runqueue;
	to->root_only.n += w->root_only.n;
	to->root_only.t += w->root_only.t;
	to->root_only.tt += w->root_only.tt;
	if (w->root_only.max_ns > to->root_only.max_ns)
		to->root_only.max_ns = w->root_only.max_ns;
}

/* Adds up the totals.  Each window's sums fit; checks first that the total fits, too. */
static bool take_totals(struct summed_tree *t)
{
	struct summed_total *to = &t->total;
	unsigned __int128 n = 0, root_only = 0;
	int64_t longest_root_only = 0;

	for (size_t i = 0; i < t->windows.cnt; i++) {
		const struct summed_window *w = t->windows.items[i];

		if (w->recorded && (!to->max_ns || w->max_ns > to->max_ns))
			to->max_ns = w->max_ns;
		n += w->n;
		root_only += w->root_only.n;
		longest_root_only = w->root_only.max_ns > longest_root_only ? w->root_only.max_ns : longest_root_only;
	}
	if (n >> 62 || root_only >> 62 || !squares_fit((uint64_t)n, to->max_ns) || !squares_fit((uint64_t)root_only, longest_root_only))
		return false;
	for (size_t i = 0; i < t->windows.cnt; i++) {
		const struct summed_window *w = t->windows.items[i];

		if (w->recorded && (!to->recorded || w->min_ns < to->min_ns))
			to->min_ns = w->min_ns;
		to->recorded += w->recorded;
		to->unit = summed_divisor(w->unit, to->unit);
		add_counts(to, w);
	}
	to->unit = to->unit ? to->unit : 1;
	to->n = (uint64_t)n / to->unit;
	return true;
}

static void add_sums(struct summed_tree *t, struct sums *all)
{
	for (size_t i = 0; i < t->windows.cnt; i++)
		for (size_t k = 0; k < t->windows.items[i]->sums.cnt; k++) {
			const struct summed_sums *s = &t->windows.items[i]->sums.items[k];
			uint32_t place = t->place_of[s->place];

			all[place].x += s->x;
			all[place].xx += s->xx;
			all[place].xt += s->xt;
			t->v->places.items[place].calls += s->calls;
			t->v->places.items[place].presence += s->presence;
		}
	vtree_divide(t->v, t->total.unit);
	for (uint32_t i = 0; i < t->v->places.cnt; i++) {
		struct sums divided = { all[i].x / t->total.unit, all[i].xx / t->total.unit, all[i].xt / t->total.unit };

		moments_set(t->m, t->v, i, &divided);
	}
}

static void add_pairs(struct summed_tree *t)
{
	struct place_sums *to = &t->sums;

	for (size_t i = 0; i < t->windows.cnt; i++)
		for (size_t k = 0; k < t->windows.items[i]->pairs.cnt; k++) {
			const struct summed_pair *p = &t->windows.items[i]->pairs.items[k];
			uint32_t a = t->place_of[p->a], b = t->place_of[p->b];
			uint64_t *slot = map_slot(to->pairs, a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a);

			if (*slot == 0) {
				VEC_ADD(&to->pair_sums, 0);
				*slot = to->pair_sums.cnt - 1;
			}
			to->pair_sums.items[*slot] += p->xy;
		}
}

static bool set_pair(uint64_t key, uint64_t at, void *arg)
{
	struct summed_tree *t = arg;
	uint32_t a = (uint32_t)(key >> 32), b = (uint32_t)key;

	t->sums.pair_sums.items[at] /= t->total.unit;
	if (a != b && t->v->places.items[a].parent == t->v->places.items[b].parent)
		moments_set_pair(t->m, t->v, a, b, t->sums.pair_sums.items[at]);
	return true;
}

struct summed_tree *summed_tree_new(const struct summed *s, const char *name)
{
	_cleanup_(summed_tree_freep) struct summed_tree *t = xcalloc(1, sizeof(*t));
	_cleanup_(freep) struct sums *all = NULL;

	t->s = s;
	t->place_of = xcalloc(s->places.cnt + 1, sizeof(*t->place_of));
	t->sums.pairs = map_new();
	t->sums.owns = map_new();
	VEC_ADD(&t->sums.pair_sums, 0);	/* index 0 means none */
	VEC_EXTEND(&t->sums.own_sums);
	t->m = moments_new();
	t->names = names_of(s);
	t->graph = graph_of(s);
	plant(t, name);
	if (!take_totals(t))
		return NULL;
	t->names->cpu_use.kernel_knows = t->total.counts.knows_runqueue;
	t->names->losses.records = t->total.counts.lost_records;
	t->m->n = t->total.n;
	all = xcalloc(t->v->places.cnt + 1, sizeof(*all));
	add_sums(t, all);
	add_pairs(t);
	map_each(t->sums.pairs, set_pair, t);
	return TAKE_PTR(t);
}
