/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iterate_plan.c - the store's project as a graph to refine, and its levels as a plan.
 *
 * A call through a pointer that may lead to n functions counts as 1/n of a call of each.
 *
 * A function whose span ends before a call in tail position takes no time of that call's: its callee stands beside it.  So the callee
 * counts as one of the function's callers, too:
 *
 *	call() { c->proc(c); ...}	sortCommand() { sortCommandGeneric(c, 0); }
 *	sortCommandGeneric, without a probe, is in call's own time: whoever asks what call calls is told of both
 *
 * Calls inside a blocking function of [sync] are not followed: its wait is explained by the thread that released it,
 * not by the semaphore inside.
 */
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/map.h"
#include "base/search.h"
#include "cmd/iterate/iterate_plan.h"
#include "project/build/choose_plan.h"

static uint64_t site_hash(const struct project_call *c)
{
	return hash_str(hash_u64(1, c->caller), c->call_site ? c->call_site : "");
}

static bool blocks(const struct project *p, uint32_t function, const primitives *sync)
{
	for (size_t i = 0; i < sync->cnt; i++)
		if (location_names(sync->items[i].name, p->functions.items[function].name))
			return sync->items[i].role == ROLE_ACQUIRE;
	return false;
}

static void add_calls(const struct project *p, const primitives *sync, struct iterate_graph *ret)
{
	_cleanup_(map_freep) struct map *targets = map_new();

	for (size_t i = 0; i < p->calls.cnt; i++)
		if (p->calls.items[i].may)
			(*map_slot(targets, site_hash(&p->calls.items[i])))++;
	for (size_t i = 0; i < p->calls.cnt; i++) {
		const struct project_call *c = &p->calls.items[i];
		double weight = c->may ? 1.0 / (double)*map_slot(targets, site_hash(c)) : 1;

		if (blocks(p, c->caller, sync))
			continue;
		VEC_ADD(&ret->calls, (struct refine_call){ c->caller, c->callee, weight, 0 });
	}
}

typedef VEC(uint32_t) indexes;

enum { CALLS = 1, FOLLOWED = 2 };	/* what is known of two functions */

static uint64_t *pair_of(struct map *pairs, uint32_t caller, uint32_t callee)
{
	return map_slot(pairs, (uint64_t)caller << 32 | callee);
}

/* Adds what the function hands over to as calls of from's caller, and to todo what that caller does not call itself. */
static void add_handed_over(const struct project *p, const struct refine_call *from, uint32_t function, struct map *pairs,
			    struct iterate_graph *ret, indexes *todo)
{
	size_t i = partition_point(k, p->calls.cnt, p->calls.items[k].caller < function);

	for (; i < p->calls.cnt && p->calls.items[i].caller == function; i++) {
		const struct project_call *c = &p->calls.items[i];
		uint64_t *known = pair_of(pairs, from->caller, c->callee);

		if (!c->is_tail || c->may || *known & CALLS)
			continue;
		VEC_ADD(&ret->calls, (struct refine_call){ from->caller, c->callee, from->weight, function + 1 });
		if (!(*known & FOLLOWED))
			VEC_ADD(todo, c->callee);
		*known |= FOLLOWED;
	}
}

/* Not what a pointer may lead to: that may be hundreds. */
static void add_all_handed_over(const struct project *p, const primitives *sync, struct iterate_graph *ret)
{
	_cleanup_(map_freep) struct map *pairs = map_new();
	indexes todo = { NULL, 0, 0 };
	size_t cnt = ret->calls.cnt;

	for (size_t i = 0; i < cnt; i++)
		*pair_of(pairs, ret->calls.items[i].caller, ret->calls.items[i].callee) = CALLS;
	for (size_t i = 0; i < cnt; i++) {
		const struct refine_call from = ret->calls.items[i];
		uint64_t *known = pair_of(pairs, from.caller, from.callee);

		if (!(*known & FOLLOWED))
			VEC_ADD(&todo, from.callee);
		*known |= FOLLOWED;
		while (todo.cnt) {
			uint32_t function = todo.items[--todo.cnt];

			if (!blocks(p, function, sync))
				add_handed_over(p, &from, function, pairs, ret, &todo);
		}
	}
	VEC_RELEASE(&todo);
}

/* Its address is passed to pthread_create() or the like: it has a thread's type, or a library's, and the project does
 * not call it. */
static bool is_start(const struct project_function *f, bool called)
{
	if (strcmp(f->name, "main") == 0)
		return true;
	if (!f->address_taken || !f->type)
		return false;
	return strcmp(f->type, "void *(void *)") == 0 || strcmp(f->type, "int (void *)") == 0 ||
	       (!called && !strstr(f->type, "const void *, const void *"));	/* that compares */
}

void iterate_graph_make(const struct project *p, const struct config *c, const primitives *sync,
			const units *scanned, struct iterate_graph *ret)
{
	_cleanup_(freep) bool *roots = xcalloc(p->functions.cnt + 1, sizeof(*roots));
	_cleanup_(freep) bool *inside = xcalloc(p->functions.cnt + 1, sizeof(*inside));

	_cleanup_(freep) bool *called = xcalloc(p->functions.cnt + 1, sizeof(*called));

	for (size_t i = 0; i < p->calls.cnt; i++)
		called[p->calls.items[i].callee] |= p->calls.items[i].callee != p->calls.items[i].caller;
	memset(ret, 0, sizeof(*ret));
	ret->root_cnt = choose_roots(p, c, scanned, roots, inside);
	ret->functions = xcalloc(p->functions.cnt + 1, sizeof(*ret->functions));
	for (size_t i = 0; i < p->functions.cnt; i++) {
		const struct project_function *f = &p->functions.items[i];

		ret->functions[i] = (struct refine_function){
			.name = f->name, .file = f->file, .line = f->line, .key = f->key,
			.root = roots[i], .always = (f->releases && !f->looked_through) || inside[i],
			.left_out = f->left_out, .looked_through = f->looked_through, .start = is_start(f, called[i]),
			.skipped = f->file ? f->skipped : "its file is not known",
		};
	}
	add_calls(p, sync, ret);
	add_all_handed_over(p, sync, ret);
	ret->project = (struct refine_project){ ret->functions, p->functions.cnt,
						ret->calls.items, ret->calls.cnt };
}

void iterate_graph_release(struct iterate_graph *g)
{
	free(g->functions);
	VEC_RELEASE(&g->calls);
	memset(g, 0, sizeof(*g));
}

/* Most functions that the census records become dormant afterwards; a probe aside need not be recompiled for that. */
static bool is_sampled(const struct refinement *r)
{
	return r->gate > 1 || (r->options.policy == REFINE_BUDGET && r->run_cnt == 0);
}

struct plan *iterate_plan(const struct project *p, const struct refinement *r)
{
	static const enum plan_level levels[] = {
		[REFINE_OUT] = PLAN_OFF, [REFINE_DORMANT] = PLAN_DORMANT,
		[REFINE_IN_INTERVALS] = PLAN_IN_INTERVALS, [REFINE_ALWAYS] = PLAN_ALWAYS,
	};
	struct plan *plan = plan_new();

	plan->sampled = is_sampled(r);
	for (size_t i = 0; i < p->functions.cnt; i++) {
		const struct project_function *f = &p->functions.items[i];

		if (r->levels[i] != REFINE_OUT)
			plan_add_shown(plan, levels[r->levels[i]], f->key, f->file, f->line, f->name);
	}
	return plan;
}
