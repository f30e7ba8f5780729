/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slices.c - see slices.h. */
#include "cmd/formats/pieces/slices.h"

#include <stdlib.h>

#include "base/banned.h"
#include "base/map.h"
#include "base/search.h"
#include "report/words/sentence.h"

static int by_place(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	if (x->is_wait != y->is_wait)
		return x->is_wait ? 1 : -1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* For each chosen interval the latest end of those up to it. */
static int64_t *read_reach(const struct export_input *in)
{
	int64_t *reach = xcalloc(in->chosen_cnt + 1, sizeof(*reach));

	for (size_t i = 0; i < in->chosen_cnt; i++) {
		int64_t end_ns = in->findings->intervals.items[in->chosen[i]].end_ns;

		reach[i] = i && reach[i - 1] > end_ns ? reach[i - 1] : end_ns;
	}
	return reach;
}

/* Whether it is, in part, in the time of a chosen interval. */
static bool is_in_time(const struct export_input *in, const int64_t *reach, int64_t start_ns, int64_t end_ns)
{
	const struct interval_row *rows = in->findings->intervals.items;
	size_t cnt = partition_point(i, in->chosen_cnt, rows[in->chosen[i]].start_ns < end_ns);

	return cnt && reach[cnt - 1] > start_ns;
}

static void collect(const struct export_input *in, bool with_rest, slices *ret)
{
	_cleanup_(map_freep) struct map *sids = map_new();
	_cleanup_(freep) int64_t *reach = read_reach(in);
	const struct trace *t = in->trace;
	const struct segment *last = NULL;
	uint64_t found;

	for (size_t i = 0; i < in->chosen_cnt; i++)
		map_set(sids, in->findings->intervals.items[in->chosen[i]].sid, 1);
	for (size_t i = 0; i < t->invocations.cnt; i++) {
		const struct invocation *v = &t->invocations.items[i];

		if (map_get(sids, v->sid, &found) || (with_rest && v->sid == SID_NONE && is_in_time(in, reach, v->start_ns, v->end_ns)))
			VEC_ADD(ret, (struct slice){ .tid = v->tid, .sid = v->sid, .start_ns = v->start_ns, .end_ns = v->end_ns,
						     .function = v->function, .order = v->order });
	}
	for (size_t i = 0; i < t->segments.cnt; i++) {
		const struct segment *g = &t->segments.items[i];
		int64_t start_ns = g->start_ns;

		if (g->state == STATE_RUNNING)
			continue;
		if (!map_get(sids, g->sid, &found) && !(with_rest && g->sid == SID_NONE && is_in_time(in, reach, g->start_ns, g->end_ns)))
			continue;
		if (last && last->tid == g->tid && last->end_ns > start_ns)	/* two waits of a thread overlap */
			start_ns = last->end_ns;
		if (g->end_ns <= start_ns)
			continue;
		VEC_ADD(ret, (struct slice){ .tid = g->tid, .sid = g->sid, .start_ns = start_ns, .end_ns = g->end_ns,
					     .is_wait = true, .wait = g->state });
		last = g;
	}
}

/* Cuts a wait that contains a call, or crosses a call's end.  Returns true if there is a rest, *ret_rest, for later. */
static bool cut(struct slice *around, struct slice *s, struct slice *ret_rest)
{
	if (around->is_wait) {
		*ret_rest = *around;
		around->end_ns = s->start_ns;
		ret_rest->start_ns = s->end_ns;
		return ret_rest->start_ns < ret_rest->end_ns;
	}
	if (!s->is_wait || s->end_ns <= around->end_ns)
		return false;
	*ret_rest = *s;
	s->end_ns = ret_rest->start_ns = around->end_ns;
	return true;
}

/* Waits of a thread do not overlap, so there is at most one rest.  A wait for no interval counts within a call alone: else it is that of a
 * thread that has nothing to do. */
static void nest(const slices *sorted, slices *ret)
{
	size_t around = SLICE_NONE;
	struct slice rest = { 0 };
	bool has_rest = false;

	for (size_t i = 0; i < sorted->cnt || has_rest; ) {
		bool is_rest = has_rest && (i == sorted->cnt || by_place(&rest, &sorted->items[i]) < 0);
		struct slice s = is_rest ? rest : sorted->items[i];

		has_rest &= !is_rest;
		i += !is_rest;
		while (around != SLICE_NONE && (ret->items[around].tid != s.tid || ret->items[around].end_ns <= s.start_ns))
			around = ret->items[around].around;
		if (around == SLICE_NONE && s.is_wait && s.sid == SID_NONE)
			continue;
		if (around != SLICE_NONE) {
			has_rest |= cut(&ret->items[around], &s, &rest);
			if (ret->items[around].is_wait)
				around = ret->items[around].around;
		}
		s.around = s.parent = around;
		while (s.parent != SLICE_NONE && ret->items[s.parent].sid != s.sid)
			s.parent = ret->items[s.parent].around;
		VEC_ADD(ret, s);
		around = ret->cnt - 1;
	}
}

/* The latest wake-up in (start, end] by another thread, or NULL. */
static const struct wakeup *wakeup_of(const struct trace *t, const struct slice *s)
{
	const struct wakeup *w = t->wakeups.items;
	size_t at = partition_point(i, t->wakeups.cnt, w[i].tid < s->tid || (w[i].tid == s->tid && w[i].time_ns <= s->end_ns));

	while (at && w[at - 1].tid == s->tid && w[at - 1].waker_tid == s->tid && w[at - 1].time_ns > s->start_ns)
		at--;
	return at && w[at - 1].tid == s->tid && w[at - 1].time_ns > s->start_ns ? &w[at - 1] : NULL;
}

/* The innermost slice of a thread at that time. */
static size_t slice_at(const slices *list, uint64_t tid, int64_t time_ns)
{
	const struct slice *s = list->items;
	size_t cnt = partition_point(i, list->cnt, s[i].tid < tid || (s[i].tid == tid && s[i].start_ns <= time_ns));
	size_t at = cnt && s[cnt - 1].tid == tid ? cnt - 1 : SLICE_NONE;

	while (at != SLICE_NONE && s[at].end_ns < time_ns)
		at = s[at].around;
	return at;
}

void slices_read(const struct export_input *in, bool with_rest, slices *ret)
{
	slices list = { NULL, 0, 0 };

	collect(in, with_rest, &list);
	if (list.cnt)
		qsort(list.items, list.cnt, sizeof(*list.items), by_place);
	nest(&list, ret);
	VEC_RELEASE(&list);
	for (size_t i = 0; i < ret->cnt; i++) {
		struct slice *s = &ret->items[i];
		const struct wakeup *w = s->is_wait && s->wait != STATE_QUEUE && !state_is_runqueue(s->wait) ?
					 wakeup_of(in->trace, s) : NULL;

		s->waker = w ? slice_at(ret, w->waker_tid, w->time_ns) : SLICE_NONE;
		s->has_waker = w != NULL;
		s->waker_tid = w ? w->waker_tid : 0;
		s->wake_ns = w ? w->time_ns : 0;
	}
}

const char *slice_name(const struct trace *t, const struct slice *s)
{
	return s->is_wait ? wait_text(s->wait) : t->functions.items[s->function].name;
}

uint64_t thread_pid(const struct trace *t, uint64_t tid)
{
	const struct thread_name *x = t->threads.items;
	size_t at = partition_point(i, t->threads.cnt, x[i].tid < tid || (x[i].tid == tid && !x[i].pid));

	return at < t->threads.cnt && x[at].tid == tid ? x[at].pid : 1;
}
