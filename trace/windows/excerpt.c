/* SPDX-License-Identifier: GPL-3.0-or-later */
/* excerpt.c - see excerpt.h. */
#include "trace/windows/excerpt.h"

#include <stdlib.h>
#include "base/banned.h"
#include "base/map.h"
#include "base/search.h"

struct excerpt {
	const struct excerpt_wanted *wanted;
	struct map *index_of;		/* sid -> index in wanted + 1 */
	struct trace *t;		/* NULL: it has not begun */
	int64_t first_ns;		/* the first moment of the trace; INT64_MAX: it has none */
};

static void drop_trace(struct excerpt *x)
{
	trace_free(x->t);
	x->t = NULL;
}

struct excerpt *excerpt_new(const struct excerpt_wanted *wanted, size_t cnt)
{
	struct excerpt *x = xcalloc(1, sizeof(*x));

	x->wanted = wanted;
	x->index_of = map_new();
	for (size_t i = 0; i < cnt; i++)
		map_set(x->index_of, wanted[i].sid, i + 1);
	return x;
}

void excerpt_free(struct excerpt *x)
{
	if (!x)
		return;
	drop_trace(x);
	map_free(x->index_of);
	free(x);
}

void excerpt_begin(struct excerpt *x, const struct trace *names)
{
	drop_trace(x);
	x->t = trace_new();
	x->first_ns = INT64_MAX;
	for (size_t i = 0; i < names->functions.cnt; i++)
		VEC_ADD(&x->t->functions, names->functions.items[i]);
}

/* The wanted one that ends in the window, or NULL. */
static const struct excerpt_wanted *wanted_in(const struct excerpt *x, const struct trace_window *w, uint64_t sid)
{
	const struct excerpt_wanted *v;
	uint64_t at;

	if (!map_get(x->index_of, sid, &at))
		return NULL;
	v = &x->wanted[at - 1];
	return v->end_ns > w->before_ns && v->end_ns <= w->until_ns ? v : NULL;
}

static void add_segments(struct excerpt *x, const struct trace_window *w)
{
	for (size_t i = 0; i < w->t->segments.cnt; i++) {
		struct segment g = w->t->segments.items[i];
		const struct excerpt_wanted *v = g.state == STATE_RUNNING ? NULL : wanted_in(x, w, g.sid);

		x->first_ns = g.start_ns < x->first_ns ? g.start_ns : x->first_ns;
		if (!v)
			continue;
		g.start_ns = g.start_ns > v->start_ns ? g.start_ns : v->start_ns;
		g.end_ns = g.end_ns < v->end_ns ? g.end_ns : v->end_ns;
		if (g.start_ns < g.end_ns)
			VEC_ADD(&x->t->segments, g);
	}
}

/*
 * Whether the thread worked for the interval in that time.  A call has the label that its thread got in it, perhaps only after the
 * interval had ended, and that the windows may not show yet.
 */
static bool worked(const struct trace *t, uint64_t tid, uint64_t sid, int64_t from_ns, int64_t until_ns)
{
	const struct segment *g = t->segments.items;
	size_t cnt = t->segments.cnt, at = partition_point(i, cnt, g[i].tid < tid || (g[i].tid == tid && g[i].end_ns < from_ns));

	for (; at < cnt && g[at].tid == tid && g[at].start_ns <= until_ns; at++)
		if (g[at].sid == sid)
			return true;
	return false;
}

static void add_calls(struct excerpt *x, const struct trace_window *w)
{
	for (size_t i = 0; i < w->t->invocations.cnt; i++) {
		const struct invocation *c = &w->t->invocations.items[i];
		const struct excerpt_wanted *v = wanted_in(x, w, c->sid);

		if (v && c->start_ns <= v->end_ns && c->end_ns >= v->start_ns &&
		    worked(w->t, c->tid, c->sid, c->start_ns > v->start_ns ? c->start_ns : v->start_ns,
			   c->end_ns < v->end_ns ? c->end_ns : v->end_ns))
			VEC_ADD(&x->t->invocations, *c);
	}
}

/* Those of the time of the wanted intervals that end in the window; users find one by its time. */
static void add_wakeups(struct excerpt *x, const struct trace_window *w)
{
	int64_t from_ns = INT64_MAX, until_ns = INT64_MIN;

	for (size_t i = 0; i < w->t->intervals.cnt; i++) {
		const struct interval *iv = &w->t->intervals.items[i];
		const struct excerpt_wanted *v = wanted_in(x, w, iv->sid);

		x->first_ns = iv->start_ns < x->first_ns ? iv->start_ns : x->first_ns;
		if (!v)
			continue;
		from_ns = v->start_ns < from_ns ? v->start_ns : from_ns;
		until_ns = v->end_ns > until_ns ? v->end_ns : until_ns;
	}
	for (size_t i = 0; i < w->t->wakeups.cnt; i++) {
		const struct wakeup *k = &w->t->wakeups.items[i];

		if (k->time_ns >= from_ns && k->time_ns <= until_ns)
			VEC_ADD(&x->t->wakeups, *k);
	}
}

void excerpt_add(struct excerpt *x, const struct trace_window *w)
{
	add_segments(x, w);
	add_calls(x, w);
	add_wakeups(x, w);
}

void excerpt_end(struct excerpt *x, const struct trace *names)
{
	for (size_t i = 0; i < names->threads.cnt; i++)
		VEC_ADD(&x->t->threads, names->threads.items[i]);
	for (size_t i = 0; i < names->ids.cnt; i++)
		VEC_ADD(&x->t->ids, names->ids.items[i]);
	for (size_t i = 0; i < names->remote_calls.cnt; i++)
		VEC_ADD(&x->t->remote_calls, names->remote_calls.items[i]);
	trace_sort(x->t);
}

struct trace *excerpt_trace(struct excerpt *x)
{
	return x->t;
}

int64_t excerpt_first_ns(const struct excerpt *x)
{
	return x->first_ns;
}
