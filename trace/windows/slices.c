/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slices.c - one window after the other, copied from the trace.
 *
 * All intervals are known, so a window keeps the past since the start of the first interval that ends in it
 * or later.  Example: intervals 10..40 and 30..90, windows up to 50 and up to 100: the second contains what
 * ended at 30 or later.
 *
 * Each thread has a position in its part of each array, which is in order of time, and a list of its open
 * calls.
 */
#include "trace/windows/slices.h"

#include <stdlib.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/order.h"
#include "base/search.h"
#include "base/sort.h"

enum { SAMPLE_RECORDS = 512 };		/* one record in this many is sampled as a possible end of a window */

struct part {				/* a thread's remaining part of an array */
	size_t at, end;
};

struct slice_line {			/* a thread */
	struct part segments, invocations, wakeups, creations;
	VEC(size_t) open;		/* invocations of earlier windows that may still be needed, ascending */
};

struct trace_slices {
	const struct trace *t;
	VEC(struct slice_line) lines;	/* in order of TID */
	uint32_t *by_end;		/* intervals, those that never ended last */
	int64_t *low_ns;		/* of this interval and all later ones: the earliest start of one that
					 * is used */
	size_t next_interval;		/* of by_end */
	VEC(int64_t) starts_ns;		/* samples, ascending */
	size_t next_start, sample_records, kept_cnt;
	struct trace_window w;
	bool is_last;
};

/* ---- is it honest? ---- */

static bool segments_are_disjoint(const struct trace *t)
{
	for (size_t i = 1; i < t->segments.cnt; i++) {
		const struct segment *s = &t->segments.items[i];

		if (s->tid == s[-1].tid && s->start_ns < s[-1].end_ns)
			return false;
	}
	return true;
}

static bool calls_nest(const struct trace *t)
{
	VEC(int64_t) ends_ns = { NULL, 0, 0 };
	bool nest = true;

	for (size_t i = 0; i < t->invocations.cnt && nest; i++) {
		const struct invocation *v = &t->invocations.items[i];

		if (i && v->tid != v[-1].tid)
			ends_ns.cnt = 0;
		while (ends_ns.cnt && ends_ns.items[ends_ns.cnt - 1] <= v->start_ns)
			ends_ns.cnt--;
		nest = v->end_ns >= v->start_ns &&
		       (!ends_ns.cnt || v->end_ns <= ends_ns.items[ends_ns.cnt - 1]);
		VEC_ADD(&ends_ns, v->end_ns);
	}
	VEC_RELEASE(&ends_ns);
	return nest;
}

static bool sums_fit(const struct trace *t)
{
	__int128 longest_ns = 0;
	uint64_t cnt = 0;

	for (size_t i = 0; i < t->intervals.cnt; i++) {
		const struct interval *v = &t->intervals.items[i];
		__int128 ns = v->status == INTERVAL_OPEN ? 0 : (__int128)v->end_ns - v->start_ns;

		longest_ns = ns > longest_ns ? ns : longest_ns;
		cnt += interval_weight(v);
	}
	return squares_fit(cnt, longest_ns);
}

/* ---- making ---- */

static uint64_t first_tid(const struct trace *t, const struct slice_line *l)
{
	uint64_t tid = UINT64_MAX;

#define FIRST(array, field)									\
	do {											\
		if (l->array.end < t->array.cnt && t->array.items[l->array.end].field < tid)	\
			tid = t->array.items[l->array.end].field;				\
	} while (0)
	FIRST(segments, tid);
	FIRST(invocations, tid);
	FIRST(wakeups, tid);
	FIRST(creations, tid2);
#undef FIRST
	return tid;
}

static bool is_done(const struct trace *t, const struct slice_line *l)
{
	return l->segments.end == t->segments.cnt && l->invocations.end == t->invocations.cnt &&
	       l->wakeups.end == t->wakeups.cnt && l->creations.end == t->creations.cnt;
}

/* The arrays are in order of thread: each thread's parts begin where the one before ended. */
static void make_lines(struct trace_slices *s)
{
	const struct trace *t = s->t;
	struct slice_line l = { .open = { NULL, 0, 0 } };

	while (!is_done(t, &l)) {
		uint64_t tid = first_tid(t, &l);

#define TAKE(array, field)										\
		do {											\
			l.array.at = l.array.end;							\
			while (l.array.end < t->array.cnt && t->array.items[l.array.end].field == tid)	\
				l.array.end++;								\
		} while (0)
		TAKE(segments, tid);
		TAKE(invocations, tid);
		TAKE(wakeups, tid);
		TAKE(creations, tid2);
#undef TAKE
		VEC_ADD(&s->lines, l);
	}
}

static int64_t end_of(const struct interval *v)
{
	return v->status == INTERVAL_OPEN ? INT64_MAX : v->end_ns;
}

/* Indexes of intervals, by their end. */
static uint32_t *order_by_end(const struct trace *t)
{
	size_t cnt = t->intervals.cnt;
	uint32_t *order = xmalloc((cnt + 1) * sizeof(*order));
	_cleanup_(freep) int64_t *ends_ns = xmalloc((cnt + 1) * sizeof(*ends_ns));

	for (size_t i = 0; i < cnt; i++)
		ends_ns[i] = end_of(&t->intervals.items[i]);
	sort_order(ends_ns, cnt, order);
	return order;
}

static void order_intervals(struct trace_slices *s)
{
	const struct trace *t = s->t;
	size_t cnt = t->intervals.cnt;

	s->by_end = order_by_end(t);
	s->low_ns = xmalloc((cnt + 1) * sizeof(*s->low_ns));
	s->low_ns[cnt] = INT64_MAX;
	for (size_t i = cnt; i-- > 0;) {
		const struct interval *v = &t->intervals.items[s->by_end[i]];
		bool is_used = v->status == INTERVAL_COMPLETED && !v->lost;

		s->low_ns[i] = is_used && v->start_ns < s->low_ns[i + 1] ? v->start_ns : s->low_ns[i + 1];
	}
}

static void take_samples(struct trace_slices *s)
{
	const struct trace *t = s->t;

	for (size_t i = s->sample_records - 1; i < t->invocations.cnt; i += s->sample_records)
		VEC_ADD(&s->starts_ns, t->invocations.items[i].start_ns);
	for (size_t i = s->sample_records - 1; i < t->segments.cnt; i += s->sample_records)
		VEC_ADD(&s->starts_ns, t->segments.items[i].start_ns);
	if (s->starts_ns.cnt)
		qsort(s->starts_ns.items, s->starts_ns.cnt, sizeof(*s->starts_ns.items), compare_int64);
}

#define SHARE(w, t, list)			\
	do {					\
		(w)->list.items = (t)->list.items;	\
		(w)->list.cnt = (t)->list.cnt;	\
	} while (0)

/* Names, functions and works are shared with the trace, and so is what belongs to requests: it is looked up by SID, or by time. */
static struct trace *new_window(const struct trace *t)
{
	struct trace *w = trace_new();

	trace_borrow_names(w, t);
	SHARE(w, t, works);
	SHARE(w, t, chains);
	SHARE(w, t, samples);
	SHARE(w, t, requests);
	trace_copy_devices(w, t);
	return w;
}

static void free_window(struct trace *w)
{
	trace_return_names(w);
	w->works.items = NULL;
	w->chains.items = NULL;
	w->samples.items = NULL;
	w->requests.items = NULL;
	trace_free(w);
}

struct trace_slices *trace_slices_new(const struct trace *t)
{
	struct trace_slices *s = xcalloc(1, sizeof(*s));

	s->t = t;
	s->w = (struct trace_window){ .t = new_window(t), .before_ns = INT64_MIN, .until_ns = INT64_MIN };
	s->sample_records = trace_stream_records < 4 * SAMPLE_RECORDS ? trace_stream_records / 4 + 1 : SAMPLE_RECORDS;
	s->w.record_cnt = t->invocations.cnt + t->segments.cnt;
	make_lines(s);
	order_intervals(s);
	if (segments_are_disjoint(t) && calls_nest(t) && sums_fit(t))
		take_samples(s);
	return s;
}

void trace_slices_free(struct trace_slices *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->lines.cnt; i++)
		VEC_RELEASE(&s->lines.items[i].open);
	VEC_RELEASE(&s->lines);
	VEC_RELEASE(&s->starts_ns);
	free(s->by_end);
	free(s->low_ns);
	free_window(s->w.t);
	free(s);
}

/* ---- a window ---- */

/* Chooses the end so that at least as much is new in the window as is kept. */
static void choose_end(struct trace_slices *s)
{
	size_t wanted = trace_stream_records > s->kept_cnt ? trace_stream_records : s->kept_cnt;

	s->next_start += wanted / s->sample_records;
	while (s->next_start < s->starts_ns.cnt && s->starts_ns.items[s->next_start] <= s->w.before_ns)
		s->next_start++;
	s->is_last = s->next_start >= s->starts_ns.cnt;
	s->w.until_ns = s->is_last ? INT64_MAX : s->starts_ns.items[s->next_start];
}

static void take_intervals(struct trace_slices *s)
{
	const struct trace *t = s->t;

	s->w.t->intervals.cnt = 0;
	for (; s->next_interval < t->intervals.cnt; s->next_interval++) {
		const struct interval *v = &t->intervals.items[s->by_end[s->next_interval]];

		if (!s->is_last && end_of(v) > s->w.until_ns)
			break;
		VEC_ADD(&s->w.t->intervals, *v);
	}
}

/* Takes segments into the window in which they end, or later ones.  A running segment ends with the window,
 * as in stream.c. */
static void take_segments(struct trace_slices *s, struct slice_line *l, int64_t low_ns)
{
	const struct segment *from = s->t->segments.items;

	while (l->segments.at < l->segments.end && from[l->segments.at].end_ns < low_ns &&
	       from[l->segments.at].end_ns <= s->w.before_ns)
		l->segments.at++;
	for (size_t i = l->segments.at; i < l->segments.end && from[i].start_ns <= s->w.until_ns; i++) {
		struct segment taken = from[i];

		if (taken.state == STATE_RUNNING && taken.end_ns > s->w.until_ns)
			taken.end_ns = s->w.until_ns;
		s->w.done_cnt += taken.start_ns > s->w.before_ns;
		VEC_ADD(&s->w.t->segments, taken);
	}
}

/* Wakeups of waits that go on are earlier than low_ns. */
static void take_wakeups(struct trace_slices *s, struct slice_line *l, int64_t low_ns)
{
	const struct wakeup *from = s->t->wakeups.items;

	if (s->w.before_ns < low_ns)
		low_ns = s->w.before_ns;
	if (l->segments.at < l->segments.end && s->t->segments.items[l->segments.at].start_ns < low_ns)
		low_ns = s->t->segments.items[l->segments.at].start_ns;
	while (l->wakeups.at < l->wakeups.end && from[l->wakeups.at].time_ns < low_ns)
		l->wakeups.at++;
	for (size_t i = l->wakeups.at; i < l->wakeups.end && from[i].time_ns <= s->w.until_ns; i++)
		VEC_ADD(&s->w.t->wakeups, from[i]);
}

static void take_creations(struct trace_slices *s, struct slice_line *l, int64_t low_ns)
{
	const struct creation *from = s->t->creations.items;

	while (l->creations.at < l->creations.end && from[l->creations.at].time2_ns < low_ns)
		l->creations.at++;
	for (size_t i = l->creations.at; i < l->creations.end && from[i].time2_ns <= s->w.until_ns; i++)
		VEC_ADD(&s->w.t->creations, from[i]);
}

static void take_calls(struct trace_slices *s, struct slice_line *l, int64_t low_ns)
{
	const struct invocation *from = s->t->invocations.items;
	size_t left = 0;

	for (size_t i = 0; i < l->open.cnt; i++) {
		const struct invocation *v = &from[l->open.items[i]];

		if (v->end_ns < low_ns && v->end_ns <= s->w.before_ns)
			continue;
		VEC_ADD(&s->w.t->invocations, *v);
		l->open.items[left++] = l->open.items[i];
	}
	l->open.cnt = left;
	for (; l->invocations.at < l->invocations.end &&
	       from[l->invocations.at].start_ns <= s->w.until_ns; l->invocations.at++) {
		VEC_ADD(&s->w.t->invocations, from[l->invocations.at]);
		s->w.done_cnt++;
		if (from[l->invocations.at].end_ns >= s->low_ns[s->next_interval] ||
		    from[l->invocations.at].end_ns > s->w.until_ns)
			VEC_ADD(&l->open, l->invocations.at);
	}
	s->kept_cnt += l->open.cnt;
}

const struct trace_window *trace_slices_next(struct trace_slices *s)
{
	struct trace *t = s->w.t;
	int64_t low_ns = s->low_ns[s->next_interval];

	if (s->is_last)
		return NULL;
	s->w.before_ns = s->w.until_ns;
	choose_end(s);
	take_intervals(s);
	t->segments.cnt = t->invocations.cnt = t->wakeups.cnt = t->creations.cnt = 0;
	s->kept_cnt = 0;
	for (size_t i = 0; i < s->lines.cnt; i++) {
		struct slice_line *l = &s->lines.items[i];

		take_segments(s, l, low_ns);
		take_wakeups(s, l, low_ns);
		take_creations(s, l, low_ns);
		take_calls(s, l, low_ns);
	}
	trace_sort_events(t);
	return &s->w;
}
