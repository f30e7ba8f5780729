/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slices.c - see slices.h. */
#include "cmd/formats/pieces/slices.h"

#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/map.h"
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

static void collect(const struct export_input *in, slices *ret)
{
	_cleanup_(map_freep) struct map *sids = map_new();
	const struct trace *t = in->trace;
	uint64_t found;

	for (size_t i = 0; i < in->chosen_cnt; i++)
		map_set(sids, in->findings->intervals.items[in->chosen[i]].sid, 1);
	for (size_t i = 0; i < t->invocations.cnt; i++) {
		const struct invocation *v = &t->invocations.items[i];

		if (map_get(sids, v->sid, &found))
			VEC_ADD(ret, (struct slice){ .tid = v->tid, .sid = v->sid, .start_ns = v->start_ns, .end_ns = v->end_ns,
						     .function = v->function, .order = v->order });
	}
	for (size_t i = 0; i < t->segments.cnt; i++) {
		const struct segment *g = &t->segments.items[i];

		if (g->state != STATE_RUNNING && g->end_ns > g->start_ns && map_get(sids, g->sid, &found))
			VEC_ADD(ret, (struct slice){ .tid = g->tid, .sid = g->sid, .start_ns = g->start_ns, .end_ns = g->end_ns,
						     .is_wait = true, .wait = g->state });
	}
}

/* Behind at, where it belongs. */
static void insert(slices *list, size_t at, struct slice s)
{
	VEC_ADD(list, s);
	for (size_t i = list->cnt - 1; i > at + 1 && by_place(&list->items[i - 1], &list->items[i]) > 0; i--) {
		struct slice other = list->items[i - 1];

		list->items[i - 1] = list->items[i];
		list->items[i] = other;
	}
}

/* A wait around a call, or across the end of one, is cut there. */
static void cut(slices *list, size_t around, size_t at)
{
	struct slice rest;

	if (list->items[around].is_wait) {
		rest = list->items[around];
		list->items[around].end_ns = rest.start_ns = list->items[at].start_ns;
		if (list->items[at].is_wait)		/* two waits of a thread at once: the later one counts */
			return;
		rest.start_ns = list->items[at].end_ns;
		if (rest.start_ns < rest.end_ns)
			insert(list, at, rest);
	} else if (list->items[at].is_wait) {
		rest = list->items[at];
		list->items[at].end_ns = rest.start_ns = list->items[around].end_ns;
		insert(list, at, rest);
	}
}

static void nest(slices *list)
{
	VEC(size_t) open = { NULL, 0, 0 };

	for (size_t i = 0; i < list->cnt; i++) {
		while (open.cnt) {
			const struct slice *top = &list->items[open.items[open.cnt - 1]];

			if (top->tid == list->items[i].tid && top->end_ns > list->items[i].start_ns)
				break;
			open.cnt--;
		}
		if (open.cnt && (list->items[open.items[open.cnt - 1]].is_wait ||
				 list->items[open.items[open.cnt - 1]].end_ns < list->items[i].end_ns))
			cut(list, open.items[open.cnt - 1], i);
		if (open.cnt && list->items[open.items[open.cnt - 1]].is_wait)
			open.cnt--;
		list->items[i].parent = SLICE_NONE;
		for (size_t k = open.cnt; k-- > 0 && list->items[i].parent == SLICE_NONE; )
			if (list->items[open.items[k]].sid == list->items[i].sid)
				list->items[i].parent = open.items[k];
		VEC_ADD(&open, i);
	}
	VEC_RELEASE(&open);
}

/* The latest wake-up in (start, end], or NULL. */
static const struct wakeup *wakeup_of(const struct trace *t, const struct slice *s)
{
	size_t low = 0, high = t->wakeups.cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct wakeup *w = &t->wakeups.items[middle];

		if (w->tid < s->tid || (w->tid == s->tid && w->time_ns <= s->end_ns))
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || t->wakeups.items[low - 1].tid != s->tid || t->wakeups.items[low - 1].time_ns <= s->start_ns)
		return NULL;
	return &t->wakeups.items[low - 1];
}

/* The innermost slice of a thread at that time. */
static size_t slice_at(const slices *list, uint64_t tid, int64_t time_ns)
{
	size_t low = 0, high = list->cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct slice *s = &list->items[middle];

		if (s->tid < tid || (s->tid == tid && s->start_ns <= time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i-- > 0 && list->items[i].tid == tid; )
		if (list->items[i].end_ns >= time_ns)
			return i;
		else if (list->items[i].parent == SLICE_NONE)
			break;
	return SLICE_NONE;
}

void slices_read(const struct export_input *in, slices *ret)
{
	collect(in, ret);
	if (ret->cnt)
		qsort(ret->items, ret->cnt, sizeof(*ret->items), by_place);
	nest(ret);
	for (size_t i = 0; i < ret->cnt; i++) {
		struct slice *s = &ret->items[i];
		const struct wakeup *w = s->is_wait && s->wait != STATE_QUEUE && !state_is_runqueue(s->wait) ?
					 wakeup_of(in->trace, s) : NULL;

		s->waker = SLICE_NONE;
		if (!w)
			continue;
		s->has_waker = true;
		s->waker_tid = w->waker_tid;
		s->wake_ns = w->time_ns;
		s->waker = slice_at(ret, w->waker_tid, w->time_ns);
	}
}

const char *slice_name(const struct trace *t, const struct slice *s)
{
	return s->is_wait ? wait_text(s->wait) : t->functions.items[s->function].name;
}

uint64_t thread_pid(const struct trace *t, uint64_t tid)
{
	for (size_t i = 0; i < t->threads.cnt; i++)
		if (t->threads.items[i].tid == tid && t->threads.items[i].pid)
			return t->threads.items[i].pid;
	return 1;
}
