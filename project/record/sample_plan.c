/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sample_plan.c - lowers levels from "always" to "interval".
 *
 * Example: --functions all; unlock_table calls pthread_mutex_unlock, hash does not: unlock_table stays "always", and
 * everything else becomes "interval".
 */
#include "base/banned.h"
#include "base/map.h"
#include "project/build/choose_plan.h"
#include "project/build/header_functions.h"
#include "project/record/sample_plan.h"
#include "project/runs/project.h"

int sample_plan(struct store *s, const struct config *c, struct plan *plan, struct diag *reterr)
{
	_cleanup_(project_freep) struct project *p = NULL;
	_cleanup_(units_release) units scanned = { 0 };
	_cleanup_(map_freep) struct map *needed = map_new();
	_cleanup_(freep) bool *roots = NULL, *inside = NULL;
	_cleanup_(freep) char *dir = build_dir();
	int r = project_read(s, &p, reterr);

	if (r == 0)
		r = units_read(dir, &scanned, reterr);
	if (r < 0)
		return r;
	if (plan->all == PLAN_OFF)
		look_through_header_functions(p, &scanned);
	roots = xcalloc(p->functions.cnt + 1, sizeof(*roots));
	inside = xcalloc(p->functions.cnt + 1, sizeof(*inside));
	choose_roots(p, c, &scanned, roots, inside);
	for (size_t i = 0; i < p->functions.cnt; i++) {
		const struct project_function *f = &p->functions.items[i];

		if (!f->releases && !inside[i])
			continue;
		map_set(needed, f->key, 1);
		if (plan->all == PLAN_ALWAYS && f->file)
			plan_add_shown(plan, PLAN_ALWAYS, f->key, f->file, f->line, f->name);
	}
	for (size_t i = 0; i < plan->entries.cnt; i++) {
		struct plan_entry *e = &plan->entries.items[i];
		uint64_t found;

		if (e->level == PLAN_ALWAYS && !map_get(needed, e->key, &found))
			e->level = PLAN_IN_INTERVALS;
	}
	if (plan->all == PLAN_ALWAYS)
		plan->all = PLAN_IN_INTERVALS;
	return 0;
}
