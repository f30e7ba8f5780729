/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refine_world.c - small projects to refine, and what a run of them found.
 */
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "tests/unit/analysis/refine/refine_world.h"

void world_make(struct world *w, const char *const *names, const char *const *calls)
{
	memset(w, 0, sizeof(*w));
	for (; names[w->project.function_cnt]; w->project.function_cnt++)
		w->functions[w->project.function_cnt] = (struct refine_function){
			.name = names[w->project.function_cnt], .file = "/s/a.c",
			.line = 1 + (uint32_t)w->project.function_cnt,
			.key = 100 + w->project.function_cnt,
			.root = w->project.function_cnt == 0 };
	for (; calls[w->project.call_cnt]; w->project.call_cnt++) {
		struct refine_call *c = &w->calls[w->project.call_cnt];

		c->weight = 1;
		for (uint32_t i = 0; i < w->project.function_cnt; i++) {
			if (names[i][0] == calls[w->project.call_cnt][0])
				c->caller = i;
			if (names[i][0] == calls[w->project.call_cnt][1])
				c->callee = i;
			if (names[i][0] == calls[w->project.call_cnt][2])
				c->via = i + 1;
		}
	}
	w->project.functions = w->functions;
	w->project.calls = w->calls;
}

void world_start(struct world *w, enum refine_policy policy, uint32_t k)
{
	const struct refine_options o = {
		.policy = policy, .k = k, .threshold = 0.05, .max_runs = 5, .overhead = 0.05,
		.probe_ns = 10, .dormant_ns = 1, .census_functions = 3,
	};

	w->r = refinement_new(&w->project, &o);
}

uint32_t world_index(const struct world *w, char name)
{
	for (uint32_t i = 0; i < w->project.function_cnt; i++)
		if (w->functions[i].name[0] == name)
			return i;
	fail_msg("no function %c", name);
	return 0;
}

const char *world_recorded(const struct world *w)
{
	static char text[MOST_FUNCTIONS + 1];
	size_t cnt = 0;

	for (size_t i = 0; i < w->project.function_cnt; i++) {
		char name = w->functions[i].name[0];

		if (w->r->levels[i] == REFINE_IN_INTERVALS)
			text[cnt++] = name;
		else if (w->r->levels[i] == REFINE_ALWAYS)
			text[cnt++] = (char)(name - 'a' + 'A');
	}
	text[cnt] = '\0';
	return text;
}

/* ---- what a run found ---- */

struct findings *found_new(uint64_t cnt, double mean_ns)
{
	struct findings *f = findings_new();

	f->interval = (struct interval_summary){ .name = "r", .cnt = cnt, .mean_ns = mean_ns,
						 .variance_ns2 = 1 };
	VEC_ADD(&f->nodes, (struct node){ .parent = NODE_NONE, .share = 1 });
	return f;
}

uint32_t found_node(struct findings *f, const struct world *w, enum node_kind kind, char name,
			 uint32_t parent, double share, double calls)
{
	const struct refine_function *function = &w->functions[world_index(w, name)];

	VEC_ADD(&f->nodes, (struct node){
		.id = (uint32_t)f->nodes.cnt, .parent = parent, .kind = kind,
		.function = function->name, .file = "a.c", .line = function->line, .share = share,
		.calls_per_interval = calls });
	return (uint32_t)f->nodes.cnt - 1;
}

uint32_t found_function(struct findings *f, const struct world *w, char name, uint32_t parent,
			     double share, double calls)
{
	return found_node(f, w, NODE_FUNCTION, name, parent, share, calls);
}

struct factor *found_factor(struct findings *f, const struct world *w, char name, double share)
{
	const struct refine_function *function = &w->functions[world_index(w, name)];

	VEC_ADD(&f->factors, (struct factor){
		.kind = FACTOR_FUNCTION, .function = function->name, .file = "a.c",
		.line = function->line, .share = share, .paper_contribution = share,
		.score = share, .paper_score = share });
	return &f->factors.items[f->factors.cnt - 1];
}

enum refine_stop world_step(struct world *w, struct findings *f)
{
	enum refine_stop stop = refinement_step(w->r, f);

	findings_free(f);
	return stop;
}
