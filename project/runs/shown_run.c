/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shown_run.c - the run that a command shows where the user named none.
 *
 * Example: runs 1 analysed, 2 analysed, 3 killed.  It is run 2, and a note says that run 3 was killed.
 */
#include "project/runs/shown_run.h"

#include <inttypes.h>
#include "base/banned.h"
#include "project/notices.h"

/* The program crashed, or was killed, before anything was complete: of intervals it says nothing. */
static bool is_abortive(const struct run *r)
{
	return r->exit_status && !r->interval_cnt;
}

static const struct run *latest(const runs *list, bool of_intervals)
{
	for (size_t i = list->cnt; i-- > 0; )
		if (list->items[i].status == RUN_ANALYSED && !(of_intervals && is_abortive(&list->items[i])))
			return &list->items[i];
	return NULL;
}

static int find(struct store *s, const char *text, bool of_intervals, bool tells, struct run *ret, struct diag *reterr)
{
	_cleanup_(runs_release) runs list = { NULL, 0, 0 };
	_cleanup_(freep) char *number = NULL;
	const struct run *found, *last;
	int r = text ? 0 : runs_read(s, &list, reterr);

	if (r < 0)
		return r;
	found = latest(&list, of_intervals);
	found = found ? found : latest(&list, false);
	number = found ? xasprintf("%" PRIu32, found->number) : NULL;
	r = run_find(s, number ? number : text, ret, reterr);
	last = list.cnt ? &list.items[list.cnt - 1] : NULL;
	if (tells && r == 0 && number && ret->number != last->number)
		note_line("run %" PRIu32 " (%s) has no results%s; this is run %" PRIu32, last->number,
			  last->status == RUN_ANALYSED ? "its command failed" : run_status_name(last->status),
			  last->status == RUN_ANALYSED ? " about intervals" : "", ret->number);
	return r;
}

int shown_run_find(struct store *s, const char *text, bool of_intervals, struct run *ret, struct diag *reterr)
{
	return find(s, text, of_intervals, true, ret, reterr);
}

int shown_run_latest(struct store *s, struct run *ret, struct diag *reterr)
{
	return find(s, NULL, false, false, ret, reterr);
}
