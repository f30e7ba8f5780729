/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * analyze.c - the order of the passes.
 *
 *	windows		rows and sums, window by window		(analyzer.c, nestings.c)
 *	timeline	who did what when			(timeline.c)
 *	critical paths	what each interval's latency consists of (critical_path.c, intervals.c)
 *	variance tree	places, and a row of times per interval	(variance_tree.c)
 *	moments		exact sums over the rows		(moments.c)
 *	order		numbers that do not depend on windows	(place_order.c)
 *	latencies	of all rows, and the list of intervals	(latencies.c)
 *	probing		what recording functions cost	(probing.c)
 *	nodes		what is shown of the places		(tree_findings.c)
 *	heights, root	where a function stands			(call_graph.c, root.c)
 *	factors		functions, bodies, waits, pairs		(factors.c, factor_pairs.c)
 *	confidence	how far off their shares may be, which	(confidence.c, confidence_findings.c,
 *			ranks hold				paper_confidence.c, ranks.c)
 *	inherent work	what it explains, whose the rest is	(work.c)
 *	parts		what slow intervals have more of	(parts.c)
 *	pairs of parts	what goes together across the tree	(part_pairs.c)
 *	common causes	parts that vary together		(common.c)
 *	observed calls	what the call graph does not know	(observed.c)
 *	waiters		who waited in a function without a probe	(waiters.c)
 *
 * Everything works on integers that are sums, up to the last division, so the findings depend
 * on what is in the trace and on nothing else.
 */
#include "analysis/latencies.h"
#include "analysis/waiters.h"

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
	find_cpu(a);
	measure_probing(a);
	show_tree(a);
	find_root(a);
	begin_factors(a);
	begin_parts(a);
	read_rows(a);
	end_factors(a);
	explain_by_work(a);
	end_parts(a);
	begin_part_pairs(a);
	begin_common_causes(a);
	read_rows(a);
	end_part_pairs(a);
	end_common_causes(a);
	find_observed_calls(a);
	find_waiters(a);
	warn(a);
	sort_parts(a->f);
	times_free(a->factor_times);
	free(a->presences);
	times_free(a->part_times);
	free(a->part_sums);
	free(a->factor_of_node);
	map_free(a->factor_of_pair);
	free(a->function_names);
	free(a->function_files);
	free(a->node_of_place);
	free(a->place_of_node);
	VEC_RELEASE(&a->visitors);
}

int analyze_collected(const struct trace *names, struct collected *c, const struct nestings *nestings,
		      const struct lives *lives, uint64_t clamped, uint32_t name, const struct analyze_options *o, struct findings **ret)
{
	_cleanup_(call_graph_freep) struct call_graph *g = call_graph_new(names, nestings);
	_cleanup_(findings_freep) struct findings *f = findings_new();
	_cleanup_(latencies_release) struct latencies full, root;
	struct analysis a;
	int r;

	latencies_read(c, &full, &root, f);
	a = (struct analysis){
		.t = names, .counted = &c->counted, .nestings = nestings, .lives = lives, .rows = c->rows,
		.root_only = c->root_only, .v = c->v, .m = c->m, .g = g, .latencies_ns = full.of_row,
		.block_of_row = full.block_of_row, .recorded_cnt = rows_recorded(c->rows),
		.recorded_ns = full.of_recorded, .copies = full.copies, .weights = full.weights,
		.root_only_ns = root.of_recorded, .root_only_weights = root.weights, .f = f,
		.overhead = o->overhead > 0 ? o->overhead : PROBING_BUDGET_DEFAULT,
		.quantile = o->quantile > 0 ? o->quantile : TAIL_QUANTILE_DEFAULT,
	};
	if (!o->no_names)
		name_intervals(f, names);
	if (name != NAME_NONE)
		f->interval.name = arena_strdup(f->arena, names->interval_names.items[name]);
	f->clamped = clamped;
	run_passes(&a);
	r = rows_error(c->rows) ? rows_error(c->rows) : rows_error(c->root_only);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(f);
	return 0;
}
