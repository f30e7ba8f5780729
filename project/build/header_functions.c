/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * header_functions.c - functions of headers that many units include.
 *
 * Example: list_head, 4 lines, in 900 units, is looked through.  heap_insert, in one unit, is not; neither is a function of
 * 40 lines in 20 units: the compiler does not inline that one. unlock_list, 3 lines in 900 units, calls
 * pthread_mutex_unlock: its callers release.
 */
#include <stdlib.h>

#include "base/banned.h"
#include "base/map.h"
#include "project/build/header_functions.h"

/* Passes releases on to callers, through looked-through functions that call others. */
static void pass_on_releases(struct project *p)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < p->calls.cnt; i++) {
			const struct project_call *c = &p->calls.items[i];
			const struct project_function *callee = &p->functions.items[c->callee];
			struct project_function *caller = &p->functions.items[c->caller];

			if (c->may || !callee->looked_through || !callee->releases || caller->releases)
				continue;
			caller->releases = true;
			changed |= caller->looked_through;
		}
	}
}

static bool is_looked_through(const struct project_function *f, uint64_t unit_cnt)
{
	return (unit_cnt > HEADER_UNITS && f->end_line - f->line < HEADER_LINES) || unit_cnt > HEADER_ANY_LENGTH_UNITS;
}

void look_through_header_functions(struct project *p, const units *scanned)
{
	_cleanup_(map_freep) struct map *unit_cnts = map_new();

	for (size_t u = 0; u < scanned->cnt; u++)
		for (size_t i = 0; i < scanned->items[u]->functions.cnt; i++)
			(*map_slot(unit_cnts, scanned->items[u]->functions.items[i].key))++;
	for (size_t i = 0; i < p->functions.cnt; i++) {
		struct project_function *f = &p->functions.items[i];
		uint64_t unit_cnt = 0;

		map_get(unit_cnts, f->key, &unit_cnt);
		f->looked_through = is_looked_through(f, unit_cnt);
	}
	pass_on_releases(p);
}
