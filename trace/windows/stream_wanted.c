/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stream_wanted.c - which calls the wanted stretches of a trace need: those that touch one.
 *
 *	wanted 50..60	f 10..90 { g 20..30, h 55..58 }: f and h
 *
 * A frame that a snapshot found open is its call's twin (call_is_twice()), so the call has to be there, whenever it ended.  Where a
 * thread ran on several stacks its calls cross, and a call that is past cuts those that began in it: all calls are needed then.
 */
#include <stdlib.h>
#include "base/banned.h"
#include "base/search.h"
#include "trace/windows/stream.h"
#include "trace/windows/stream_state.h"

struct wanted {
	VEC(struct time_span) spans;	/* by time, disjoint */
	size_t at;			/* where the last call was found: calls come in chunks, nearly in order */
	VEC(int64_t) open_ns;		/* when the open frames began, ascending */
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
		VEC_ADD(&w->open_ns, x->open_ns.items[i]);
	if (w->open_ns.cnt)
		qsort(w->open_ns.items, w->open_ns.cnt, sizeof(*w->open_ns.items), by_ns);
}

const struct time_span *stream_next_wanted(const struct wanted *w, int64_t ns)
{
	size_t i = partition_point(k, w->spans.cnt, w->spans.items[k].until_ns <= ns);

	return i < w->spans.cnt ? &w->spans.items[i] : NULL;
}

bool stream_wants(struct wanted *w, const struct raw_invocation *v)
{
	const struct time_span *spans = w->spans.items;
	int64_t end_ns = v->end_ns > v->start_ns ? v->end_ns : v->start_ns;

	while (w->at && spans[w->at - 1].until_ns >= v->start_ns)
		w->at--;
	while (w->at < w->spans.cnt && spans[w->at].until_ns < v->start_ns)
		w->at++;
	if (w->at < w->spans.cnt && spans[w->at].from_ns <= end_ns)
		return true;
	return w->open_ns.cnt && bsearch(&v->start_ns, w->open_ns.items, w->open_ns.cnt, sizeof(*w->open_ns.items), by_ns);
}

void stream_wanted_free(struct wanted *w)
{
	if (!w)
		return;
	VEC_RELEASE(&w->spans);
	VEC_RELEASE(&w->open_ns);
	free(w);
}
