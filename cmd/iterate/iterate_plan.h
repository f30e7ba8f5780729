/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iterate_plan.h - between the project in the store and what analysis/refine/refine.h knows of it.
 */
#ifndef CMD_ITERATE_ITERATE_PLAN_H
#define CMD_ITERATE_ITERATE_PLAN_H

#include "analysis/refine/refine.h"
#include "annotations/primitives.h"
#include "instrumenter/plan/plan.h"
#include "project/config/config.h"
#include "store/store.h"

/* The project as refine sees it; functions stand in the order of p's. */
struct iterate_graph {
	struct refine_project project;
	struct refine_function *functions;
	VEC(struct refine_call) calls;
	size_t root_cnt;
};
/* sync: the primitives of read_primitives(). */
void iterate_graph_make(const struct project *p, const struct config *c, const primitives *sync,
			const units *scanned, struct iterate_graph *ret);
void iterate_graph_release(struct iterate_graph *g);	/* also a _cleanup_ function */

/* The levels of r as a plan. */
struct plan *iterate_plan(const struct project *p, const struct refinement *r);

#endif
