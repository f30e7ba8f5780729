/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * analyze.c - the order of the passes.
 *
 *	windows		rows and sums, window by window		(analyzer.c, nestings.c)
 *	timeline	who did what when			(timeline.c)
 *	critical paths	what each interval's latency consists of (critical_path.c, intervals.c)
 *	variance tree	places, and a row of times per interval	(variance_tree.c)
 *	moments		exact sums over the rows		(moments.c)
 *	order		numbers that do not depend on windows	(places.c)
 *	latencies	of all rows, and the list of intervals	(latencies.c)
 *	probing		what recording functions cost	(probing.c)
 *	heights		where a function stands			(call_graph.c)
 *	nodes, root	what is shown of the places		(tree_findings.c, root.c)
 *	factors		functions, bodies, waits, pairs		(factors.c, factor_pairs.c)
 *	confidence	how far off their shares may be, which	(confidence.c, confidence_findings.c,
 *			ranks hold				paper_confidence.c, ranks.c)
 *	causes		whose time it is, over the whole tree	(causes.c)
 *	inherent work	what it explains, whose the rest is	(work.c)
 *	parts		what slow intervals have more of	(parts.c)
 *	bins		parts by latency, if asked for	(part_bins.c)
 *	pairs of parts	what goes together across the tree	(part_pairs.c)
 *	common causes	parts that vary together		(common_causes.c)
 *	observed calls	what the call graph does not know	(observed.c)
 *	before the start	what a request may have waited for	(before_start.c)
 *	waiters		who waited in a function without a probe	(waiters.c)
 *
 * Everything works on integers that are sums, up to the last division, so the findings depend
 * on what is in the trace and on nothing else.
 */
#include "analysis/analyze.h"

#include <stdlib.h>
#include <string.h>
#include "analysis/causes/causes.h"
#include "analysis/causes/unprobed.h"
#include "analysis/collected.h"
#include "analysis/factors/work.h"
#include "analysis/parts/common_causes.h"
#include "analysis/parts/part_bins.h"
#include "analysis/parts/part_pairs.h"
#include "analysis/pass/before_start.h"
#include "analysis/pass/cpu_found.h"
#include "analysis/pass/observed.h"
#include "analysis/pass/probing.h"
#include "analysis/pass/waiters.h"
#include "analysis/warnings/warnings.h"
#include "base/banned.h"
#include "base/search.h"

static void name_intervals(struct findings *f, const struct trace *t)
{
	for (size_t i = 0; i < t->interval_names.cnt; i++)
		VEC_ADD(&f->interval_names, arena_strdup(f->arena, t->interval_names.items[i]));
	strings_sort_unique(&f->interval_names);
}

/* The surroundings of the rows. */
struct around {
	const struct counted_intervals *counted;
	const struct nestings *nestings;
	const struct lives *lives;
	const struct latencies *root_only;
	struct before_sums *before;
	double overhead, quantile;
	const struct analyze_options *options;
};

static void find_parts(const struct analysis *a, const struct shown_tree *shown, const struct factor_columns *factors,
		       const struct part_columns *parts)
{
	struct row_reading reading = { 0 };
	struct pair_maker *pairs = begin_part_pairs(a, shown, factors, parts, &reading);
	struct cause_maker *causes = begin_common_causes(a, parts, &reading);

	read_rows(&reading, a);
	end_part_pairs(pairs);
	end_common_causes(causes);
}

static void run_passes(const struct analysis *a, const struct around *o)
{
	_cleanup_(call_graph_freep) struct call_graph *g = call_graph_new(a->t, o->nestings);
	_cleanup_(shown_tree_release) struct shown_tree shown = { 0 };
	_cleanup_(factor_columns_release) struct factor_columns factors = { 0 };
	_cleanup_(part_columns_release) struct part_columns parts = { 0 };
	struct row_reading reading = { 0 };
	struct factor_maker *factor_maker;
	struct part_maker *part_maker;
	struct tail_rows tail = summarize(a, o->counted, o->quantile);

	find_cpu(a->t, a->f);
	measure_probing(a, o->root_only);
	show_tree(a, g, &shown);
	factor_maker = begin_factors(a, g, &shown, &reading, &factors);
	part_maker = begin_parts(a, &factors, &reading, &parts);
	read_rows(&reading, a);
	end_factors(factor_maker, &tail);
	find_causes(a, &shown, &factors);
	explain_by_work(a, factors.times);
	end_parts(part_maker, &tail);
	fill_part_bins(a, o->options->edges, o->options->edge_cnt, parts.times);
	find_parts(a, &shown, &factors, &parts);
	find_observed_calls(a->t, o->nestings, a->f);
	find_waiters(a);
	causes_name_unprobed(a->f);
	find_before_start(a, o->before);
	warn(a, o->counted, o->lives, &factors, o->overhead);
	sort_parts(a->f);
}

static const struct request *request_of(const struct trace *t, uint64_t sid)
{
	const struct request *r = t->requests.items;
	size_t i = partition_point(j, t->requests.cnt, r[j].sid < sid);

	return i < t->requests.cnt && r[i].sid == sid ? &r[i] : NULL;
}

static void note_requests(struct findings *f, const struct trace *t)
{
	for (size_t i = 0; t->requests.cnt && i < f->intervals.cnt; i++) {
		struct interval_row *row = &f->intervals.items[i];
		const struct request *r = request_of(t, row->sid);

		if (!r)
			continue;
		row->connection = r->connection;
		row->port = r->port;
		row->bytes_in = r->bytes_in;
		row->bytes_out = r->bytes_out;
	}
}

static const char *kept(struct findings *f, const char *text)
{
	return text ? arena_strdup(f->arena, text) : NULL;
}

/* The trace may be gone before the findings are. */
static void keep_look(struct findings *f, const struct look *k)
{
	f->look = *k;
	f->look.reader = kept(f, k->reader);
	f->look.writer = kept(f, k->writer);
	f->look.unnamed_file = kept(f, k->unnamed_file);
}

static void keep_origins(struct findings *f, const struct trace *t)
{
	for (size_t i = 0; i < t->origins.cnt; i++) {
		const struct trace_origin *o = &t->origins.items[i];

		VEC_ADD(&f->origins, (struct trace_origin){ o->run, kept(f, o->machine), kept(f, o->host), kept(f, o->container),
							    kept(f, o->build) });
	}
}

int analyze_collected(const struct trace *names, struct collected *c, const struct nestings *nestings,
		      const struct lives *lives, uint64_t clamped, uint32_t name, const struct analyze_options *o, struct findings **ret)
{
	_cleanup_(findings_freep) struct findings *f = findings_new();
	_cleanup_(known_names_freep) struct known_names *known = known_names_new(names->functions.cnt);
	_cleanup_(latencies_release) struct latencies full, root_only;
	struct analysis a = {
		.t = names, .v = c->v, .m = c->m, .rows = c->rows, .full = &full,
		.variance_ns2 = moments_variance_of(c->m, 0), .names = known, .f = f,
	};
	struct around around = {
		.counted = &c->counted, .nestings = nestings, .lives = lives, .root_only = &root_only, .before = c->before,
		.overhead = o->overhead > 0 ? o->overhead : PROBING_BUDGET_DEFAULT,
		.quantile = o->quantile > 0 ? o->quantile : TAIL_QUANTILE_DEFAULT,
		.options = o,
	};
	int r;

	keep_origins(f, names);
	latencies_read(c->rows, c->root_only, &full, &root_only, f);
	note_requests(f, names);
	if (!o->no_names)
		name_intervals(f, names);
	if (name != NAME_NONE)
		f->interval.name = arena_strdup(f->arena, names->interval_names.items[name]);
	f->clamped = clamped;
	keep_look(f, &names->look);
	f->samples = c->v->all_samples;
	f->effective_samples = (uint64_t)c->v->effective_samples;
	run_passes(&a, &around);
	r = rows_error(c->rows) ? rows_error(c->rows) : rows_error(c->root_only);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(f);
	return 0;
}
