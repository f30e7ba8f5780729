/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * critical_path.c - the corrected Algorithm 2 of the paper (3.3.3), without recursion.
 *
 * A cursor, (thread, time), starts at the interval's end and only ever moves back in time;
 * every stretch it passes becomes a piece.  Blocked stretches are explained by what the waker
 * did meanwhile, on a stack of windows, each remembering where the blocked thread goes on:
 *
 *	A runs [10,20], waits for a lock [20,50], runs [50,70]; B wakes A at 50; interval [10,70]
 *	cursor A 70	A [50,70] running
 *	cursor A 50	A is blocked; woken at 50 by B: explain [20,50) on B, then back to A at 20
 *	cursor B 50	B [20,50] running, depth 1; the window is passed
 *	cursor A 20	A [10,20] running; the start is reached
 *
 * Rules where the paper is silent (CONTRACT section 8):
 *  - The wake-up of a wait is the latest in (its start, min(its end, cursor)].  From the wake-up
 *    to the cursor the thread could run and did not: a "wakeup" piece.  Never a later one, so
 *    that the window of an explanation is inside what is left to explain.
 *  - `queue` and `runnable` have no waker.  Without a known waker a wait keeps its own class.
 *  - On the interval's own thread (depth 0) a segment that works for others is a `queue` piece;
 *    no wake-up in it is followed; a hole between segments is `other`.  On a waker's thread any
 *    segment counts, whoever it worked for: that is what the interval waited for.
 *  - A creation edge into the thread of depth 0 is followed when the cursor comes down to the
 *    picking up and what was just passed was the interval's own: a `queue` piece on the thread
 *    that picks up, then on with the creator.  Each edge once in a walk; the latest first.
 *
 * The walk ends: a step either passes time, or opens a window for a wake-up that is not being
 * explained yet, or follows an edge for the first time.
 */
#include "analysis/timeline.h"

#include <errno.h>
#include "base/banned.h"

struct window {				/* being explained on another thread */
	uint64_t tid;			/* who is blocked */
	uint32_t thread;
	size_t segment;			/* its wait */
	int64_t start_ns;		/* where it goes on, back in time */
	int64_t outer_following_ns;	/* what following_ns[segment] was */
};

struct walk {
	const struct timeline *tl;
	const struct interval *iv;
	pieces *out;			/* backward, until the end */
	VEC(struct window) windows;
	uint64_t tid;			/* the cursor */
	uint32_t thread;
	int64_t at_ns;
	uint64_t owner_tid;		/* see struct piece; meaningful at depth > 0 */
	enum trace_state wait;
	bool own;			/* what was just passed was the interval's own */
};

static bool follow_creation(struct walk *w);
static void step(struct walk *w, int64_t floor_ns);
static void close_window(struct walk *w);
static int check_pieces(const struct interval *iv, const pieces *out);

static void move_to(struct walk *w, uint64_t tid, int64_t at_ns)
{
	w->tid = tid;
	w->thread = timeline_thread(w->tl, tid);
	w->at_ns = at_ns;
}

static void reverse(pieces *out)
{
	for (size_t i = 0; i < out->cnt / 2; i++) {
		struct piece p = out->items[i];

		out->items[i] = out->items[out->cnt - 1 - i];
		out->items[out->cnt - 1 - i] = p;
	}
}

int critical_path(const struct timeline *tl, const struct interval *iv, pieces *out)
{
	struct walk w = { .tl = tl, .iv = iv, .out = out, .own = true };

	out->cnt = 0;
	++*tl->walk_no;
	move_to(&w, iv->end_tid, iv->end_ns);
	for (;;) {
		int64_t floor_ns = iv->start_ns;

		if (w.windows.cnt)
			floor_ns = w.windows.items[w.windows.cnt - 1].start_ns;
		if (w.at_ns <= floor_ns) {
			if (!w.windows.cnt)
				break;
			close_window(&w);
		} else if (w.windows.cnt || !w.own || !follow_creation(&w)) {
			step(&w, floor_ns);
		}
	}
	VEC_RELEASE(&w.windows);
	reverse(out);
	return check_pieces(iv, out);
}

/* Passes [from_ns, cursor) as one piece. */
static void emit(struct walk *w, int64_t from_ns, enum trace_state state)
{
	struct piece p = {
		.tid = w->tid, .owner_tid = w->owner_tid, .start_ns = from_ns, .end_ns = w->at_ns,
		.state = state, .wait = w->wait, .meanwhile = STATE_QUEUE,
		.depth = (uint32_t)w->windows.cnt,
	};

	if (p.depth == 0) {
		p.owner_tid = w->tid;
		p.wait = state;
	}
	if (p.start_ns < p.end_ns)
		VEC_ADD(w->out, p);
	w->at_ns = from_ns;
}

/* The same where the thread works for others, in the given state. */
static void emit_for_others(struct walk *w, int64_t from_ns, enum trace_state state)
{
	size_t before = w->out->cnt;

	emit(w, from_ns, STATE_QUEUE);
	if (w->out->cnt > before)
		w->out->items[before].meanwhile = state;
}

/* The latest creation in the first cnt of the thread that this walk may still follow. */
static const struct creation *latest_unused(const struct walk *w, size_t cnt, int64_t after_ns)
{
	const struct creation *items = w->tl->trace->creations.items;
	size_t first;

	if (cnt == 0)
		return NULL;
	first = w->tl->threads.items[w->thread].creations.first;
	for (size_t i = first + cnt; i-- > first && items[i].time2_ns > after_ns; )
		if (items[i].time_ns <= items[i].time2_ns &&
		    w->tl->used_in_walk[i] != *w->tl->walk_no)
			return &items[i];
	return NULL;
}

static bool follow_creation(struct walk *w)
{
	size_t cnt = timeline_creations_until(w->tl, w->thread, w->at_ns);
	const struct creation *c = latest_unused(w, cnt, w->at_ns - 1);
	int64_t from_ns;

	if (!c)
		return false;
	w->tl->used_in_walk[c - w->tl->trace->creations.items] = *w->tl->walk_no;
	from_ns = c->time_ns > w->iv->start_ns ? c->time_ns : w->iv->start_ns;
	emit(w, from_ns, STATE_QUEUE);
	move_to(w, c->tid, from_ns);
	return true;
}

static bool has_waker(enum trace_state state)
{
	return state != STATE_RUNNING && state != STATE_QUEUE && state != STATE_RUNNABLE;
}

/* [start_ns, cursor) of a wait: its wake-up delay, then a window on the waker's thread. */
static void explain_wait(struct walk *w, size_t segment, int64_t start_ns)
{
	const struct segment *s = &w->tl->segments[segment];
	const struct wakeup *k = timeline_wakeup(w->tl, w->thread, s->start_ns, w->at_ns);
	struct window window = {
		.tid = w->tid, .thread = w->thread, .segment = segment, .start_ns = start_ns,
		.outer_following_ns = w->tl->following_ns[segment],
	};

	if (!k || w->tl->following_ns[segment] == k->time_ns) {
		emit(w, start_ns, s->state);
		return;
	}
	emit(w, k->time_ns > start_ns ? k->time_ns : start_ns, STATE_WAKEUP);
	if (k->time_ns <= start_ns)
		return;
	if (!w->windows.cnt) {
		w->owner_tid = w->tid;
		w->wait = s->state;
	}
	w->tl->following_ns[segment] = k->time_ns;
	VEC_ADD(&w->windows, window);
	move_to(w, k->waker_tid, k->time_ns);
}

static void close_window(struct walk *w)
{
	const struct window *top = &w->windows.items[--w->windows.cnt];

	w->tl->following_ns[top->segment] = top->outer_following_ns;
	w->tid = top->tid;
	w->thread = top->thread;
	w->at_ns = top->start_ns;
}

/* At depth 0 a piece also ends where the interval was picked up by this thread. */
static int64_t stop_at_creation(const struct walk *w, int64_t start_ns)
{
	size_t cnt = timeline_creations_until(w->tl, w->thread, w->at_ns - 1);
	const struct creation *c = latest_unused(w, cnt, start_ns);

	return c ? c->time2_ns : start_ns;
}

/* Passes the last segment before the cursor, or the hole after it, down to the floor. */
static void step(struct walk *w, int64_t floor_ns)
{
	size_t segment = timeline_segment_before(w->tl, w->thread, w->at_ns);
	const struct segment *s = segment == SEGMENT_NONE ? NULL : &w->tl->segments[segment];
	int64_t start_ns = floor_ns;

	if (!s || s->end_ns < w->at_ns) {
		if (s && s->end_ns > floor_ns)
			start_ns = s->end_ns;
		emit(w, start_ns, STATE_OTHER);
		w->own = w->own && w->windows.cnt;
		return;
	}
	if (s->start_ns > floor_ns)
		start_ns = s->start_ns;
	if (!w->windows.cnt) {
		w->own = s->sid == w->iv->sid;
		if (!w->own) {
			emit_for_others(w, start_ns, s->state);
			return;
		}
		start_ns = stop_at_creation(w, start_ns);
	}
	if (has_waker(s->state))
		explain_wait(w, segment, start_ns);
	else
		emit(w, start_ns, s->state);
}

/* Disjoint, in order, covering, and hence summing to the latency exactly. */
static int check_pieces(const struct interval *iv, const pieces *out)
{
	int64_t at_ns = iv->start_ns;

	for (size_t i = 0; i < out->cnt; i++) {
		if (out->items[i].start_ns != at_ns || out->items[i].end_ns <= at_ns)
			return -EBADMSG;
		at_ns = out->items[i].end_ns;
	}
	return at_ns == iv->end_ns ? 0 : -EBADMSG;
}
