/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * segments.c - a thread's line of segments: running, but for its waits.
 *
 * A thread is known from its first record to its last, or to the last time it woke a thread.  Waits come as
 * records (start, end, class, waker); of nested ones (a mutex inside a home-made lock) the outermost counts,
 * with the latest waker of all.  The rest is running, cut where the thread turns to another interval.
 *
 *	known 0..100, wait 30..50 lock woken at 45 by T2, works on sid 1 from 20:
 *	running - 0..20, running 1 20..30, lock 1 30..50, running 1 50..100; wakeup by T2 at 45
 *
 * A released lock may be taken by another thread before the waiter is back.  The wait is cut at each such
 * taking, so that each holder of the lock explains its own part of it (holds.c); from a release to the next
 * taking the lock was free, and the wait is woken but not back:
 *
 *	T3 let it go at 38, T2, which took it at 41, at 45: lock 30..41 woken by T3 at 38, lock 41..50 by T2 at 45
 *
 * A signal may interrupt a wait.  If its handler begins an interval and ends it, the thread ran in between:
 *
 *	io 30..50 of sid 1; the handler works on sid 7 from 35 to 42: io 1 30..35, running 7 35..42, io 1 42..50
 */
#include <stdlib.h>
#include "base/banned.h"
#include "base/search.h"
#include "trace/read/holds.h"
#include "trace/read/off_cpu.h"
#include "trace/read/replay.h"

struct wait {
	uint32_t thread, order;
	int64_t start_ns, end_ns, woken_ns;
	enum trace_state state;
	uint32_t caller;		/* number of the caller, as in the trace */
	uint64_t object;
	uint64_t waker;			/* as in the trace; 0: unknown */
};

struct waits {
	VEC(struct wait) list;
};

/* Times in which nothing is known of a thread: pauses of the recording, longer if it joined late again. */
struct holes {
	VEC(struct blocked) list;	/* by time; may overlap */
	size_t at;			/* the holes before it are over; a thread's segments come in order */
};

/* What makes a thread's line. */
struct making {
	struct reading *rd;
	const struct releases *releases;
	uint32_t thread;
	struct holes *holes;
	size_t change;			/* as in sid_history_at() */
};

static void add_line(struct making *m, const struct wait *waits, size_t cnt);

static enum trace_state state_of(uint64_t class)
{
	static const enum trace_state states[WAIT_CLASS_CNT] = {
		[WAIT_NONE] = STATE_OTHER,
#define X(id, name) [WAIT_##id] = STATE_##id,
		WAIT_CLASSES(X)
#undef X
	};

	return class < WAIT_CLASS_CNT ? states[class] : STATE_OTHER;
}

static int compare_waits(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The wake-up just received was false, so its waker explains nothing. */
static void forget_waker(struct reading *rd, struct waits *w, const struct raw_event *e)
{
	VEC_ADD(&rd->t->false_wakeups,
		(struct false_wakeup){ rd->raw.threads.items[e->thread].tid, e->ns });
	for (size_t i = w->list.cnt; i-- > 0;)
		if (w->list.items[i].thread == e->thread && w->list.items[i].end_ns <= e->ns) {
			w->list.items[i].waker = 0;
			return;
		}
}

/* Notes a time in which the thread was on another stack. */
static void note_away(struct reading *rd, const struct raw_event *e)
{
	VEC_ADD(&rd->t->aways, (struct away){ rd->raw.threads.items[e->thread].tid, e->ns, (int64_t)e->words[0],
					      (uint32_t)e->words[2] });
}

static void collect_waits(struct reading *rd, struct waits *w)
{
	const struct raw *r = &rd->raw;

	rd->t->aways.cnt = 0;

	for (size_t i = 0; i < r->events.cnt; i++) {
		const struct raw_event *e = &r->events.items[i];

		if (e->kind == EVENT_FALSE_WAKEUP)
			forget_waker(rd, w, e);
		if (e->kind == EVENT_WAIT && (int64_t)e->words[0] > e->ns)
			VEC_ADD(&w->list, (struct wait){ e->thread, e->order, e->ns,
				(int64_t)e->words[0], (int64_t)e->words[4],
				state_of(e->words[1]), e->caller, e->words[2], e->words[3] });
		if (e->kind == EVENT_WAIT && e->words[1] == WAIT_QUEUE && (int64_t)e->words[0] > e->ns)
			note_away(rd, e);
	}
	if (w->list.cnt)
		qsort(w->list.items, w->list.cnt, sizeof(w->list.items[0]), compare_waits);
}

/* The thread that a waker's number means; NULL if it left no records, or is not a thread. */
static struct raw_thread *find_waker(struct raw *r, uint64_t waker, int64_t ns)
{
	struct raw_thread *best = NULL;
	uint32_t index;

	if (waker == WAKER_TIME_OUT || waker_is_outside(waker))
		return NULL;
	if (!(waker & 1)) {
		index = raw_find_thread(r, waker >> 1);
		return index == UINT32_MAX ? NULL : &r->threads.items[index];
	}
	for (size_t i = 0; i < r->threads.cnt; i++) {
		struct raw_thread *t = &r->threads.items[i];

		if (t->kernel_tid == waker >> 1 && t->first_ns <= ns &&
		    (!best || t->first_ns > best->first_ns))
			best = t;
	}
	return best;
}

/* A waker was awake when it woke another thread, even if it logged nothing more. */
static void extend_wakers(struct raw *r, const struct waits *w)
{
	for (size_t i = 0; i < w->list.cnt; i++) {
		const struct wait *v = &w->list.items[i];
		struct raw_thread *t = v->waker ? find_waker(r, v->waker, v->woken_ns) : NULL;

		if (t && v->woken_ns > t->last_ns && t->first_ns <= t->last_ns)
			t->last_ns = v->woken_ns;
	}
}

static int compare_holes(const void *a, const void *b)
{
	const struct blocked *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static void collect_holes(const struct reading *rd, uint32_t thread, struct holes *h)
{
	const struct sid_history *line = &rd->histories[thread];

	h->at = h->list.cnt = 0;
	for (size_t i = 0; i < rd->raw.pauses.cnt; i++)
		VEC_ADD(&h->list, (struct blocked){ (int64_t)rd->raw.pauses.items[i].from,
						    (int64_t)rd->raw.pauses.items[i].until });
	for (size_t i = 0; i < line->unknown.cnt; i++)
		VEC_ADD(&h->list, line->unknown.items[i]);
	if (line->unknown.cnt)
		qsort(h->list.items, h->list.cnt, sizeof(*h->list.items), compare_holes);
}

void build_segments(struct reading *rd, bool wakers_known)
{
	struct waits w = { { NULL, 0, 0 } };
	struct releases releases = { { NULL, 0, 0 } };
	struct holes holes = { { NULL, 0, 0 }, 0 };
	size_t at = 0;

	collect_waits(rd, &w);
	if (!wakers_known)
		extend_wakers(&rd->raw, &w);
	releases_collect(&rd->raw, &releases);
	for (uint32_t thread = 0; thread < rd->raw.threads.cnt; thread++) {
		size_t first = at;

		while (at < w.list.cnt && w.list.items[at].thread == thread)
			at++;
		collect_holes(rd, thread, &holes);
		add_line(&(struct making){ rd, &releases, thread, &holes, 0 }, at > first ? &w.list.items[first] : NULL, at - first);
	}
	VEC_RELEASE(&holes.list);
	VEC_RELEASE(&w.list);
	VEC_RELEASE(&releases.list);
}

static void add_called_segment(struct reading *rd, struct holes *h, uint32_t thread, uint64_t sid, int64_t start_ns,
			       int64_t end_ns, enum trace_state state, uint32_t caller)
{
	uint64_t tid = rd->raw.threads.items[thread].tid;

	while (h->at < h->list.cnt && h->list.items[h->at].end_ns <= start_ns)
		h->at++;
	for (size_t i = h->at; i < h->list.cnt && h->list.items[i].start_ns < end_ns; i++) {
		if (start_ns < h->list.items[i].start_ns)
			VEC_ADD(&rd->t->segments, (struct segment){ tid, sid, start_ns,
				h->list.items[i].start_ns, state, caller });
		if (start_ns < h->list.items[i].end_ns)
			start_ns = h->list.items[i].end_ns;
	}
	if (start_ns < end_ns)
		VEC_ADD(&rd->t->segments, (struct segment){ tid, sid, start_ns, end_ns, state, caller });
}

static void add_segment(struct reading *rd, struct holes *h, uint32_t thread, uint64_t sid, int64_t start_ns,
			int64_t end_ns, enum trace_state state)
{
	add_called_segment(rd, h, thread, sid, start_ns, end_ns, state, 0);
}

/* Adds running time, except where the thread's accounts say that it did not run. */
static void add_told(struct reading *rd, struct holes *holes, uint32_t thread, uint64_t sid, int64_t start_ns,
		     int64_t end_ns)
{
	struct spans none = { .cnt = 0 }, *offs = rd->offs ? &rd->offs[thread] : &none;
	size_t at = partition_point(i, offs->cnt, offs->items[i].end_ns <= start_ns);

	for (; at < offs->cnt && offs->items[at].start_ns < end_ns; at++) {
		const struct span *off = &offs->items[at];
		int64_t off_end_ns = off->end_ns < end_ns ? off->end_ns : end_ns;

		add_segment(rd, holes, thread, sid, start_ns, off->start_ns, STATE_RUNNING);
		start_ns = off->start_ns > start_ns ? off->start_ns : start_ns;
		add_segment(rd, holes, thread, sid, start_ns, off_end_ns, off->state);
		start_ns = off_end_ns;
	}
	add_segment(rd, holes, thread, sid, start_ns, end_ns, STATE_RUNNING);
}

/* Adds running time, cut where the interval changes. */
static void add_running(struct reading *rd, struct holes *holes, uint32_t thread, size_t *change,
			int64_t start_ns, int64_t end_ns)
{
	const struct sid_history *line = &rd->histories[thread];
	uint64_t sid = sid_history_at(line, change, start_ns);

	while (*change < line->changes.cnt && line->changes.items[*change].ns < end_ns) {
		add_told(rd, holes, thread, sid, start_ns, line->changes.items[*change].ns);
		start_ns = line->changes.items[*change].ns;
		sid = line->changes.items[*change].sid;
		++*change;
	}
	add_told(rd, holes, thread, sid, start_ns, end_ns);
}

/* The waker of waits[0], the outermost, or the latest waker of the cnt - 1 inside it.  If a thread released the
 * outermost, a time-out or a peer outside (a wait that polls) is not what ended it. */
static const struct wait *latest_woken(const struct wait *waits, size_t cnt)
{
	const struct wait *latest = NULL;

	for (size_t i = 0; i < cnt; i++)
		if (waits[i].waker && waits[i].woken_ns > waits[0].start_ns &&
		    waits[i].woken_ns <= waits[0].end_ns &&
		    (!latest || waits[i].woken_ns > latest->woken_ns) &&
		    !(latest == waits && (waits[i].waker == WAKER_TIME_OUT || waker_is_outside(waits[i].waker))))
			latest = &waits[i];
	return latest;
}

/* When the thread could run again after a wait, by its accounts; the wait's end: they do not say. */
static int64_t ready_ns(const struct reading *rd, uint32_t thread, int64_t start_ns, int64_t end_ns)
{
	const struct spans *offs = rd->offs ? &rd->offs[thread] : NULL;
	size_t at = offs ? partition_point(i, offs->wake_cnt, offs->wakes[i].end_ns < end_ns) : 0;
	int64_t ns = offs && at < offs->wake_cnt && offs->wakes[at].end_ns == end_ns ? offs->wakes[at].ready_ns : end_ns;

	return ns > start_ns ? ns : end_ns;
}

/* The thread that the waker's number means, or TID_NOBODY. */
static uint64_t tid_of_waker(struct reading *rd, uint32_t thread, const struct wait *latest)
{
	const struct raw_thread *self = &rd->raw.threads.items[thread], *waker;

	if (!latest)
		return TID_NOBODY;
	if (latest->waker == WAKER_TIME_OUT)
		return TID_TIMER;
	waker = find_waker(&rd->raw, latest->waker, latest->woken_ns);
	if (waker == self || (!waker && !(latest->waker & 1)))
		return TID_NOBODY;
	return waker ? waker->tid : latest->waker >> 1;
}

static void add_wakeup(struct reading *rd, uint32_t thread, const struct wait *waits, size_t cnt)
{
	const struct wait *latest = latest_woken(waits, cnt);
	uint64_t waker = tid_of_waker(rd, thread, latest);
	int64_t ready = ready_ns(rd, thread, waits[0].start_ns, waits[0].end_ns);

	if (waker != TID_NOBODY && latest->woken_ns < ready)
		ready = latest->woken_ns;
	if (waker != TID_NOBODY || ready < waits[0].end_ns)
		VEC_ADD(&rd->t->wakeups, (struct wakeup){ rd->raw.threads.items[thread].tid, waker, ready });
}

/* Adds the outermost wait, cut by the holders of the lock; add_wakeup() adds the wake-up of the last part. */
static void add_wait(struct reading *rd, struct holes *holes, const struct releases *releases, uint32_t thread,
		     uint64_t sid, const struct wait *w)
{
	uint64_t tid = rd->raw.threads.items[thread].tid;
	const struct raw_thread *waker = find_waker(&rd->raw, w->waker, w->woken_ns);
	int64_t start_ns = w->start_ns;
	struct held held[HELD_MOST];
	size_t cnt = 0;

	if (w->state == STATE_LOCK && w->waker)
		cnt = holds_during(releases, &(struct lock_wait){ w->object, w->start_ns, w->woken_ns, thread,
				   waker ? (uint32_t)(waker - rd->raw.threads.items) : UINT32_MAX }, held);
	for (size_t i = 0; i < cnt; i++) {
		add_called_segment(rd, holes, thread, sid, start_ns, held[i].since_ns, w->state, w->caller);
		start_ns = held[i].since_ns;
		if (i + 1 < cnt && held[i].thread != HELD_UNKNOWN)
			VEC_ADD(&rd->t->wakeups, (struct wakeup){ tid,
				rd->raw.threads.items[held[i].thread].tid, held[i].until_ns });
	}
	add_called_segment(rd, holes, thread, sid, start_ns, w->end_ns, w->state, w->caller);
}

/* Whether the thread turned to an interval within the wait, and back to what it worked on before, as it does only in the handler of a
 * signal.  from: index of the first change to look at; *ret_from, *ret_until: indexes of the two changes. */
static bool find_handler(const struct sid_history *line, const struct wait *w, uint64_t sid, size_t from, size_t *ret_from, size_t *ret_until)
{
	const struct sid_change *c = line->changes.items;

	for (; from < line->changes.cnt && c[from].ns < w->end_ns; from++)
		if (c[from].ns > w->start_ns && c[from].sid != sid && c[from].sid != SID_NONE)
			break;
	for (size_t i = from; i < line->changes.cnt && c[i].ns < w->end_ns; i++)
		if (c[i].sid == sid && c[i].ns > c[from].ns) {
			*ret_from = from;
			*ret_until = i;
			return true;
		}
	return false;
}

static void add_stretch(struct making *m, int64_t start_ns, int64_t end_ns, const struct wait *waits, size_t cnt, unsigned depth);

/* The first of the waits that starts at that time or later. */
static size_t wait_from(const struct wait *waits, size_t cnt, int64_t ns)
{
	return partition_point(i, cnt, waits[i].start_ns < ns);
}

static void add_piece(struct making *m, uint64_t sid, const struct wait *piece, const struct wait *waits, size_t cnt)
{
	if (piece->start_ns >= piece->end_ns)
		return;
	add_wait(m->rd, m->holes, m->releases, m->thread, sid, piece);
	if (cnt)
		add_wakeup(m->rd, m->thread, waits, cnt);
	VEC_ADD(&m->rd->histories[m->thread].waits, (struct blocked){ piece->start_ns, piece->end_ns });
}

/* The later of ns and the end of the last wait: in a damaged trace a wait may begin in the handler and outlast it. */
static int64_t end_of_waits(const struct sid_history *line, int64_t ns)
{
	int64_t last_ns = line->waits.cnt ? line->waits.items[line->waits.cnt - 1].end_ns : ns;

	return last_ns > ns ? last_ns : ns;
}

enum { HANDLERS_MOST = 16 };		/* inside each other */

/* The outermost wait, waits[0], with those inside it. */
static void add_outermost(struct making *m, const struct wait *waits, size_t cnt, unsigned depth)
{
	const struct sid_history *line = &m->rd->histories[m->thread];
	uint64_t sid = sid_history_at(line, &m->change, waits[0].start_ns);
	struct wait rest = waits[0];
	size_t from, until;

	while (depth < HANDLERS_MOST && rest.state != STATE_QUEUE && find_handler(line, &rest, sid, m->change, &from, &until)) {
		int64_t begin_ns = line->changes.items[from].ns, end_ns = line->changes.items[until].ns;
		size_t first = wait_from(waits + 1, cnt - 1, begin_ns) + 1, after = wait_from(waits + 1, cnt - 1, end_ns) + 1;
		struct wait piece = rest;

		piece.end_ns = begin_ns;
		piece.waker = 0;
		add_piece(m, sid, &piece, NULL, 0);
		add_stretch(m, begin_ns, end_ns, waits + first, after - first, depth + 1);
		rest.start_ns = end_of_waits(line, end_ns);
	}
	if (rest.start_ns == waits[0].start_ns)
		add_piece(m, sid, &rest, waits, cnt);
	else
		add_piece(m, sid, &rest, &rest, 1);
}

static void add_stretch(struct making *m, int64_t start_ns, int64_t end_ns, const struct wait *waits, size_t cnt, unsigned depth)
{
	for (size_t i = 0, inside; i < cnt; i += inside) {
		for (inside = 1; i + inside < cnt; inside++)
			if (waits[i + inside].start_ns >= waits[i].end_ns)
				break;
		add_running(m->rd, m->holes, m->thread, &m->change, start_ns, waits[i].start_ns);
		add_outermost(m, waits + i, inside, depth);
		start_ns = waits[i].end_ns;
	}
	add_running(m->rd, m->holes, m->thread, &m->change, start_ns, end_ns);
}

static void add_line(struct making *m, const struct wait *waits, size_t cnt)
{
	const struct raw_thread *t = &m->rd->raw.threads.items[m->thread];
	int64_t last_ns = t->last_ns < m->rd->until_ns ? t->last_ns : m->rd->until_ns;

	add_stretch(m, t->first_ns, last_ns, waits, cnt, 0);
}
