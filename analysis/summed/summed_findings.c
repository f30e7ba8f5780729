/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * summed_findings.c - findings from sums, by the passes of analyze.c that need no rows.
 *
 * summed_tree.c rebuilds the tree and its sums as an analyzer has them after the last row; then the same passes do the same
 * arithmetic.  Whatever needs single intervals is missing: quantiles come from buckets, and there are no pairs of parts, no common
 * causes, no inherent work, no drift, no mixture.
 */
#include "analysis/summed/summed_tree.h"

#include <errno.h>
#include <string.h>
#include "analysis/causes/causes.h"
#include "analysis/parts/parts.h"
#include "analysis/pass/cpu_found.h"
#include "analysis/warnings/warnings.h"
#include "base/banned.h"

static void name_intervals(struct findings *f, const struct summed *s)
{
	for (size_t i = 0; i < s->interval_names.cnt; i++)
		VEC_ADD(&f->interval_names, arena_strdup(f->arena, s->interval_names.items[i]));
	strings_sort_unique(&f->interval_names);
}

static void measure_root_only(struct findings *f, const struct summed_total *total)
{
	const struct summed_root_only *r = &total->root_only;
	struct probing *p = &f->probing;

	p->root_only_cnt = r->n;
	p->root_only_mean_ns = moments_mean(r->n, r->t);
	p->root_only_variance_ns2 = moments_covariance(r->n, r->t, r->t, r->tt);
	p->root_only_max_ns = r->max_ns;
}

static void warn_digest(const struct analysis *a)
{
	findings_warn(a->f, "digest",
		      "made of digests, which hold sums and no single intervals: sums, shares and variances are exact, quantiles those "
		      "of latencies less than 0.8 %% apart, and the tail begins at the edge of a bucket");
}

static void run_passes(const struct analysis *a, struct summed_tree *tree, const struct analyze_options *o)
{
	_cleanup_(shown_tree_release) struct shown_tree shown = { 0 };
	_cleanup_(factor_columns_release) struct factor_columns factors = { 0 };
	_cleanup_(part_columns_release) struct part_columns parts = { 0 };
	_cleanup_(lives_freep) struct lives *lives = lives_new();
	struct row_reading reading = { 0 };
	struct factor_maker *factor_maker;
	struct part_maker *part_maker;
	struct tail_rows tail = summarize_buckets(a, tree, o->quantile > 0 ? o->quantile : TAIL_QUANTILE_DEFAULT);

	measure_root_only(a->f, &tree->total);
	show_tree(a, tree->graph, &shown);
	factor_maker = begin_factors(a, tree->graph, &shown, &reading, &factors);
	part_maker = begin_parts(a, &factors, &reading, &parts);
	read_rows(&reading, a);		/* there are no rows */
	end_factors(factor_maker, &tail);
	find_causes(a, &shown, &factors);
	end_parts(part_maker, &tail);
	warn(a, &tree->total.counted, lives, &factors, o->overhead > 0 ? o->overhead : PROBING_BUDGET_DEFAULT);
	warn_digest(a);
	sort_parts(a->f);
}

/* The index of that name, or of the name with the most intervals (ties: by name).  SIZE_MAX: there is none. */
static size_t choose_name(const struct summed *s, const char *name)
{
	_cleanup_(freep) uint64_t *cnts = xcalloc(s->interval_names.cnt + 1, sizeof(*cnts));
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < s->windows.cnt; i++)
		cnts[s->places.items[s->windows.items[i].root].name] += s->windows.items[i].recorded + s->windows.items[i].root_only.n;
	for (size_t i = 0; i < s->interval_names.cnt; i++) {
		if (name ? strcmp(name, s->interval_names.items[i]) != 0 : false)
			continue;
		if (best == SIZE_MAX || cnts[i] > cnts[best] ||
		    (cnts[i] == cnts[best] && strcmp(s->interval_names.items[i], s->interval_names.items[best]) < 0))
			best = i;
	}
	return best;
}

int summed_findings(const struct summed *s, const struct analyze_options *o, struct findings **ret)
{
	_cleanup_(findings_freep) struct findings *f = findings_new();
	_cleanup_(known_names_freep) struct known_names *known = known_names_new(s->functions.cnt);
	_cleanup_(summed_tree_freep) struct summed_tree *tree = NULL;
	_cleanup_(rows_freep) struct rows *none = rows_new();
	_cleanup_(latencies_release) struct latencies empty = { 0 };
	size_t name = choose_name(s, o->interval);
	struct analysis a = { .rows = none, .full = &empty, .names = known, .f = f };

	if (name == SIZE_MAX && o->interval)
		return -ENOENT;
	tree = summed_tree_new(s, name == SIZE_MAX ? NULL : s->interval_names.items[name]);
	if (!tree)
		return -EOVERFLOW;
	a.t = tree->names;
	a.v = tree->v;
	a.m = tree->m;
	a.sums = &tree->sums;
	a.variance_ns2 = moments_variance_of(tree->m, 0);
	if (!o->no_names)
		name_intervals(f, s);
	if (name != SIZE_MAX)
		f->interval.name = arena_strdup(f->arena, s->interval_names.items[name]);
	run_passes(&a, tree, o);
	*ret = TAKE_PTR(f);
	return 0;
}
