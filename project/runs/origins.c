/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * origins.c - which run each part of a run is, and which host recorded it; chooses parts by that.
 */
#include "project/runs/origins.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/banned.h"
#include "base/str.h"

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

static bool is_from(const struct summed_source *by, const char *origin)
{
	return strcmp(by->host, origin) == 0 || strcmp(by->run, origin) == 0 || (*by->machine && strcmp(by->machine, origin) == 0);
}

static void list_origin(struct str *list, const struct summed_source *by)
{
	str_addf(list, "%srun %s%s%s%s", list->len ? ", " : "", by->run, *by->host ? " (" : "", by->host, *by->host ? ")" : "");
}

static int no_such_origin(const struct run *r, const struct str *list, struct diag *reterr)
{
	_cleanup_(freep) char *remedy = xasprintf("--origin HOST or --origin RUN: it has %s", str_cstr(list));

	diag_set(reterr, EXIT_USAGE, -ENOENT, "nothing in run %" PRIu32 " is from '%s'", r->number, r->origin);
	return diag_remedy(reterr, -ENOENT, remedy);
}

int origins_choose(struct store *s, const struct run *r, run_parts *parts, struct diag *reterr)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	_cleanup_(str_release) struct str list = STR_INIT;
	size_t left_cnt = 0;

	for (size_t i = 0; r->origin && i < parts->cnt; i++) {
		struct summed_source by;

		run_part_source(s, r, &parts->items[i], arena, &by);
		list_origin(&list, &by);
		parts->items[i].left_out = !is_from(&by, r->origin);
		left_cnt += !parts->items[i].left_out;
	}
	return !r->origin || left_cnt ? 0 : no_such_origin(r, &list, reterr);
}

int origins_choose_sums(const struct run *r, struct summed *digest, struct diag *reterr)
{
	_cleanup_(str_release) struct str list = STR_INIT;
	size_t cnt = 0;

	if (!r->origin)
		return 0;
	for (size_t i = 0; i < digest->sources.cnt; i++)
		list_origin(&list, &digest->sources.items[i]);
	for (size_t i = 0; i < digest->windows.cnt; i++) {
		struct summed_window *w = &digest->windows.items[i];

		if (is_from(&digest->sources.items[w->source], r->origin))
			digest->windows.items[cnt++] = *w;
		else
			summed_window_release(w);
	}
	digest->windows.cnt = cnt;
	return cnt ? 0 : no_such_origin(r, &list, reterr);
}
