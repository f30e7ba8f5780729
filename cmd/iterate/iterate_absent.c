/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iterate_absent.c - units of programs that the command does not run are left as they are.
 *
 *	the build makes server and check; run 1 records functions of both, and only those of server come into it
 *	-> check.o is not compiled again, whatever the next plans say of its functions
 *
 * A unit is absent if it has probes of functions that no other unit has, and no program of the run had any of these.  A function of a
 * header is in many units, and says nothing of one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/map.h"
#include "cmd/iterate/iterate_loop.h"
#include "cmd/messages.h"

static struct map *count_units(const units *scanned)
{
	struct map *ret = map_new();

	for (size_t i = 0; i < scanned->cnt; i++)
		for (size_t k = 0; k < scanned->items[i]->functions.cnt; k++)
			(*map_slot(ret, scanned->items[i]->functions.items[k].key))++;
	return ret;
}

enum presence { NOT_KNOWN, ABSENT, PRESENT };

static enum presence presence_of(const struct loop *l, const struct unit *u, const struct map *unit_cnts, const struct map *calls_of)
{
	enum presence ret = NOT_KNOWN;

	for (size_t i = 0; i < u->functions.cnt; i++) {
		const struct scan_function *f = &u->functions.items[i];
		enum plan_level level = plan_level_of(l->built, f->key);
		uint64_t cnt = 0, calls = UINT32_MAX;

		map_get(unit_cnts, f->key, &cnt);
		if (!f->probed || cnt != 1 || (level != PLAN_IN_INTERVALS && level != PLAN_ALWAYS) || !map_get(calls_of, f->key, &calls))
			continue;
		if (calls != UINT32_MAX)
			return PRESENT;
		ret = ABSENT;
	}
	return ret;
}

bool iterate_is_absent(const struct unit *u, const void *loop)
{
	const struct loop *l = loop;

	for (size_t i = 0; i < l->absent.cnt; i++)
		if (strcmp(l->absent.items[i], u->object) == 0)
			return true;
	return false;
}

static void set_absent(struct loop *l, const struct unit *u, bool is_absent)
{
	for (size_t i = 0; i < l->absent.cnt; i++)
		if (strcmp(l->absent.items[i], u->object) == 0) {
			free(l->absent.items[i]);
			l->absent.items[i] = l->absent.items[--l->absent.cnt];
			break;
		}
	if (is_absent)
		VEC_ADD(&l->absent, xstrdup(u->object));
}

int iterate_find_absent(struct loop *l, struct diag *reterr)
{
	_cleanup_(map_freep) struct map *unit_cnts = count_units(&l->scanned), *calls_of = map_new();
	size_t before = l->absent.cnt;
	planned_functions plan;
	int r = planned_read(l->store, l->run.number, &plan, reterr);

	for (size_t i = 0; i < plan.cnt; i++)
		map_set(calls_of, plan.items[i].key, plan.items[i].calls);
	for (size_t i = 0; r == 0 && l->built && i < l->scanned.cnt; i++) {
		enum presence p = presence_of(l, l->scanned.items[i], unit_cnts, calls_of);

		if (p != NOT_KNOWN)
			set_absent(l, l->scanned.items[i], p == ABSENT);
	}
	if (l->absent.cnt > before)
		note_line("%zu of %zu units are in no program that ran: they are not compiled again", l->absent.cnt, l->scanned.cnt);
	VEC_RELEASE(&plan);
	return r;
}
