/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay_intervals.c - ends an interval: it joins the trace, and its place and key are free again.
 */
#include "base/banned.h"
#include "trace/read/replay_state.h"

/* Makes the key find the next older open interval. */
static void forget_key(struct replay *p, const struct worker *w)
{
	uint64_t *sid = map_slot(p->open, interval_hash(w->pid, w->interval.name, w->key));
	struct worker *newer;

	while (*sid != w->interval.sid && (newer = find_worker(p, *sid)))
		sid = &newer->older;
	if (*sid == w->interval.sid)
		*sid = w->older && find_worker(p, w->older) ? w->older : 0;
}

void replay_end_interval(struct replay *p, struct worker *w, enum interval_status status, uint64_t end_tid,
			 int64_t end_ns)
{
	struct interval *i = &w->interval;

	i->status = status;
	i->end_tid = end_tid;
	i->end_ns = end_ns;
	forget_key(p, w);
	map_set(p->place_of, i->sid, 0);
	if (!w->is_spent) {
		replay_mark_losses(p, i);
		VEC_ADD(&p->t->intervals, *i);
	}
	i->sid = 0;
	VEC_RELEASE(&w->inside);
	VEC_ADD(&p->free_places, (uint32_t)(w - p->workers.items));
}
