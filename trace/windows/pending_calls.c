/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pending_calls.c - from the order of a file to that of time.
 *
 * Within a chunk calls stand in order of their ends.  Chunks of a thread follow each other in time, but a recorder
 * that lagged may have written the latest chunk first; then whole chunks change places.  What is out of order after
 * that are neighbours, for calls of less than a nanosecond have one start and are distinguished by their ends.
 */
#include "trace/windows/pending_calls.h"

#include <string.h>
#include "base/banned.h"

#define STEPS_MAX 16			/* steps to move a call; beyond that, sorting is faster */

static bool is_later(const struct raw_invocation *a, const struct raw_invocation *b)
{
	return a->start_ns != b->start_ns ? a->start_ns > b->start_ns
					  : a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->order < b->order;
}

/* Puts a call down before those that are there; returns whether that is their order in time. */
static inline bool put_down(struct raw_invocation *to, const struct raw_invocation *v, int64_t *next_ns)
{
	bool ordered = v->start_ns < *next_ns || !is_later(v, to + 1);

	*to = *v;
	*next_ns = v->start_ns;
	return ordered;
}

/*
 * From the order in which calls end to that in which they begin, outer ones first.  Read backward, a caller
 * comes before its callees, the last callee first; a call is put down, from the end of the array, when the
 * next one is not inside it.  f ( g h ) k: read k f h g; put down k, then h, g ... from the end: f g h k.
 * false: the result is not in order of time.
 */
static bool order_calls(struct waiting *w, const struct raw_invocation *calls, size_t cnt, struct raw_invocation *to)
{
	struct waiting_around *around;
	size_t at = cnt, depth = 0;
	int64_t next_ns = INT64_MAX;	/* nothing begins as late */
	bool ordered = true;

	VEC_ROOM(&w->around, cnt);
	around = w->around.items;
	for (size_t i = cnt; i-- > 0; ) {
		int64_t start_ns = calls[i].start_ns;

		for (; depth && around[depth - 1].start_ns > start_ns; depth--)
			ordered &= put_down(&to[--at], &calls[around[depth - 1].call], &next_ns);
		around[depth++] = (struct waiting_around){ start_ns, (uint32_t)i };
	}
	for (; depth; depth--)
		ordered &= put_down(&to[--at], &calls[around[depth - 1].call], &next_ns);
	return ordered;
}

void waiting_add(struct waiting *w, const struct raw_invocation *calls, size_t cnt)
{
	size_t first;

	if (w->first == w->calls.cnt)
		w->first = w->calls.cnt = 0;
	first = w->calls.cnt;
	if (cnt == 0)
		return;
	if (w->calls.cap < first + cnt) {
		w->calls.cap = 2 * (first + cnt);
		w->calls.items = xrealloc(w->calls.items, w->calls.cap, sizeof(*w->calls.items));
	}
	w->calls.cnt = first + cnt;
	w->is_unordered |= !order_calls(w, calls, cnt, w->calls.items + first);
	if (first > w->first)
		w->is_unordered |= is_later(&w->calls.items[first - 1], &w->calls.items[first]);
	VEC_ADD(&w->runs, (struct waiting_run){ first, cnt, w->calls.items[first].start_ns });
}

static int by_start(const void *a, const void *b)
{
	const struct waiting_run *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void order_runs(struct waiting *w)
{
	struct raw_invocation *ordered = xmalloc(w->calls.cap * sizeof(*ordered));
	size_t at = 0, known = w->runs.items[0].first - w->first;

	if (known)
		VEC_ADD(&w->runs, (struct waiting_run){ w->first, known, w->calls.items[w->first].start_ns });
	qsort(w->runs.items, w->runs.cnt, sizeof(*w->runs.items), by_start);
	for (size_t i = 0; i < w->runs.cnt; i++) {
		memcpy(ordered + at, w->calls.items + w->runs.items[i].first, w->runs.items[i].cnt * sizeof(*ordered));
		at += w->runs.items[i].cnt;
	}
	free(w->calls.items);
	w->calls.items = ordered;
	w->calls.cnt = at;
	w->first = 0;
}

static void order_neighbours(struct raw_invocation *calls, size_t cnt)
{
	size_t steps = 0;

	for (size_t i = 1; i < cnt; i++) {
		struct raw_invocation moved = calls[i];
		size_t at = i;

		for (; at > 0 && is_later(&calls[at - 1], &moved); at--)
			calls[at] = calls[at - 1];
		calls[at] = moved;
		steps += i - at;
		if (steps > STEPS_MAX * cnt) {
			qsort(calls, cnt, sizeof(*calls), compare_raw_invocations);
			return;
		}
	}
}

void waiting_settle(struct waiting *w)
{
	if (w->is_unordered) {
		order_runs(w);
		order_neighbours(w->calls.items, w->calls.cnt);
	}
	w->runs.cnt = 0;
	w->is_unordered = false;
}

void waiting_forget(struct waiting *w)
{
	if (w->first == 0)
		return;
	memmove(w->calls.items, w->calls.items + w->first, (w->calls.cnt - w->first) * sizeof(*w->calls.items));
	w->calls.cnt -= w->first;
	w->first = 0;
}

void waiting_release(struct waiting *w)
{
	VEC_RELEASE(&w->calls);
	VEC_RELEASE(&w->runs);
	VEC_RELEASE(&w->around);
}
