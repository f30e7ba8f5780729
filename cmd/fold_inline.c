/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fold_inline.c - small inline functions of headers that many units include.
 *
 * Example: list_head, 4 lines, inline, in 900 units, is folded.  heap_insert, in one unit, is not;
 * neither is an inline function of 40 lines: a compiler does not fold that one away.
 */
#include <stdlib.h>

#include "base/banned.h"
#include "base/map.h"
#include "cmd/fold_inline.h"

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
		f->folded = f->is_inline && unit_cnt > FOLD_UNITS &&
			    f->end_line - f->line < FOLD_LINES;
	}
}
