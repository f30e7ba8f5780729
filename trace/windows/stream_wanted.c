/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stream_wanted.c - which calls the wanted stretches of a trace need: those that touch one.
 *
 *	wanted 50..60	f 10..90 { g 20..30, h 55..58 }: f and h
 *
 * A frame that a snapshot found open is its call's twin (call_is_twice()), so the call has to be there, whenever it ended.  A call cuts
 * those that began in it and end later (a coroutine that moved its stack), so it has to be there, too, for one that is:
 *
 *	wanted 50..60	f 10..40, g 30..55: g is cut at 40, and nothing is wanted of it
 *
 * If a thread ran on several stacks (struct trace_index), all calls are needed.
 */
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "base/search.h"
#include "trace/windows/stream.h"
#include "trace/windows/stream_state.h"

typedef VEC(int64_t) starts;		/* of calls, ascending */

struct wanted {
	VEC(struct time_span) spans;	/* by time, disjoint */
	size_t at;			/* where the last call was found: calls come in chunks, nearly in order */
	starts open;			/* of the open frames */
	starts *early;			/* by thread: of the index's early calls that are needed */
	size_t thread_cnt;
	starts kept;			/* of the needed calls of a chunk */
};

static int by_from(const void *a, const void *b)
{
	const struct time_span *x = a, *y = b;

	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

static int by_ns(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Spans that overlap become one. */
static void unite(struct wanted *w)
{
	size_t kept = 0;

	qsort(w->spans.items, w->spans.cnt, sizeof(*w->spans.items), by_from);
	for (size_t i = 1; i < w->spans.cnt; i++) {
		struct time_span *last = &w->spans.items[kept], next = w->spans.items[i];

		if (next.from_ns > last->until_ns)
			w->spans.items[++kept] = next;
		else if (next.until_ns > last->until_ns)
			last->until_ns = next.until_ns;
	}
	w->spans.cnt = kept + 1;
}

/* Whether a span has some of the call. */
static bool wants(struct wanted *w, const struct raw_invocation *v)
{
	const struct time_span *spans = w->spans.items;
	int64_t end_ns = v->end_ns > v->start_ns ? v->end_ns : v->start_ns;

	while (w->at && spans[w->at - 1].until_ns >= v->start_ns)
		w->at--;
	while (w->at < w->spans.cnt && spans[w->at].until_ns < v->start_ns)
		w->at++;
	if (w->at < w->spans.cnt && spans[w->at].from_ns <= end_ns)
		return true;
	return w->open.cnt && bsearch(&v->start_ns, w->open.items, w->open.cnt, sizeof(*w->open.items), by_ns);
}

/* Whether one of them began in the call. */
static bool has_start(const starts *s, const struct raw_invocation *v)
{
	size_t at = s->cnt ? partition_point(i, s->cnt, s->items[i] <= v->start_ns) : 0;

	return at < s->cnt && s->items[at] < v->end_ns;
}

static void add_start(starts *s, int64_t ns)
{
	size_t at = s->cnt ? partition_point(i, s->cnt, s->items[i] <= ns) : 0;

	VEC_ADD(s, ns);
	memmove(&s->items[at + 1], &s->items[at], (s->cnt - 1 - at) * sizeof(*s->items));
	s->items[at] = ns;
}

static void reverse(starts *s)
{
	for (size_t i = 0; i < s->cnt / 2; i++) {
		int64_t ns = s->items[i];

		s->items[i] = s->items[s->cnt - 1 - i];
		s->items[s->cnt - 1 - i] = ns;
	}
}

/* They stand by thread and start: those that began in a call come after it, and the nearest is the last that was found. */
static void find_early(struct trace_stream *s, struct wanted *w)
{
	w->thread_cnt = s->rd.raw.threads.cnt;
	w->early = xcalloc(w->thread_cnt + 1, sizeof(*w->early));
	for (size_t i = s->index.invocations.cnt; i-- > 0; ) {
		const struct raw_invocation *v = &s->index.invocations.items[i];
		starts *found = &w->early[v->thread];
		size_t at = found->cnt;

		while (at && found->items[at - 1] == v->start_ns)
			at--;
		if (wants(w, v) || (at && found->items[at - 1] < v->end_ns))
			VEC_ADD(found, v->start_ns);
	}
	for (size_t i = 0; i < w->thread_cnt; i++)
		reverse(&w->early[i]);
}

void trace_stream_want(struct trace_stream *s, const struct time_span *spans, size_t cnt)
{
	const struct trace_index *x = &s->index;
	struct wanted *w;

	s->rd.keeps_ids = cnt > 0;
	if (cnt == 0 || x->has_stacks)
		return;
	w = s->wanted = xcalloc(1, sizeof(*w));
	for (size_t i = 0; i < cnt; i++)
		VEC_ADD(&w->spans, spans[i]);
	unite(w);
	for (size_t i = 0; i < x->open_ns.cnt; i++)
		VEC_ADD(&w->open, x->open_ns.items[i]);
	if (w->open.cnt)
		qsort(w->open.items, w->open.cnt, sizeof(*w->open.items), by_ns);
	find_early(s, w);
}

const struct time_span *stream_next_wanted(const struct wanted *w, int64_t ns)
{
	size_t i = partition_point(k, w->spans.cnt, w->spans.items[k].until_ns <= ns);

	return i < w->spans.cnt ? &w->spans.items[i] : NULL;
}

/* From the last to end to the first: a call ends before those that it cuts. */
void stream_filter(struct wanted *w, struct raw_invocation *calls, size_t *cnt)
{
	size_t first = *cnt;

	w->kept.cnt = 0;
	for (size_t i = *cnt; i-- > 0; ) {
		struct raw_invocation v = calls[i];

		if (!wants(w, &v) && !has_start(&w->kept, &v) && !has_start(&w->early[v.thread], &v))
			continue;
		add_start(&w->kept, v.start_ns);
		calls[--first] = v;
	}
	*cnt -= first;
	if (*cnt)
		memmove(calls, calls + first, *cnt * sizeof(*calls));
}

void stream_wanted_free(struct wanted *w)
{
	if (!w)
		return;
	VEC_RELEASE(&w->spans);
	VEC_RELEASE(&w->open);
	VEC_RELEASE(&w->kept);
	for (size_t i = 0; i < w->thread_cnt; i++)
		VEC_RELEASE(&w->early[i]);
	free(w->early);
	free(w);
}
