/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unfold.c - explains a wait: what its waker did meanwhile, and which threads that one waited for.
 *
 * A cursor as in critical_path.c, on a stack of windows, each remembering where a blocked thread goes on:
 *
 *	A waits for B [20,50]; B runs [0,30], waits for C [30,45], runs [45,50]; C runs [0,45]
 *	cursor B 50	B [45,50] running, depth 1
 *	cursor B 45	B is blocked; woken at 45 by C: explain [30,45) on C, then back to B at 30
 *	cursor C 45	C [30,45] running, depth 2; the window is passed
 *	cursor B 30	B [20,30] running, depth 1; A's wait is passed
 *
 * On a waker's thread every segment counts, whichever interval it was for: the wait depended on it. A wake-up later
 * than the cursor is never followed, so that a window lies inside what is left to explain.  A waker that itself waits
 * for a device, or for a thread without records, is charged with its own wait: where it waited says more than how it
 * was woken (a holder that sleeps is not a timer).  A timer and a peer need no records: they are what the wait is for, until it ends.
 * The walk terminates: a step either passes time, or opens a window for a wake-up that is not being explained yet.
 */
#include "analysis/path/timeline.h"

#include "base/banned.h"

struct window {				/* being explained on another thread */
	uint64_t tid;			/* the blocked thread */
	uint32_t thread;
	size_t segment;			/* its wait */
	int64_t start_ns;		/* where it goes on, back in time */
	int64_t outer_following_ns;	/* what following_ns[segment] was */
};

struct walk {
	const struct timeline *tl;
	const struct piece *folded;
	pieces *out;			/* backward, until the end */
	VEC(struct window) windows;
	uint64_t tid;			/* the cursor */
	uint32_t thread;
	int64_t at_ns;
};

static void step(struct walk *w, int64_t floor_ns);

/* The thread is blocked in that segment; continues with its waker. */
static void open_window(struct walk *w, size_t segment, int64_t start_ns, const struct wakeup *k)
{
	struct window window = {
		.tid = w->tid, .thread = w->thread, .segment = segment, .start_ns = start_ns,
		.outer_following_ns = w->tl->following_ns[segment],
	};

	w->tl->following_ns[segment] = k->time_ns;
	VEC_ADD(&w->windows, window);
	w->tid = k->waker_tid;
	w->thread = timeline_thread(w->tl, k->waker_tid);
	w->at_ns = k->time_ns;
}

static void close_window(struct walk *w)
{
	const struct window *top = &w->windows.items[--w->windows.cnt];

	w->tl->following_ns[top->segment] = top->outer_following_ns;
	w->tid = top->tid;
	w->thread = top->thread;
	w->at_ns = top->start_ns;
}

/* Passes [from_ns, cursor) as one piece. */
static struct piece *emit(struct walk *w, int64_t from_ns, enum trace_state state)
{
	int64_t end_ns = w->at_ns;
	struct piece *p;

	w->at_ns = from_ns;
	if (from_ns >= end_ns)
		return NULL;
	p = VEC_EXTEND(w->out);
	p->tid = w->tid;
	p->owner_tid = w->folded->tid;
	p->start_ns = from_ns;
	p->end_ns = end_ns;
	p->depth = (uint32_t)w->windows.cnt;
	p->state = state;
	p->wait = w->folded->wait;
	p->meanwhile = STATE_QUEUE;
	return p;
}

static bool unfold_wait(const struct timeline *tl, const struct piece *p, size_t limit, pieces *out)
{
	const struct wakeup *k = &tl->trace->wakeups.items[p->wakeup];
	struct walk w = { .tl = tl, .folded = p, .out = out, .tid = p->tid };
	size_t first = out->cnt, steps = 0;

	w.thread = timeline_thread(tl, p->tid);
	open_window(&w, timeline_segment_before(tl, w.thread, k->time_ns), p->start_ns, k);
	while (w.windows.cnt > 0) {
		int64_t floor_ns = w.windows.items[w.windows.cnt - 1].start_ns;

		if (w.at_ns <= floor_ns || steps > limit)
			close_window(&w);
		else
			step(&w, floor_ns);
		steps++;
	}
	VEC_RELEASE(&w.windows);
	pieces_reverse(out, first);
	return steps <= limit;
}

/* [start_ns, cursor) of a wait: its wake-up delay, then a window on the waker's thread. */
static void explain_wait(struct walk *w, size_t segment, int64_t start_ns)
{
	const struct segment *s = &w->tl->segments[segment];
	const struct wakeup *k = timeline_wakeup(w->tl, w->thread, s->start_ns, w->at_ns);
	struct piece *p;

	if (!k || w->tl->following_ns[segment] == k->time_ns) {
		emit(w, start_ns, s->state);
		return;
	}
	emit(w, k->time_ns > start_ns ? k->time_ns : start_ns, STATE_WAKEUP);
	if (k->time_ns <= start_ns)
		return;
	if (timeline_explains(w->tl, k)) {
		open_window(w, segment, start_ns, k);
		return;
	}
	p = emit(w, start_ns, s->state);
	if (p)
		p->device = timeline_kind(w->tl, k->waker_tid);
}

/* Passes the last segment before the cursor, or the hole after it, down to the floor. */
static void step(struct walk *w, int64_t floor_ns)
{
	size_t segment = timeline_segment_before(w->tl, w->thread, w->at_ns);
	const struct segment *s = segment == SEGMENT_NONE ? NULL : &w->tl->segments[segment];
	int64_t start_ns = floor_ns;

	if (!s || s->end_ns < w->at_ns) {
		emit(w, s && s->end_ns > floor_ns ? s->end_ns : floor_ns,
		     timeline_is_outside(w->tl, w->tid) ? STATE_RUNNING : STATE_OTHER);
		return;
	}
	if (s->start_ns > floor_ns)
		start_ns = s->start_ns;
	if (state_has_waker(s->state))
		explain_wait(w, segment, start_ns);
	else
		emit(w, start_ns, s->state);
}

/* More than limit + 1 of the thread's segments begin in the piece: it would take more than limit steps. */
static bool has_many_segments(const struct timeline *tl, uint32_t thread, const struct piece *p, size_t limit)
{
	size_t last = limit < SIZE_MAX ? timeline_segment_before(tl, thread, p->end_ns) : SEGMENT_NONE;

	return last != SEGMENT_NONE && last - tl->threads.items[thread].segments.first > limit &&
	       tl->segments[last - limit - 1].start_ns >= p->start_ns;
}

/* One piece a segment, or hole, of the thread meanwhile. */
static bool unfold_others(const struct timeline *tl, const struct piece *p, size_t limit,
			  pieces *out)
{
	uint32_t thread = timeline_thread(tl, p->tid);
	size_t first = out->cnt;
	int64_t end_ns = p->end_ns;

	if (has_many_segments(tl, thread, p, limit))
		return false;
	while (end_ns > p->start_ns) {
		size_t i = timeline_segment_before(tl, thread, end_ns);
		const struct segment *s = i == SEGMENT_NONE ? NULL : &tl->segments[i];
		bool is_hole = !s || s->end_ns < end_ns;
		int64_t from_ns = !s ? p->start_ns : is_hole ? s->end_ns : s->start_ns;
		struct piece *part;

		if (out->cnt - first > limit)
			return false;
		VEC_ADD(out, *p);
		part = &out->items[out->cnt - 1];
		part->fold = FOLD_NONE;
		part->start_ns = from_ns > p->start_ns ? from_ns : p->start_ns;
		part->end_ns = end_ns;
		part->meanwhile = is_hole ? STATE_OTHER : s->state;
		if (tl->trace->look.is_one)
			part->state = part->wait = others_state(p->wait, is_hole ? NULL : s);
		end_ns = part->start_ns;
	}
	pieces_reverse(out, first);
	return true;
}

static bool few_calls(const struct timeline *tl, const pieces *out, size_t first, size_t limit)
{
	size_t calls = 0;

	for (size_t i = first; i < out->cnt && calls <= limit; i++)
		calls += timeline_started(tl, out->items[i].tid, out->items[i].start_ns,
					  out->items[i].end_ns).cnt;
	return calls <= limit;
}

bool unfold(const struct timeline *tl, const struct piece *p, size_t limit, pieces *out)
{
	size_t first = out->cnt;
	bool done = true;

	if (p->fold == FOLD_WAIT)
		done = unfold_wait(tl, p, limit, out);
	else if (p->fold == FOLD_OTHERS)
		done = unfold_others(tl, p, limit, out);
	else
		VEC_ADD(out, *p);
	if (done && p->fold != FOLD_NONE && limit < SIZE_MAX)
		done = few_calls(tl, out, first, limit);
	if (!done)
		out->cnt = first;
	return done;
}
