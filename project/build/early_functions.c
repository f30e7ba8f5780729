/* SPDX-License-Identifier: GPL-3.0-or-later */
/* early_functions.c - follows all calls of the project, also those through pointers, from the resolvers. */
#include "project/build/early_functions.h"

#include <string.h>

#include "base/banned.h"
#include "base/map.h"

/* By key: if a header's function is early in one unit, it is early in all, because the linker keeps any one of its
 * copies. */
static struct map *find_first(const units *scanned, bool *ret_any)
{
	struct map *first = map_new();

	*ret_any = false;
	for (size_t u = 0; u < scanned->cnt; u++)
		for (size_t i = 0; i < scanned->items[u]->functions.cnt; i++) {
			const struct scan_function *f = &scanned->items[u]->functions.items[i];

			if (!f->skipped || (strcmp(f->skipped, EARLY_RESOLVER) != 0 && strcmp(f->skipped, EARLY_CALLED) != 0))
				continue;
			map_set(first, f->key, 1);
			*ret_any = true;
		}
	return first;
}

static bool spread(const struct project *p, bool *early)
{
	bool added = false;

	for (size_t i = 0; i < p->calls.cnt; i++) {
		const struct project_call *c = &p->calls.items[i];

		if (!early[c->caller] || early[c->callee] || c->observed)
			continue;
		early[c->callee] = added = true;
	}
	return added;
}

int plan_early_functions(struct store *s, const units *scanned, struct plan *plan, struct diag *reterr)
{
	_cleanup_(project_freep) struct project *p = NULL;
	_cleanup_(freep) bool *early = NULL;
	uint64_t found;
	bool any;
	_cleanup_(map_freep) struct map *first = find_first(scanned, &any);
	int r = any ? project_read(s, &p, reterr) : 0;

	if (!any || r < 0)
		return r;
	early = xcalloc(p->functions.cnt + 1, sizeof(*early));
	for (size_t i = 0; i < p->functions.cnt; i++)
		early[i] = map_get(first, p->functions.items[i].key, &found);
	while (spread(p, early))
		;
	for (size_t i = 0; i < p->functions.cnt; i++) {
		const struct project_function *f = &p->functions.items[i];

		if (early[i] && !plan_is_early(plan, f->key))
			plan_add_early(plan, f->key, f->file, f->line, f->name);
	}
	return 0;
}
