/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refine_world.h - small projects to refine, and what a run of them found.
 *
 * A function is known by the first letter of its name.  A probe costs 10 ns here and a dormant one 1 ns;
 * the threshold is 5 %.
 */
#ifndef TESTS_UNIT_ANALYSIS_REFINE_REFINE_WORLD_H
#define TESTS_UNIT_ANALYSIS_REFINE_REFINE_WORLD_H

#include "analysis/refine/refine.h"

enum { MOST_FUNCTIONS = 8, MOST_CALLS = 16 };

struct world {
	struct refine_function functions[MOST_FUNCTIONS];
	struct refine_call calls[MOST_CALLS];
	struct refine_project project;
	struct refinement *r;
};

/* names: NULL at the end; the first is the root.  calls: "ab" a calls b; "abc" if c hands over to b.  Keys are 100, 101, ... */
void world_make(struct world *w, const char *const *names, const char *const *calls);
void world_start(struct world *w, enum refine_policy policy, uint32_t k);
uint32_t world_index(const struct world *w, char name);

/* The functions recorded by the next plan, e.g. "abd"; upper case: always. */
const char *world_recorded(const struct world *w);

/* One step with f, which is freed. */
enum refine_stop world_step(struct world *w, struct findings *f);

/* The findings of a run: the interval is node 0, its variance 1.  The functions return ids. */
struct findings *found_new(uint64_t cnt, double mean_ns);
uint32_t found_node(struct findings *f, const struct world *w, enum node_kind kind, char name,
		    uint32_t parent, double share, double calls);
uint32_t found_function(struct findings *f, const struct world *w, char name, uint32_t parent,
			double share, double calls);
struct factor *found_factor(struct findings *f, const struct world *w, char name, double share);

#endif
