/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * section_waits.c - the wait-for graph of the whole run.
 *
 * The page keeps the heaviest edges and those of knots, and the vertices that they touch.
 */

#include "base/banned.h"
#include "base/str.h"
#include "report/page/sections.h"
#include "report/views.h"
#include "report/whole_run/wait_labels.h"

static void keep_ends(const struct wait_graph *g, bool *edges, bool *vertices)
{
	for (size_t k = 0; k < g->knots.cnt && k < PAGE_ROWS_MAX; k++) {
		for (size_t i = 0; i < g->knots.items[k].edges.cnt && i < PAGE_ROWS_MAX; i++)
			edges[g->knots.items[k].edges.items[i]] = true;
		for (size_t i = 0; i < g->knots.items[k].vertices.cnt; i++)
			vertices[g->knots.items[k].vertices.items[i]] = true;
	}
	for (size_t i = 0; i < g->edges.cnt; i++) {
		edges[i] |= i < PAGE_ROWS_MAX / 2;
		if (!edges[i])
			continue;
		vertices[g->edges.items[i].from] = true;
		vertices[g->edges.items[i].to] = true;
	}
}

static void add_labels(json_t *o, const struct wait_graph *g)
{
	json_t *list = json_object_get(o, "vertices");

	for (size_t i = 0; i < g->vertices.cnt; i++) {
		_cleanup_(str_release) struct str label = STR_INIT;

		add_vertex_label(&label, &g->vertices.items[i]);
		json_set(json_array_get(list, i), "label", json_text(str_cstr(&label)));
		json_object_del(json_array_get(list, i), "members");
	}
}

/* Keeps the stacks of an edge's heaviest waits; show wait-graph has the others. */
static void keep_first_stacks(json_t *edges)
{
	for (size_t i = 0; i < json_array_size(edges); i++) {
		json_t *stacks = json_object_get(json_array_get(edges, i), "stacks");

		while (json_array_size(stacks) > 1)
			json_array_remove(stacks, json_array_size(stacks) - 1);
	}
}

static json_t *graph_json(const struct view *v, struct view_input *in)
{
	const struct wait_graph *g = in->made;
	_cleanup_(freep) bool *edges = xcalloc(g->edges.cnt + 1, sizeof(*edges));
	_cleanup_(freep) bool *vertices = xcalloc(g->vertices.cnt + 1, sizeof(*vertices));
	json_t *o = v->json(in);

	keep_ends(g, edges, vertices);
	add_labels(o, g);
	json_keep(json_object_get(o, "edges"), edges);
	json_keep(json_object_get(o, "vertices"), vertices);
	keep_first_stacks(json_object_get(o, "edges"));
	json_set(o, "edge_cnt", json_integer((json_int_t)g->edges.cnt));
	json_set(o, "vertex_cnt", json_integer((json_int_t)g->vertices.cnt));
	json_object_del(o, "trimmed");
	return o;
}

static json_t *wait_graph_data(const struct page_input *in, struct diag *reterr)
{
	struct view_input input = in->view;
	void *made = NULL;
	json_t *o = NULL;

	if (in->view.trace && view_wait_graph.make(&input, &made, reterr) == 0) {
		input.made = made;
		if (((const struct wait_graph *)made)->edges.cnt)
			o = graph_json(&view_wait_graph, &input);
	}
	if (made)
		view_wait_graph.release(made);
	return o;
}

const struct page_section section_wait_graph = {
	.id = "wait-graph", .title = "Who waits for whom", .data = wait_graph_data
};
