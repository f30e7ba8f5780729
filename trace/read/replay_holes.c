/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay_holes.c - where records are missing: intervals that were under way then are marked lost, and nothing
 * continues across the hole.
 *
 *	BEGIN r 10; a hole 20..30, END r and BEGIN r are in it; END r 50	r 10..50 never was: lost, and cut at 30
 */
#include <string.h>
#include "base/banned.h"
#include "base/saturate.h"
#include "trace/read/replay_state.h"

bool replay_lacks_name(const struct replay *p, uint64_t label)
{
	const struct raw *r = &p->rd->raw;

	return r->damage.tables && (label >= r->labels.cnt || !r->labels.items[label]);
}

bool replay_counts_strays(const struct replay *p)
{
	return !p->rd->raw.windowed && !p->rd->raw.pauses.cnt && !p->rd->raw.holes.cnt;
}

/* Forgets an interval: its end, its other threads and its queued tasks are unknown. */
static void forget(struct replay *p, const struct raw_hole *hole)
{
	int64_t until_ns = (int64_t)hole->until;

	for (size_t i = 0; i < p->workers.cnt; i++) {
		struct worker *w = &p->workers.items[i];

		if (w->interval.sid && w->interval.start_ns <= until_ns)
			replay_end_interval(p, w, INTERVAL_ABORTED, w->interval.start_tid, until_ns);
	}
	for (size_t i = 0; i < p->rd->raw.threads.cnt; i++) {
		struct sid_history *line = &p->rd->histories[i];
		size_t cnt = line->changes.cnt;

		p->stacks[i].cnt = 0;
		if (cnt && line->changes.items[cnt - 1].sid != SID_NONE)
			VEC_ADD(&line->changes, (struct sid_change){ until_ns, SID_NONE });
	}
	map_free(p->tasks);
	p->tasks = map_new();
}

void replay_play_holes(struct replay *p, int64_t ns)
{
	const struct raw *r = &p->rd->raw;

	for (; p->next_hole < r->holes.cnt && ns > (int64_t)r->holes.items[p->next_hole].until; p->next_hole++)
		forget(p, &r->holes.items[p->next_hole]);
}

void reading_add_gaps(struct reading *rd)
{
	const struct raw *r = &rd->raw;

	for (size_t i = 0; i < r->gaps.cnt; i++) {
		const struct raw_gap *g = &r->gaps.items[i];

		if (g->since < g->until)
			VEC_ADD(&rd->histories[g->thread].unknown, (struct blocked){ (int64_t)g->since, (int64_t)g->until });
	}
}
