/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fold_inline.c - functions of headers that many units include.
 *
 * Example: list_head, 4 lines, in 900 units, is folded.  heap_insert, in one unit, is not; neither is a function of
 * 40 lines in 20 units: the compiler does not inline that one. unlock_list, 3 lines in 900 units, calls
 * pthread_mutex_unlock: its callers release.
 */
#include <stdlib.h>

#include "base/banned.h"
#include "base/map.h"
#include "project/build/fold_inline.h"

/* Passes releases on to callers, through folded functions that call folded ones. */
static void pass_on_releases(struct project *p)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < p->calls.cnt; i++) {
			const struct project_call *c = &p->calls.items[i];
			const struct project_function *callee = &p->functions.items[c->callee];
			struct project_function *caller = &p->functions.items[c->caller];

			if (c->may || !callee->folded || !callee->releases || caller->releases)
				continue;
			caller->releases = true;
			changed |= caller->folded;
		}
	}
}

static bool is_folded(const struct project_function *f, uint64_t unit_cnt)
{
	return (unit_cnt > FOLD_UNITS && f->end_line - f->line < FOLD_LINES) || unit_cnt > FOLD_ANY_LENGTH_UNITS;
}

void fold_inline(struct project *p, const units *scanned)
{
	_cleanup_(map_freep) struct map *unit_cnts = map_new();

	for (size_t u = 0; u < scanned->cnt; u++)
		for (size_t i = 0; i < scanned->items[u]->functions.cnt; i++)
			(*map_slot(unit_cnts, scanned->items[u]->functions.items[i].key))++;
	for (size_t i = 0; i < p->functions.cnt; i++) {
		struct project_function *f = &p->functions.items[i];
		uint64_t unit_cnt = 0;

		map_get(unit_cnts, f->key, &unit_cnt);
		f->folded = is_folded(f, unit_cnt);
	}
	pass_on_releases(p);
}
