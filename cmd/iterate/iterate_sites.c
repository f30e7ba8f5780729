/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iterate_sites.c - chooses calls of one function from several places of another that the next run records by place.
 *
 *	handle calls log_append in lines 9 and 11, together 82 % of the variance	-> sites handle log_append
 *
 * The paper's tree has two places for them.  A run has one, until the caller notes its place, which costs a few nanoseconds
 * each time: so only callees above the threshold get it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/map.h"
#include "cmd/iterate/iterate_loop.h"
#include "cmd/messages.h"

static uint32_t function_of(const struct project *p, const struct node *n)
{
	for (uint32_t i = 0; i < p->functions.cnt; i++) {
		const struct project_function *f = &p->functions.items[i];

		if (f->line == n->line && strcmp(f->name, n->function) == 0 && n->file && *n->file && f->file && location_file_matches(n->file, f->file))
			return i;
	}
	return UINT32_MAX;
}

static bool is_recorded(const struct loop *l, uint32_t function)
{
	return plan_level_of(l->built, l->project->functions.items[function].key) == PLAN_IN_INTERVALS ||
	       plan_level_of(l->built, l->project->functions.items[function].key) == PLAN_ALWAYS;
}

/* Functions that may end their span before their last call (probe_tail.h). */
static struct map *find_tail_callers(const struct loop *l)
{
	struct map *ret = map_new();

	for (size_t i = 0; i < l->scanned.cnt; i++) {
		const struct unit *u = l->scanned.items[i];

		for (size_t k = 0; k < u->known.tails.cnt; k++)
			if (u->known.tails.items[k].function < u->functions.cnt)
				map_set(ret, u->functions.items[u->known.tails.items[k].function].key, 1);
	}
	return ret;
}

/* Whether the caller reaches the callee without a recorded function in between, from elsewhere than its own places. */
static bool reaches_otherwise(const struct loop *l, const struct map *tails, uint32_t caller, uint32_t callee)
{
	const struct project *p = l->project;
	_cleanup_(freep) bool *reached = xcalloc(p->functions.cnt + 1, sizeof(*reached));
	bool grows = true;
	uint64_t one;

	reached[caller] = true;
	while (grows && !reached[callee]) {
		grows = false;
		for (size_t i = 0; i < p->calls.cnt; i++) {
			const struct project_call *c = &p->calls.items[i];
			bool is_own = c->caller == caller && c->callee == callee && !c->may && !c->observed;

			if (!reached[c->caller] || reached[c->callee] || is_own ||
			    (c->callee != callee && is_recorded(l, c->callee) && !map_get(tails, p->functions.items[c->callee].key, &one)))
				continue;
			reached[c->callee] = grows = true;
		}
	}
	return reached[callee];
}

static bool has_several_places(const struct project *p, uint32_t caller, uint32_t callee)
{
	const char *first = NULL;

	for (size_t i = 0; i < p->calls.cnt; i++) {
		const struct project_call *c = &p->calls.items[i];

		if (c->caller != caller || c->callee != callee || !c->call_site || c->may)
			continue;
		if (first && strcmp(first, c->call_site) != 0)
			return true;
		first = c->call_site;
	}
	return false;
}

static bool is_known(const struct loop *l, uint32_t caller, uint32_t callee)
{
	for (size_t i = 0; i < l->sites.cnt; i++)
		if (l->sites.items[i].caller == caller && l->sites.items[i].callee == callee)
			return true;
	return false;
}

/* Takes a node whose calls come from several places of the function above it. */
static bool take_node(struct loop *l, const struct map *tails, const struct node *n, bool tells)
{
	const struct node *above = &l->findings->nodes.items[n->parent];
	uint32_t caller, callee;

	if (above->kind != NODE_FUNCTION || !above->function || !n->function)
		return false;
	caller = function_of(l->project, above);
	callee = function_of(l->project, n);
	if (caller == UINT32_MAX || callee == UINT32_MAX || is_known(l, caller, callee) || !is_recorded(l, caller) ||
	    !is_recorded(l, callee) || !has_several_places(l->project, caller, callee))
		return false;
	VEC_ADD(&l->sites, (struct loop_sites){ caller, callee, reaches_otherwise(l, tails, caller, callee) });
	if (tells)
		note_line("next: the calls of %s in %s, each by its place (%s)", n->function, above->function, n->call_site);
	return true;
}

bool iterate_find_sites(struct loop *l, bool tells)
{
	_cleanup_(map_freep) struct map *tails = find_tail_callers(l);
	bool found = false;

	for (size_t i = 1; l->built && i < l->findings->nodes.cnt; i++) {
		const struct node *n = &l->findings->nodes.items[i];

		if (n->kind == NODE_FUNCTION && n->parent != NODE_NONE && n->share > l->options.threshold && n->call_site &&
		    strchr(n->call_site, ','))
			found |= take_node(l, tails, n, tells);
	}
	return found;
}

void iterate_plan_sites(const struct loop *l, struct plan *plan)
{
	for (size_t i = 0; i < l->sites.cnt; i++) {
		const struct project_function *a = &l->project->functions.items[l->sites.items[i].caller],
					      *b = &l->project->functions.items[l->sites.items[i].callee];
		const struct plan_entry caller = { .file = (char *)(uintptr_t)a->file, .name = (char *)(uintptr_t)a->name, .line = a->line,
						   .key = a->key },
					callee = { .file = (char *)(uintptr_t)b->file, .name = (char *)(uintptr_t)b->name, .line = b->line,
						   .key = b->key };

		plan_add_sites(plan, &caller, &callee, l->sites.items[i].is_reached);
	}
}
