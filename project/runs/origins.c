/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * origins.c - which run each part of a run is, and which host recorded it.
 */
#include "project/runs/origins.h"

#include "base/banned.h"
#include "project/digests/run_digest.h"

static const char *known(const char *text)
{
	return *text ? text : NULL;
}

void origins_note(struct store *s, const struct run *r, const run_parts *parts, struct trace *t)
{
	t->origins.cnt = 0;
	for (size_t i = 0; i < parts->cnt; i++) {
		struct summed_source by;

		run_part_source(s, r, &parts->items[i], t->arena, &by);
		VEC_ADD(&t->origins, (struct trace_origin){ parts->items[i].run, known(by.machine), known(by.host),
							    known(by.container), known(by.build) });
	}
}
