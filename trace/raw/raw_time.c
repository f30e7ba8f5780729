/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * raw_time.c - ticks -> CLOCK_MONOTONIC, by anchors.
 *
 * Between two anchors time runs evenly; before the first and after the last, as between the two
 * nearest.  Anchors (1000 ticks, 500 ns) and (3000 ticks, 1500 ns): tick 1400 is 700 ns.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/banned.h"
#include "base/search.h"
#include "trace/raw/raw_window.h"

/* Anchors closer than this say little about the rate. */
#define ANCHOR_APART_NS 1000000

/* a * b / c, c above 0. */
static __int128 proportion(__int128 a, int64_t b, int64_t c)
{
	int64_t product;

	if (a >= INT64_MIN && a <= INT64_MAX && !__builtin_mul_overflow((int64_t)a, b, &product))
		return product / c;	/* nearly always, and several times as fast */
	return a * b / c;
}

/* Makes anchors i and i + 1 current.  ruler_ns() takes its shortcut only where the product cannot overflow. */
static void turn_to(struct ruler *ruler, size_t i)
{
	const struct raw_anchor *a = &ruler->anchors[i];
	uint64_t product;

	ruler->at = i;
	ruler->from = a->ticks;
	ruler->from_ns = (int64_t)a->mono_ns;
	ruler->ticks = a[1].ticks - a->ticks;
	ruler->ns = a[1].mono_ns - a->mono_ns;
	ruler->inverse = UINT64_MAX / ruler->ticks;
	if (__builtin_mul_overflow(ruler->ticks, ruler->ns, &product))
		ruler->ticks = 0;
}

int64_t ruler_find_ns(struct ruler *ruler, uint64_t ticks)
{
	const struct raw_anchor *a = ruler->anchors;
	size_t i = ruler->at;
	__int128 ns;

	if (!((i == 0 || a[i].ticks <= ticks) && (i + 2 == ruler->cnt || ticks < a[i + 1].ticks)))
		i = partition_point(k, ruler->cnt - 2, a[k + 1].ticks <= ticks);
	if (i != ruler->at || !ruler->inverse)
		turn_to(ruler, i);
	if (a[i + 1].ticks - a[i].ticks <= INT64_MAX)
		ns = a[i].mono_ns + proportion((__int128)ticks - a[i].ticks,
					       (int64_t)(a[i + 1].mono_ns - a[i].mono_ns),
					       (int64_t)(a[i + 1].ticks - a[i].ticks));
	else
		ns = a[i].mono_ns + ((__int128)ticks - a[i].ticks) * (a[i + 1].mono_ns - a[i].mono_ns) /
					    (__int128)(a[i + 1].ticks - a[i].ticks);
	if (ns < 0)
		return 0;
	return ns >= INT64_MAX ? INT64_MAX - 1 : (int64_t)ns;
}

static int compare_anchors(const void *a, const void *b)
{
	const struct raw_anchor *x = a, *y = b;

	return x->ticks < y->ticks ? -1 : x->ticks > y->ticks;
}

/* Sorted, each later than the one before by both clocks; false if two do not agree. */
static bool order_anchors(struct raw *r)
{
	struct raw_anchor *a = r->anchors.items;
	size_t cnt = 0;

	if (!r->anchors.cnt)
		return true;
	qsort(a, r->anchors.cnt, sizeof(*a), compare_anchors);
	for (size_t i = 0; i < r->anchors.cnt; i++) {
		if (a[i].mono_ns > INT64_MAX / 2)
			return false;
		if (cnt && (a[i].mono_ns < a[cnt - 1].mono_ns))
			return false;
		if (cnt && (a[i].ticks == a[cnt - 1].ticks ||
			    (a[i].mono_ns < a[cnt - 1].mono_ns + ANCHOR_APART_NS && cnt > 1)))
			continue;
		a[cnt++] = a[i];
	}
	r->anchors.cnt = cnt;
	return true;
}

/* Which payload words are times. */
static unsigned int times_of(enum trace_event kind)
{
	switch (kind) {
	case EVENT_WAIT:
		return 1u << 0 | 1u << 4;
	case EVENT_LOSS:
	case EVENT_FRAME:
	case EVENT_REOPEN:
		return 1u << 0;
	default:
		return 0;
	}
}

void ruler_words(struct ruler *ruler, enum trace_event kind, uint64_t *words)
{
	unsigned int times = times_of(kind);

	for (unsigned int w = 0; times >> w; w++)
		if (times & 1u << w && words[w])
			words[w] = (uint64_t)ruler_ns(ruler, words[w]);
}

static int compare_pauses(const void *a, const void *b)
{
	const struct raw_pause *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

void ruler_pauses(struct ruler *ruler, struct raw *r)
{
	struct raw_pause *list = r->pauses.items;
	size_t cnt = 0;

	for (size_t i = 0; i < r->pauses.cnt; i++) {
		list[i].from = (uint64_t)ruler_ns(ruler, list[i].from);
		list[i].until = list[i].until ? (uint64_t)ruler_ns(ruler, list[i].until) : INT64_MAX;
	}
	if (r->pauses.cnt)
		qsort(list, r->pauses.cnt, sizeof(*list), compare_pauses);
	for (size_t i = 0; i < r->pauses.cnt; i++) {
		if (cnt && list[i].from <= list[cnt - 1].until) {
			if (list[i].until > list[cnt - 1].until)
				list[cnt - 1].until = list[i].until;
		} else {
			list[cnt++] = list[i];
		}
	}
	r->pauses.cnt = cnt;
}

static int compare_holes(const void *a, const void *b)
{
	const struct raw_hole *x = a, *y = b;

	return x->since < y->since ? -1 : x->since > y->since;
}

static void convert_holes(struct raw *r, struct ruler *ruler)
{
	struct raw_hole *list = r->holes.items;
	size_t cnt = 0;

	for (size_t i = 0; i < r->gaps.cnt; i++) {
		r->gaps.items[i].since = (uint64_t)ruler_ns(ruler, r->gaps.items[i].since);
		r->gaps.items[i].until = (uint64_t)ruler_ns(ruler, r->gaps.items[i].until);
	}
	for (size_t i = 0; i < r->holes.cnt; i++) {
		list[i].since = (uint64_t)ruler_ns(ruler, list[i].since);
		list[i].until = (uint64_t)ruler_ns(ruler, list[i].until);
	}
	if (r->holes.cnt)
		qsort(list, r->holes.cnt, sizeof(*list), compare_holes);
	for (size_t i = 0; i < r->holes.cnt; i++) {
		if (cnt && list[i].since <= list[cnt - 1].until) {
			if (list[i].until > list[cnt - 1].until)
				list[cnt - 1].until = list[i].until;
		} else {
			list[cnt++] = list[i];
		}
	}
	r->holes.cnt = cnt;
}

int compare_raw_events(const void *a, const void *b)
{
	const struct raw_event *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void saw(struct raw_thread *t, int64_t ns)
{
	if (ns < t->first_ns)
		t->first_ns = ns;
	if (ns > t->last_ns)
		t->last_ns = ns;
}

/* Its second word becomes what was done, the third since when. */
static void convert_order(struct ruler *ruler, struct raw_event *e)
{
	uint64_t word = e->words[1], waited = word >> ORDER_WHAT_BITS;

	e->words[1] = word & ((1U << ORDER_WHAT_BITS) - 1);
	e->words[2] = (uint64_t)ruler_ns(ruler, (uint64_t)e->ns - (waited < (uint64_t)e->ns ? waited : 0));
}

static void convert_events(struct raw *r, struct ruler *ruler, const struct raw_window *w)
{
	size_t cnt = 0;

	for (size_t i = 0; i < r->events.cnt; i++) {
		struct raw_event e = r->events.items[i];
		struct raw_thread *t = &r->threads.items[e.thread];

		if (e.kind == EVENT_ORDER)
			convert_order(ruler, &e);
		e.ns = ruler_ns(ruler, (uint64_t)e.ns);
		ruler_words(ruler, e.kind, e.words);
		if (r->windowed && !raw_window_event(w, &e))
			continue;
		if (e.ns >= w->from_ns)
			saw(t, e.ns);
		if (e.kind == EVENT_WAIT || e.kind == EVENT_FRAME)
			saw(t, (int64_t)e.words[0]);
		r->events.items[cnt++] = e;
	}
	r->events.cnt = cnt;
	if (cnt)
		qsort(r->events.items, cnt, sizeof(r->events.items[0]), compare_raw_events);
}

static void convert_invocations(struct raw *r, struct ruler *ruler, const struct raw_window *w)
{
	size_t cnt = 0;

	for (size_t i = 0; i < r->invocations.cnt; i++) {
		struct raw_invocation v = r->invocations.items[i];
		struct raw_thread *t = &r->threads.items[v.thread];

		v.start_ns = ruler_ns(ruler, (uint64_t)v.start_ns);
		v.end_ns = ruler_ns(ruler, (uint64_t)v.end_ns);
		if (r->windowed && !raw_window_invocation(w, &v))
			continue;
		saw(t, v.start_ns);
		saw(t, v.end_ns);
		r->invocations.items[cnt++] = v;
	}
	r->invocations.cnt = cnt;
}

/* A window without an end moment ends with the last anchor: the recorder was killed. */
static struct raw_window window_of(const struct raw *r, struct ruler *ruler)
{
	struct raw_window w = { INT64_MIN, INT64_MAX };
	int64_t keep_ns = r->keep_ns < INT64_MAX ? (int64_t)r->keep_ns : INT64_MAX, kept_from;

	if (!r->windowed)
		return w;
	w.until_ns = r->until_ticks ? ruler_ns(ruler, r->until_ticks) :
		(int64_t)r->anchors.items[r->anchors.cnt - 1].mono_ns;
	w.from_ns = r->from_ticks ? ruler_ns(ruler, r->from_ticks) + 1 : 0;
	kept_from = w.until_ns - keep_ns;
	if (keep_ns && kept_from > w.from_ns)
		w.from_ns = kept_from;
	return w;
}

int ruler_init(struct ruler *ret, struct raw *r, bool has_times, const char *path, struct diag *reterr)
{
	*ret = (struct ruler){ .cnt = 0 };
	if (!order_anchors(r))
		return diag_set(reterr, EXIT_DATA, -EBADMSG,
				"trace '%s' is damaged: its clock goes backwards", path);
	if (r->anchors.cnt < 2 && has_times)
		return diag_set(reterr, EXIT_DATA, -EBADMSG,
				"trace '%s' is cut so early that its clock is unknown", path);
	if (r->anchors.cnt >= 2)
		*ret = (struct ruler){ .anchors = r->anchors.items, .cnt = r->anchors.cnt };
	return 0;
}

int raw_to_ns(struct raw *r, const char *path, struct diag *reterr)
{
	struct raw_window window;
	struct ruler ruler;
	int e = ruler_init(&ruler, r, r->events.cnt || r->invocations.cnt, path, reterr);

	if (e || !ruler.cnt)
		return e;
	window = window_of(r, &ruler);
	r->from_ns = window.from_ns;
	ruler_pauses(&ruler, r);
	convert_holes(r, &ruler);
	convert_events(r, &ruler, &window);
	convert_invocations(r, &ruler, &window);
	if (r->lost_since)
		r->lost_since = (uint64_t)ruler_ns(&ruler, r->lost_since);
	return 0;
}
