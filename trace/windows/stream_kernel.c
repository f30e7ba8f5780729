/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stream_kernel.c - windows of a trace that the kernel has its side of (kernel_windows.h).
 *
 * A later record of the runtime may correct what the kernel saw: a time off the CPU that began just before a
 * wait belongs to it.  A window must not end in between, or the next window would contradict it.  So its end
 * is moved on
 *
 *	off 50..80, wait 51..79; the end at 50.5: to 51, where the wait is known
 *	wait 20..60, wait 60..90, touching; the end at 40: to 60
 *	lock 20..60 woken at 59, its thread running at 40, the end, and never off again: to 59, since a release at 45
 *	would cut it
 *
 * and checked again, until nothing is in its way.
 */
#include <stdlib.h>
#include "base/banned.h"
#include "base/search.h"
#include "trace/windows/stream.h"
#include "trace/windows/stream_state.h"

int trace_stream_kernel(struct trace_stream *s, struct kernel_trace *k)
{
	struct trace *t = s->rd.t;

	if (s->index.has_stacks)	/* which stack the time belongs to depends on the whole trace */
		return TRACE_STREAM_UNFIT;
	for (size_t i = 0; i < s->rd.raw.threads.cnt; i++) {
		const struct raw_thread *r = &s->rd.raw.threads.items[i];

		if (r->first_ns < r->last_ns)
			VEC_ADD(&t->segments, (struct segment){ r->tid, SID_NONE, r->first_ns, r->last_ns, STATE_RUNNING, 0 });
	}
	trace_sort_events(t);
	s->kernel = kernel_windows_new(t, k);
	t->segments.cnt = 0;
	if (!s->kernel)
		return TRACE_STREAM_UNFIT;
	for (size_t i = 0; i < s->rd.raw.threads.cnt; i++)
		s->lines[i].place = kernel_windows_place(s->kernel, s->rd.raw.threads.items[i].tid);
	return 1;
}

/* ---- the end ---- */

static int compare_waits(const void *a, const void *b)
{
	const struct raw_event *x = *(const struct raw_event *const *)a, *y = *(const struct raw_event *const *)b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	if (x->words[0] != y->words[0])
		return x->words[0] > y->words[0] ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int64_t end_of(const struct raw_event *wait)
{
	return (int64_t)wait->words[0];
}

static void add_wait(struct trace_stream *s, const struct raw_event *e)
{
	if (e->kind == EVENT_WAIT && end_of(e) > e->ns)
		VEC_ADD(&s->waits, e);
}

/* Finds all known waits that may matter, up to the last moment that is asked for. */
static void find_waits(struct trace_stream *s)
{
	const struct trace_index *x = &s->index;
	int64_t last_ns = s->last_wait_ns > s->rd.until_ns ? s->last_wait_ns : s->rd.until_ns;

	s->waits.cnt = 0;
	for (size_t i = 0; i < s->rd.raw.events.cnt; i++)
		add_wait(s, &s->rd.raw.events.items[i]);
	for (size_t i = 0; i < s->waiting.cnt; i++)
		add_wait(s, &s->waiting.items[i]);
	for (size_t i = s->early_event; i < x->events.cnt && x->events.items[i].ns <= last_ns; i++)
		add_wait(s, &x->events.items[i]);
	if (s->waits.cnt)
		qsort(s->waits.items, s->waits.cnt, sizeof(*s->waits.items), compare_waits);
}

struct outer {				/* a thread's outermost waits around a moment */
	const struct raw_event *around;	/* goes on at the window's end, or begins there, or NULL */
	const struct raw_event *next;	/* the first to begin later, or NULL */
};

/* at: of s->waits, the thread's first; goes on to the next thread's. */
static struct outer find_outer(const struct trace_stream *s, uint32_t thread, size_t *at)
{
	const struct raw_event *last = NULL;
	struct outer ret = { NULL, NULL };

	for (; *at < s->waits.cnt && s->waits.items[*at]->thread == thread; ++*at) {
		const struct raw_event *e = s->waits.items[*at];

		if (last && e->ns < end_of(last))
			continue;
		last = e;
		if (e->ns > s->rd.until_ns)
			ret.next = ret.next ? ret.next : e;
		else if (end_of(e) > s->rd.until_ns)
			ret.around = e;
	}
	return ret;
}

/* Until when each thread has to be known to decide where the window may end. */
static void ask_ahead(struct trace_stream *s)
{
	size_t at = 0;

	find_waits(s);
	s->last_wait_ns = INT64_MIN;
	for (uint32_t i = 0; i < s->rd.raw.threads.cnt; i++) {
		struct line *l = &s->lines[i];
		const struct outer o = find_outer(s, i, &at);
		const struct kernel_off *off = l->place ? kernel_off_at(s->kernel, l->place, s->rd.until_ns) : NULL;

		l->wait_until_ns = off && kernel_blocked(off) ? off->in_ns : INT64_MIN;
		if (o.around)
			l->wait_until_ns = end_of(o.around);
		if (l->wait_until_ns > s->last_wait_ns)
			s->last_wait_ns = l->wait_until_ns;
	}
}

/* Whether what the kernel says of this wait for a lock does not depend on where later releases cut it. */
static bool is_settled(const struct trace_stream *s, const struct line *l, const struct raw_event *lock)
{
	const struct kernel_off *off = kernel_off_at(s->kernel, l->place, s->rd.until_ns);
	const struct kernel_off *last = kernel_last_blocked(s->kernel, l->place, lock->ns, end_of(lock));

	if (off && !kernel_blocked(off))
		return false;
	if (!last)
		return true;
	return last->flags & OFF_WOKEN ? kernel_woken_by_thread(s->kernel, last) && last->woken_ns > s->rd.until_ns
				       : last->in_ns > s->rd.until_ns;
}

/* Where the window may end as far as this thread is concerned. */
static int64_t better_end(const struct trace_stream *s, const struct line *l, const struct outer *o)
{
	const struct raw_event *w = o->around;
	int64_t until_ns = s->rd.until_ns, woken_ns = w ? (int64_t)w->words[4] : 0;
	const struct kernel_off *off;

	if (w && o->next && o->next->ns == end_of(w))
		return o->next->ns;
	if (w && w->words[1] == WAIT_LOCK && w->words[3] && woken_ns > until_ns && !is_settled(s, l, w))
		return woken_ns;
	off = w || !o->next ? NULL : kernel_off_at(s->kernel, l->place, until_ns);
	return off && kernel_blocked(off) && o->next->ns < off->in_ns ? o->next->ns : until_ns;
}

/* The latest of these moments; the window's own end if that is possible. */
static int64_t best_end(struct trace_stream *s)
{
	int64_t until_ns = s->rd.until_ns;
	size_t at = 0;

	find_waits(s);
	for (uint32_t i = 0; i < s->rd.raw.threads.cnt; i++) {
		const struct outer o = find_outer(s, i, &at);
		int64_t better_ns = s->lines[i].place ? better_end(s, &s->lines[i], &o) : until_ns;

		until_ns = better_ns > until_ns ? better_ns : until_ns;
	}
	return until_ns;
}

int stream_settle_end(struct trace_stream *s, struct diag *reterr)
{
	int r = stream_load(s, reterr);

	while (r == 0 && !s->is_last) {
		int64_t until_ns;

		ask_ahead(s);
		r = stream_load_lines(s, reterr);
		until_ns = r == 0 ? best_end(s) : s->rd.until_ns;
		if (until_ns == s->rd.until_ns)
			break;
		stream_move_end(s, until_ns);
		r = stream_load(s, reterr);
	}
	return r;
}

/* ---- what is kept ---- */

void stream_keep_from(struct trace_stream *s, int64_t low_ns)
{
	if (s->kernel)
		kernel_windows_from(s->kernel, low_ns);
	for (size_t i = 0; i < s->rd.raw.threads.cnt; i++) {
		const struct sid_history *line = &s->rd.histories[i];
		struct line *l = &s->lines[i];

		l->low_ns = kernel_place_from(s->kernel, l->place, low_ns, line->waits.items, line->waits.cnt);
	}
}
