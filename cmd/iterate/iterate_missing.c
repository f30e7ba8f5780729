/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iterate_missing.c - new functions of a run's plan that the run did not record, and why.
 *
 *	it has a probe, calls 0		never called in an interval
 *	it has a probe, calls unknown	it is in none of the programs that ran
 *	it has no probe			its unit was compiled untouched, or did not compile with it
 */
#include <string.h>

#include "base/banned.h"
#include "base/map.h"
#include "cmd/iterate/iterate_loop.h"
#include "cmd/messages.h"

enum { HAS_PROBE = 1 };		/* else the address of the reason why not; 0: not known */

/* Looks up each function in the units that contain it; a probe in one of them counts. */
static struct map *look_at_units(const units *scanned)
{
	struct map *fates = map_new();

	for (size_t u = 0; u < scanned->cnt; u++)
		for (size_t i = 0; i < scanned->items[u]->functions.cnt; i++) {
			const struct scan_function *f = &scanned->items[u]->functions.items[i];
			const char *reason = scanned->items[u]->untouched ? scanned->items[u]->untouched : f->skipped;
			uint64_t *fate = map_slot(fates, f->key);

			if (f->probed)
				*fate = HAS_PROBE;
			else if (*fate == 0 && reason)
				*fate = (uintptr_t)reason;
		}
	return fates;
}

int iterate_find_missing(const struct loop *l, struct round *round, struct diag *reterr)
{
	_cleanup_(map_freep) struct map *fates = look_at_units(&l->scanned), *calls_of = map_new();
	planned_functions plan;
	int r = planned_read(l->store, l->run.number, &plan, reterr);

	for (size_t i = 0; i < plan.cnt; i++)
		map_set(calls_of, plan.items[i].key, plan.items[i].calls);
	for (size_t i = 0; i < l->project->functions.cnt; i++) {
		const struct project_function *f = &l->project->functions.items[i];
		uint64_t calls, fate = HAS_PROBE;

		if (!l->refinement->added[i] || !map_get(calls_of, f->key, &calls))
			continue;
		map_get(fates, f->key, &fate);
		if (calls == 0)
			VEC_ADD(&round->never_called, f->name);
		else if (calls == UINT32_MAX && fate > HAS_PROBE)
			VEC_ADD(&round->unprobed, (struct round_unprobed){ f->name, (const char *)(uintptr_t)fate });
		else if (calls == UINT32_MAX)
			VEC_ADD(&round->absent, f->name);
	}
	VEC_RELEASE(&plan);
	return r;
}

void iterate_explain_nothing(const struct loop *l, uint32_t run)
{
	_cleanup_(map_freep) struct map *calls_of = map_new();
	planned_functions plan;

	if (planned_read(l->store, run, &plan, NULL) < 0)
		return;
	for (size_t i = 0; i < plan.cnt; i++)
		map_set(calls_of, plan.items[i].key, plan.items[i].calls);
	for (size_t i = 0; i < l->project->functions.cnt; i++) {
		const struct project_function *f = &l->project->functions.items[i];
		uint64_t calls;

		if (!l->graph.functions[i].root || !map_get(calls_of, f->key, &calls))
			continue;
		if (calls == 0)
			note_line("'%s', where an interval starts, resumes or ends, was never called", f->name);
		else if (calls == UINT32_MAX)
			note_line("'%s', where an interval starts, resumes or ends, is in none of the "
				  "programs that ran", f->name);
	}
	VEC_RELEASE(&plan);
}
