/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_refine_search.c - the whole search, on random programs of which the truth is known.
 *
 * Function 0 is the interval's.  Each of the others is called by some in the call graph, also in circles.  The real call tree
 * is a part of that graph; half of the variance is running time of one of its functions, the other half one waits
 * because of one, which another interval called.  A run with a plan finds what the definition says: what a function without a
 * probe does is its caller's; of a wait it also knows the function.  However the program looks, the search ends with all three,
 * no later than one run for each level down to the deepest and two more, and a run has no more than LIMIT new functions that no
 * recorded one calls.  Each function is called once an interval, which is long: nothing is too dear, however many ways through
 * the graph there are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "analysis/refine/refine.h"
#include "base/alloc.h"

enum { PROGRAMS = 300, MOST_FUNCTIONS = 500, MOST_CALLEES = 8, LIMIT = 20, RUNS = 40 };

struct program {
	struct refine_function functions[MOST_FUNCTIONS];
	struct refine_call calls[MOST_FUNCTIONS * MOST_CALLEES];
	char names[MOST_FUNCTIONS][8];
	struct refine_project project;
	uint32_t caller[MOST_FUNCTIONS];	/* in the tree of what is called; of 0: itself */
	bool called[MOST_FUNCTIONS];
	uint32_t depth[MOST_FUNCTIONS];		/* in that tree */
	uint32_t runner, waiter, waker;		/* runner: has RUNNING of the variance, waiter: the rest, because of waker */
	uint32_t deepest;			/* depth of the deepest of them */
	bool was_recorded[MOST_FUNCTIONS];	/* by any run */
	uint64_t random;
};

#define RUNNING 0.5

static uint32_t below(struct program *p, size_t n)
{
	p->random = p->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((p->random >> 33) % n);
}

/* ---- the program ---- */

static void add_call(struct program *p, uint32_t caller, uint32_t callee)
{
	p->calls[p->project.call_cnt++] = (struct refine_call){ caller, callee, 1, 0 };
	if (p->called[callee] || !p->called[caller] || below(p, 3) == 0)
		return;
	p->called[callee] = true;
	p->caller[callee] = caller;
	p->depth[callee] = p->depth[caller] + 1;
}

/* A function that is called. */
static uint32_t add_culprit(struct program *p)
{
	uint32_t at = below(p, p->project.function_cnt);

	while (!p->called[at])
		at = (at + 1) % (uint32_t)p->project.function_cnt;
	p->deepest = p->depth[at] > p->deepest ? p->depth[at] : p->deepest;
	return at;
}

static void program_make(struct program *p, uint64_t seed)
{
	memset(p, 0, sizeof(*p));
	p->random = seed;
	for (int i = 0; i < 8; i++)
		below(p, 2);
	p->project = (struct refine_project){ p->functions, 2 + below(p, MOST_FUNCTIONS - 2), p->calls, 0 };
	p->called[0] = true;
	for (uint32_t i = 0; i < p->project.function_cnt; i++) {
		snprintf(p->names[i], sizeof(p->names[i]), "f%u", (unsigned)i);
		p->functions[i] = (struct refine_function){
			.name = p->names[i], .file = "/s/a.c", .line = 1 + i, .key = 1000 + i, .root = i == 0 };
	}
	for (uint32_t i = 0; i < p->project.function_cnt; i++) {
		uint32_t cnt = below(p, MOST_CALLEES + 1), far = 1 + below(p, 60);

		for (uint32_t c = 0; c < cnt; c++)
			add_call(p, i, below(p, 10) == 0 ? below(p, p->project.function_cnt) :
				 (i + 1 + below(p, far)) % (uint32_t)p->project.function_cnt);
	}
	p->runner = add_culprit(p);
	p->waiter = add_culprit(p);
	p->waker = add_culprit(p);
}

/* ---- what a run of it finds ---- */

struct run {
	double total[MOST_FUNCTIONS], own[MOST_FUNCTIONS];	/* of recorded functions: all that they do, running themselves */
	uint32_t node[MOST_FUNCTIONS], height[MOST_FUNCTIONS];
};

static bool is_recorded(const struct refinement *r, uint32_t f)
{
	return r->levels[f] >= REFINE_IN_INTERVALS;
}

/* The nearest recorded function that f is called by, or NODE_NONE; 0 is always recorded. */
static uint32_t recorded_caller(const struct program *p, const struct refinement *r, uint32_t f)
{
	if (f == 0)
		return NODE_NONE;
	do
		f = p->caller[f];
	while (!is_recorded(r, f));
	return f;
}

static uint32_t seen_as(const struct program *p, const struct refinement *r, uint32_t f)
{
	return is_recorded(r, f) ? f : recorded_caller(p, r, f);
}

static void sum_up(const struct program *p, const struct refinement *r, struct run *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (uint32_t i = 0; i < p->project.function_cnt; i++) {
		uint32_t height = 0;

		if (!p->called[i])
			continue;
		for (uint32_t f = i; f != NODE_NONE; f = recorded_caller(p, r, f)) {
			if (!is_recorded(r, f))
				continue;
			ret->total[f] += (i == p->runner ? RUNNING : 0) + (i == p->waiter ? 1 - RUNNING : 0);
			ret->height[f] = height > ret->height[f] ? height : ret->height[f];
			height++;
		}
	}
	ret->own[seen_as(p, r, p->runner)] = RUNNING;
}

static void add_node(const struct program *p, struct findings *f, struct run *run, enum node_kind kind, uint32_t at,
		     uint32_t parent, double share)
{
	const struct refine_function *function = &p->functions[at];
	double specificity = (double)(run->height[0] + 1 - run->height[at]) * (run->height[0] + 1 - run->height[at]);

	if (kind == NODE_FUNCTION)
		run->node[at] = (uint32_t)f->nodes.cnt;
	VEC_ADD(&f->nodes, (struct node){ .id = (uint32_t)f->nodes.cnt, .parent = parent, .kind = kind,
		.function = kind == NODE_FUNCTION ? function->name : NULL, .file = "a.c",
		.line = kind == NODE_FUNCTION ? function->line : 0, .share = share, .mean_ns = 1e6 + share * 1e9, .calls_per_interval = 1 });
	if (kind == NODE_FUNCTION)
		VEC_ADD(&f->factors, (struct factor){ .kind = FACTOR_FUNCTION, .function = function->name, .file = "a.c",
			.line = function->line, .share = share, .height = run->height[at], .specificity = specificity,
			.score = specificity * share });
}

static void add_wait(const struct program *p, const struct refinement *r, struct findings *f, uint32_t in, uint32_t parent)
{
	const struct refine_function *inside = &p->functions[in], *waker = &p->functions[seen_as(p, r, p->waker)];
	const struct refine_function *waiter = &p->functions[p->waiter];
	uint32_t wait = (uint32_t)f->nodes.cnt;

	VEC_ADD(&f->nodes, (struct node){ .id = wait, .parent = parent, .kind = NODE_WAIT, .function = inside->name,
		.file = "a.c", .line = inside->line, .is_wait = true, .wait = STATE_LOCK, .share = 1 - RUNNING });
	VEC_ADD(&f->nodes, (struct node){ .id = wait + 1, .parent = wait, .kind = NODE_BLAME, .function = waker->name,
		.file = "a.c", .line = waker->line, .share = 1 - RUNNING });
	VEC_ADD(&f->waiters, (struct waiter){ .inside = inside->name, .inside_file = "a.c", .inside_line = inside->line,
		.wait = STATE_LOCK, .function = waiter->name, .file = "a.c", .line = waiter->line, .key = waiter->key,
		.is_built = true, .share = 1 - RUNNING });
}

/* Callers come before callees: by their depth. */
static struct findings *found(const struct program *p, const struct refinement *r)
{
	struct findings *f = findings_new();
	struct run run;

	sum_up(p, r, &run);
	f->interval = (struct interval_summary){ .name = "r", .cnt = 1000, .mean_ns = 1e9, .variance_ns2 = 1 };
	VEC_ADD(&f->nodes, (struct node){ .parent = NODE_NONE, .share = 1 });
	for (uint32_t depth = 0; depth < p->project.function_cnt; depth++)
		for (uint32_t i = 0; i < p->project.function_cnt; i++) {
			uint32_t caller;

			if (!p->called[i] || p->depth[i] != depth || !is_recorded(r, i))
				continue;
			caller = recorded_caller(p, r, i);
			add_node(p, f, &run, NODE_FUNCTION, i, caller == NODE_NONE ? 0 : run.node[caller], run.total[i]);
			add_node(p, f, &run, NODE_BODY, i, run.node[i], run.own[i]);
			if (i == seen_as(p, r, p->waiter))
				add_wait(p, r, f, i, run.node[i]);
		}
	return f;
}

/* ---- the search ---- */

/* Functions of the plan that no run recorded, nor is called by one that a run recorded. */
static size_t far_functions(const struct program *p, const struct refinement *r)
{
	static bool near[MOST_FUNCTIONS];
	size_t cnt = 0;

	memset(near, 0, sizeof(near));
	for (size_t c = 0; c < p->project.call_cnt; c++)
		near[p->calls[c].callee] |= p->was_recorded[p->calls[c].caller];
	for (uint32_t i = 1; i < p->project.function_cnt; i++)
		cnt += is_recorded(r, i) && !p->was_recorded[i] && !near[i];
	return cnt;
}

/* Makes runs until the search ends; returns how many. */
static uint32_t search(struct program *p, unsigned number, struct refinement *r)
{
	uint32_t run_cnt = 0;
	enum refine_stop stop;

	p->was_recorded[0] = true;
	do {
		struct findings *f = found(p, r);

		if (far_functions(p, r) > LIMIT)
			fail_msg("program %u, run %u: %zu functions that no recorded one calls", number, (unsigned)run_cnt + 1,
				 far_functions(p, r));
		for (uint32_t i = 0; i < p->project.function_cnt; i++)
			p->was_recorded[i] |= is_recorded(r, i);
		stop = refinement_step(r, f);
		findings_free(f);
		run_cnt++;
	} while (stop == REFINE_GOES_ON);
	if (stop != REFINE_CLOSED || run_cnt > p->deepest + 2)
		fail_msg("program %u ended as %s after %u runs, the culprits are %u deep", number, refine_stop_name(stop),
			 (unsigned)run_cnt, (unsigned)p->deepest);
	return run_cnt;
}

static void test_search(void **state)
{
	static struct program p;
	const struct refine_options o = { .policy = REFINE_BUDGET, .k = 3, .threshold = 0.05, .max_runs = RUNS, .overhead = 0.05,
		.probe_ns = 17, .dormant_ns = 0.5, .census_functions = LIMIT };
	uint32_t most = 0;

	(void)state;
	for (unsigned number = 1; number <= PROGRAMS; number++) {
		struct refinement *r;
		uint32_t run_cnt;

		program_make(&p, number);
		r = refinement_new(&p.project, &o);
		run_cnt = search(&p, number, r);
		if (!is_recorded(r, p.runner) || !is_recorded(r, p.waiter) || !is_recorded(r, p.waker))
			fail_msg("program %u: a culprit was not recorded", number);
		most = run_cnt > most ? run_cnt : most;
		refinement_free(r);
	}
	assert_true(most >= 4);		/* some are not found at once */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
