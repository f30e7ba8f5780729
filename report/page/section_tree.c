/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * section_tree.c - the verdict, variance tree, factors, causes, causal experiments and the method: the views' JSON, with names.
 *
 * A tree may have thousands of nodes; the page keeps those with the largest shares and their ancestors.
 */
#include <math.h>

#include "base/banned.h"
#include "report/page/sections.h"
#include "report/views/tree_label.h"
#include "report/words/sentence.h"
#include "report/words/cpu_words.h"

/* ---- verdict, method ---- */

static json_t *run_json(const struct run *r)
{
	json_t *o = json_object();

	json_set(o, "number", json_integer(r->number));
	json_set(o, "name", json_text(r->name));
	json_set(o, "command", json_text(r->command));
	json_set(o, "source", json_text(r->source));
	json_set(o, "started_ns", json_integer(r->started_ns));
	json_set(o, "duration_ns", json_integer(r->duration_ns));
	json_set(o, "functions", json_u64(r->function_cnt));
	json_set(o, "lost_records", json_u64(r->lost_records));
	return o;
}

static json_t *verdict_data(const struct page_input *in, struct diag *reterr)
{
	_cleanup_(freep) char *cpu = cpu_text(in->view.findings);
	json_t *o = page_view(in, "summary", NULL, reterr);

	if (!o)
		return NULL;
	json_set(o, "facts", run_json(in->view.run));
	json_set(o, "cpu_text", json_text(cpu));
	return o;
}

const struct page_section section_verdict = { .id = "verdict", .title = "Verdict", .data = verdict_data };

static json_t *method_data(const struct page_input *in, struct diag *reterr)
{
	(void)in;
	(void)reterr;
	return json_object();		/* the text is report/html/method.html */
}

const struct page_section section_method = { .id = "method", .title = "Method and limits", .data = method_data };

/* ---- tree ---- */

#define NODES_MAX 600

/* The caller frees it. */
static bool *nodes_kept(const struct findings *f)
{
	_cleanup_(freep) double *weights = xcalloc(f->nodes.cnt + 1, sizeof(*weights));
	bool *keep;

	for (uint32_t i = 0; i < f->nodes.cnt; i++)
		weights[i] = fabs(f->nodes.items[i].share);
	keep = keep_heaviest(weights, f->nodes.cnt, NODES_MAX);
	for (uint32_t i = 0; i < f->nodes.cnt; i++)
		for (uint32_t n = keep[i] ? f->nodes.items[i].parent : NODE_NONE; n != NODE_NONE && !keep[n]; n = f->nodes.items[n].parent)
			keep[n] = true;
	return keep;
}

static char *label_of(const struct findings *f, const struct node *n)
{
	return n->parent == NODE_NONE ? xstrdup(f->interval.name) : label_among_siblings(f, n, true);
}

/* For each node with children left out: their sums.  [{"parent","count","share","mean_ns"}] */
static json_t *rests_json(const struct findings *f, const bool *keep)
{
	_cleanup_(freep) struct { size_t cnt; double share, mean_ns; } *rests = xcalloc(f->nodes.cnt + 1, sizeof(*rests));
	json_t *list = json_array();

	for (size_t i = 1; i < f->nodes.cnt; i++) {
		const struct node *n = &f->nodes.items[i];

		if (keep[i] || !keep[n->parent])
			continue;
		rests[n->parent].cnt++;
		rests[n->parent].share += n->share;
		rests[n->parent].mean_ns += n->mean_ns;
	}
	for (size_t i = 0; i < f->nodes.cnt; i++) {
		json_t *o;

		if (!rests[i].cnt)
			continue;
		o = json_object();
		json_set(o, "parent", json_integer((json_int_t)i));
		json_set(o, "count", json_integer((json_int_t)rests[i].cnt));
		json_set(o, "share", json_number(rests[i].share));
		json_set(o, "mean_ns", json_ns(rests[i].mean_ns));
		json_add(list, o);
	}
	return list;
}

static json_t *tree_data(const struct page_input *in, struct diag *reterr)
{
	const struct findings *f = in->view.findings;
	_cleanup_(freep) bool *keep = nodes_kept(f);
	json_t *o = f->nodes.cnt > 1 ? page_view(in, "variance-tree", NULL, reterr) : NULL, *nodes;

	if (!o)
		return NULL;
	nodes = json_object_get(o, "nodes");
	for (size_t i = 0; i < f->nodes.cnt; i++) {
		_cleanup_(freep) char *label = keep[i] ? label_of(f, &f->nodes.items[i]) : NULL;

		json_set(json_array_get(nodes, i), "label", json_text(label));
	}
	json_keep(nodes, keep);
	json_set(o, "rests", rests_json(f, keep));
	json_object_del(o, "covariances");
	return o;
}

const struct page_section section_tree = { .id = "tree", .title = "Variance tree", .data = tree_data };

/* ---- factors ---- */

static json_t *factors_data(const struct page_input *in, struct diag *reterr)
{
	static const char *const unused[] = { "after_work", "common_causes", "hedges", "pairs", "pairs_rest" };
	const struct findings *f = in->view.findings;
	struct view_options options = in->view.options;
	_cleanup_(freep) uint32_t *order = NULL;
	_cleanup_(freep) bool *keep = NULL;
	json_t *o, *list;
	size_t cnt;

	options.ranking.all = true;
	options.ranking.paper = false;
	cnt = factors_select(f, &options.ranking, &order);
	keep = xcalloc(cnt + 1, sizeof(*keep));
	o = cnt ? page_view(in, "factors", &options, reterr) : NULL;
	if (!o)
		return NULL;
	list = json_object_get(o, "factors");
	for (size_t i = 0; i < cnt; i++) {
		_cleanup_(freep) char *label = factor_label(&f->factors.items[order[i]], true);

		json_set(json_array_get(list, i), "label", json_text(label));
		keep[i] = i < PAGE_ROWS_MAX;
	}
	json_keep(list, keep);
	json_set(o, "factor_cnt", json_integer((json_int_t)cnt));
	for (size_t i = 0; i < ARRAY_SIZE(unused); i++)
		json_object_del(o, unused[i]);
	return o;
}

const struct page_section section_factors = { .id = "factors", .title = "Factors", .data = factors_data };

/* ---- causes ---- */

/* The variance of the interval and of the functions that matter, by state: running, and each class of wait. */
static json_t *causes_data(const struct page_input *in, struct diag *reterr)
{
	struct view_options options = in->view.options;
	json_t *by_class = NULL, *known = page_view(in, "causes", NULL, reterr), *o;

	options.by = "cause";
	if (in->view.trace)
		by_class = page_view(in, "variance-tree", &options, reterr);
	if (by_class) {
		json_t *list = json_object_get(by_class, "functions");

		json_set(by_class, "function_cnt", json_integer((json_int_t)json_array_size(list)));
		while (json_array_size(list) > PAGE_ROWS_MAX / 5)
			json_array_remove(list, json_array_size(list) - 1);
	}
	if (!by_class && !known)
		return NULL;
	o = json_object();
	json_set(o, "by_class", by_class ? by_class : json_null());
	json_set(o, "known", known ? known : json_null());
	return o;
}

const struct page_section section_causes = { .id = "causes", .title = "Causes", .data = causes_data };

/* ---- causal experiments ---- */

static json_t *causal_data(const struct page_input *in, struct diag *reterr)
{
	return page_view(in, "causal", NULL, reterr);
}

const struct page_section section_causal = { .id = "causal", .title = "If it were faster", .data = causal_data };
