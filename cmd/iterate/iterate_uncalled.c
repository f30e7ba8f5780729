/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iterate_uncalled.c - functions that need no probe in the first run, because earlier runs never called them.
 *
 *	run 3 of ./bench.sh		parse 1000 calls, retry 0, rescue 0
 *	run 4 of ./bench.sh		retry 12 calls			rescue is left out
 *	run 5 of ./other.sh		rescue 7 calls			another load says nothing of this one
 *
 * A function that was changed since mostly has another line or name, and counts as new.  If the load calls a function
 * that was left out, its time is in its caller, and the run after the first looks below that.
 */
#include <string.h>

#include "base/banned.h"
#include "base/map.h"
#include "cmd/iterate/iterate_loop.h"
#include "cmd/messages.h"

enum { CALLED = 1, UNCALLED };		/* per key; 0: unknown */

/* Notes the fates of functions in a run that recorded intervals. */
static int look_at_run(struct store *s, uint32_t run, struct map *fates, struct diag *reterr)
{
	planned_functions plan = { NULL, 0, 0 };
	int r = planned_read(s, run, &plan, reterr);

	for (size_t i = 0; i < plan.cnt; i++) {
		const struct planned_function *f = &plan.items[i];
		uint64_t *fate = map_slot(fates, f->key);

		if (f->level == PLANNED_DORMANT || f->calls == UINT32_MAX)
			continue;
		if (f->calls)
			*fate = CALLED;
		else if (!*fate)
			*fate = UNCALLED;
	}
	VEC_RELEASE(&plan);
	return r;
}

static bool tells(const struct run *run, const char *command)
{
	return run->status == RUN_ANALYSED && run->interval_cnt >= FINDINGS_INTERVALS_MIN && run->command &&
	       strcmp(run->command, command) == 0;
}

int iterate_find_uncalled(struct loop *l, struct diag *reterr)
{
	_cleanup_(freep) char *command = record_command_text(&l->run_command);
	_cleanup_(map_freep) struct map *fates = map_new();
	_cleanup_(runs_release) runs all = { NULL, 0, 0 };
	int r = runs_read(l->store, &all, reterr);

	for (size_t i = 0; i < all.cnt && r == 0; i++)
		if (tells(&all.items[i], command))
			r = look_at_run(l->store, all.items[i].number, fates, reterr);
	for (size_t i = 0; i < l->project->functions.cnt; i++) {
		uint64_t fate;

		l->graph.functions[i].uncalled = map_get(fates, l->project->functions.items[i].key, &fate) && fate == UNCALLED;
	}
	return r;
}

void iterate_tell_uncalled(const struct loop *l)
{
	size_t cnt = l->refinement->uncalled_cnt;

	if (cnt)
		note_line("%zu function%s that no interval of earlier runs of this command called %s no probe in the first run, nor what "
			  "only %s call%s (--uncalled: all have)", cnt, cnt == 1 ? "" : "s", cnt == 1 ? "has" : "have",
			  cnt == 1 ? "it" : "they", cnt == 1 ? "s" : "");
}
