/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * analyze.c - the order of the passes.
 *
 *	timeline	who did what when			(timeline.c)
 *	critical paths	what each interval's latency consists of (critical_path.c, intervals.c)
 *	variance tree	places, and a row of times per interval	(variance_tree.c)
 *	moments		exact sums over the rows		(moments.c)
 *	probing		what recording functions cost	(probing.c)
 *	nodes		what is shown of the places		(tree_findings.c)
 *	heights, root	where a function stands			(call_graph.c, root.c)
 *	factors		functions, bodies, waits, pairs		(factors.c, factor_pairs.c)
 *	confidence	how far off their shares may be, which	(confidence.c, confidence_findings.c,
 *			ranks hold				paper_confidence.c, ranks.c)
 *	inherent work	what it explains, whose the rest is	(work.c)
 *	parts		what slow intervals have more of	(parts.c)
 *	common causes	parts that vary together		(common.c)
 *	observed calls	what the call graph does not know	(observed.c)
 *
 * Everything works on integers that are sums, up to the last division, so the findings depend
 * on what is in the trace and on nothing else.
 */
#include "analysis/passes.h"

#include <string.h>
#include "base/banned.h"

static void name_intervals(struct findings *f, const struct trace *t)
{
	for (size_t i = 0; i < t->interval_names.cnt; i++)
		VEC_ADD(&f->interval_names, arena_strdup(f->arena, t->interval_names.items[i]));
	strings_sort_unique(&f->interval_names);
}

static void run_passes(struct analysis *a)
{
	size_t function_cnt = a->t->functions.cnt;

	a->function_names = xcalloc(function_cnt + 1, sizeof(*a->function_names));
	a->function_files = xcalloc(function_cnt + 1, sizeof(*a->function_files));
	a->factor_of_pair = map_new();
	a->variance_ns2 = moments_variance_of(a->m, 0);
	summarize(a);
	measure_probing(a);
	show_tree(a);
	find_root(a);
	find_factors(a);
	explain_by_work(a);
	find_parts(a);
	find_common_causes(a);
	find_observed_calls(a);
	warn(a);
	sort_parts(a->f);
	times_free(a->factor_times);
	times_free(a->part_times);
	map_free(a->factor_of_pair);
	free(a->function_names);
	free(a->function_files);
	free(a->node_of_place);
	free(a->place_of_node);
}

int analyze(struct trace *t, const struct analyze_options *o, struct findings **ret)
{
	_cleanup_(timeline_freep) struct timeline *tl = NULL;
	_cleanup_(vtree_freep) struct vtree *v = NULL;
	_cleanup_(used_intervals_freep) struct used_intervals *used = NULL;
	_cleanup_(moments_freep) struct moments *m = NULL;
	_cleanup_(call_graph_freep) struct call_graph *g = NULL;
	_cleanup_(findings_freep) struct findings *f = NULL;
	_cleanup_(freep) int64_t *latencies_ns = NULL;
	struct analysis a = { .t = t };
	uint32_t name;
	int r = intervals_choose(t, o->interval, &name);

	if (r < 0)
		return r;
	trace_sort(t);
	f = findings_new();
	name_intervals(f, t);
	if (name != NAME_NONE)
		f->interval.name = arena_strdup(f->arena, t->interval_names.items[name]);
	tl = timeline_new(t);
	f->clamped = tl->clamped;
	v = vtree_new(tl, CHARGE_WAITER);
	used = used_intervals_new(tl, name, v);
	latencies_ns = xcalloc(used->items.cnt + 1, sizeof(*latencies_ns));
	for (size_t i = 0; i < used->items.cnt; i++)
		latencies_ns[i] = used->items.items[i]->end_ns - used->items.items[i]->start_ns;
	m = moments_new(v, latencies_ns);
	g = call_graph_new(t, tl->parents);
	a.tl = tl;
	a.used = used;
	a.v = v;
	a.m = m;
	a.g = g;
	a.latencies_ns = latencies_ns;
	a.f = f;
	a.overhead = o->overhead > 0 ? o->overhead : PROBING_BUDGET_DEFAULT;
	a.quantile = o->quantile > 0 ? o->quantile : TAIL_QUANTILE_DEFAULT;
	run_passes(&a);
	*ret = TAKE_PTR(f);
	return 0;
}

const char *analysis_function_name(struct analysis *a, uint32_t function)
{
	if (function == FUNCTION_NONE)
		return NULL;
	if (!a->function_names[function])
		a->function_names[function] = arena_strdup(a->f->arena,
							   a->t->functions.items[function].name);
	return a->function_names[function];
}

const char *analysis_function_file(struct analysis *a, uint32_t function)
{
	if (function == FUNCTION_NONE || !a->t->functions.items[function].file)
		return NULL;
	if (!a->function_files[function])
		a->function_files[function] = arena_strdup(a->f->arena,
							   a->t->functions.items[function].file);
	return a->function_files[function];
}

uint32_t analysis_function_line(const struct analysis *a, uint32_t function)
{
	return function == FUNCTION_NONE ? 0 : a->t->functions.items[function].line;
}

double analysis_share(const struct analysis *a, double covariance)
{
	return a->variance_ns2 > 0 ? covariance / a->variance_ns2 : 0;
}
