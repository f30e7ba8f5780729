/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * oracle_path.c - the critical path by recursion, one nanosecond at a time.
 *
 * Example: [3,4) of a thread that runs in [0,10] is running; of one blocked in [0,10] and woken
 * at 7 by B it is what B does in [3,4).
 */
#include "tests/oracle/oracle.h"

#include <string.h>
#include "base/banned.h"

struct following {			/* a wake-up being explained, and those around it */
	const struct segment *wait;
	int64_t time_ns;
	const struct following *outer;
};

struct context {
	const struct trace *t;
	struct tick *ticks;
	uint64_t owner_tid;
	enum trace_state wait;
};

static const struct segment *segment_at(const struct trace *t, uint64_t tid, int64_t ns)
{
	for (size_t i = 0; i < t->segments.cnt; i++) {
		const struct segment *s = &t->segments.items[i];

		if (s->tid == tid && s->start_ns <= ns && ns < s->end_ns)
			return s;
	}
	return NULL;
}

/* The latest wake-up in (start of the wait, until]; of several at once the highest waker. */
static const struct wakeup *wakeup_of(const struct trace *t, const struct segment *s, int64_t until)
{
	const struct wakeup *best = NULL;

	for (size_t i = 0; i < t->wakeups.cnt; i++) {
		const struct wakeup *w = &t->wakeups.items[i];

		if (w->tid != s->tid || w->waker_tid == w->tid || w->time_ns <= s->start_ns || w->time_ns > until)
			continue;
		if (!best || w->time_ns > best->time_ns ||
		    (w->time_ns == best->time_ns && w->waker_tid > best->waker_tid))
			best = w;
	}
	return best;
}

static bool never_woken(enum trace_state state)
{
	return state == STATE_RUNNING || state == STATE_QUEUE || state == STATE_RUNNABLE;
}

static void put(struct context *c, uint64_t tid, int64_t ns, enum trace_state state, uint32_t depth)
{
	struct tick tick = { tid, c->owner_tid, state, c->wait, depth, KIND_THREAD, STATE_QUEUE, 0 };

	if (depth == 0) {
		tick.owner_tid = tid;
		tick.wait = state;
	}
	c->ticks[ns] = tick;
}

static void explain(struct context *c, uint64_t tid, int64_t from, int64_t to, uint32_t depth,
		    const struct following *outer);

static bool is_followed(const struct following *f, const struct segment *s, int64_t time_ns)
{
	for (; f; f = f->outer)
		if (f->wait == s && f->time_ns == time_ns)
			return true;
	return false;
}

static enum thread_kind kind_of(const struct trace *t, uint64_t tid)
{
	for (size_t i = 0; i < t->threads.cnt; i++)
		if (t->threads.items[i].tid == tid && t->threads.items[i].kind != KIND_THREAD)
			return t->threads.items[i].kind;
	return KIND_THREAD;
}

static bool is_outside(const struct trace *t, uint64_t tid)
{
	return kind_of(t, tid) == KIND_TIMER || kind_of(t, tid) == KIND_PEER;
}

/* [from, to) of a wait. */
static void explain_wait(struct context *c, const struct segment *s, int64_t from, int64_t to,
			 uint32_t depth, const struct following *outer)
{
	const struct wakeup *w = wakeup_of(c->t, s, to);
	struct following here = { s, w ? w->time_ns : 0, outer };

	if (!w || is_followed(outer, s, w->time_ns)) {
		for (int64_t ns = from; ns < to; ns++)
			put(c, s->tid, ns, s->state, depth);
		return;
	}
	for (int64_t ns = from; ns < to; ns++)
		if (ns >= w->time_ns)
			put(c, s->tid, ns, STATE_WAKEUP, depth);
	if (depth == 0) {
		c->owner_tid = s->tid;
		c->wait = s->state;
	} else if (kind_of(c->t, w->waker_tid) != KIND_THREAD || !segment_at(c->t, w->waker_tid, w->time_ns - 1)) {
		for (int64_t ns = from; ns < to && ns < w->time_ns; ns++) {
			put(c, s->tid, ns, s->state, depth);
			c->ticks[ns].device = kind_of(c->t, w->waker_tid);
		}
		return;
	}
	explain(c, w->waker_tid, from, w->time_ns, depth + 1, &here);
}

static void explain(struct context *c, uint64_t tid, int64_t from, int64_t to, uint32_t depth,
		    const struct following *outer)
{
	while (to > from) {
		const struct segment *s = segment_at(c->t, tid, to - 1);

		if (s && !never_woken(s->state)) {
			int64_t start = s->start_ns > from ? s->start_ns : from;

			explain_wait(c, s, start, to, depth, outer);
			to = start;
			continue;
		}
		to--;
		put(c, tid, to, s ? s->state : is_outside(c->t, tid) ? STATE_RUNNING : STATE_OTHER, depth);
	}
}

/* The creation into tid picked up last in (after, until], not used yet; then created last. */
static int creation_into(const struct trace *t, uint64_t tid, int64_t after, int64_t until,
			 const bool *used)
{
	int best = -1;

	for (size_t i = 0; i < t->creations.cnt; i++) {
		const struct creation *c = &t->creations.items[i], *b;

		if (c->tid2 != tid || c->time2_ns <= after || c->time2_ns > until || used[i] ||
		    c->time_ns > c->time2_ns)
			continue;
		b = best < 0 ? NULL : &t->creations.items[best];
		if (!b || c->time2_ns > b->time2_ns ||
		    (c->time2_ns == b->time2_ns && c->time_ns > b->time_ns) ||
		    (c->time2_ns == b->time2_ns && c->time_ns == b->time_ns && c->tid >= b->tid))
			best = (int)i;
	}
	return best;
}

/* [*from, at) of the thread is others', back to its own segment, a hole or the start: what ended the last wait for files in there. */
static const struct wakeup *taking_up(const struct trace *t, const struct interval *iv, uint64_t tid, int64_t at, int64_t *ret_from)
{
	int64_t from = at;
	const struct segment *s;

	while (from > iv->start_ns && (s = segment_at(t, tid, from - 1)) && s->sid != iv->sid)
		from--;
	*ret_from = from;
	for (int64_t ns = at; ns > from; ns--) {
		const struct wakeup *w;

		s = segment_at(t, tid, ns - 1);
		w = s->state == STATE_IO ? wakeup_of(t, s, ns) : NULL;
		if (w && w->time_ns == ns)
			return w;
	}
	return NULL;
}

/* Others' ticks [.., at): of the last wait for files, if a thread of the run ended it, what that one did. */
static void pass_others(struct context *c, const struct interval *iv, uint64_t tid, int64_t at, uint64_t *outside)
{
	int64_t from;
	const struct wakeup *w = taking_up(c->t, iv, tid, at, &from);
	bool is_threads = w && kind_of(c->t, w->waker_tid) == KIND_THREAD && segment_at(c->t, w->waker_tid, w->time_ns - 1);
	const struct segment *wait = is_threads ? segment_at(c->t, tid, w->time_ns - 1) : NULL;
	int64_t wait_from = wait && wait->start_ns > from ? wait->start_ns : from;

	if (w)
		*outside = is_outside(c->t, w->waker_tid) ? w->waker_tid : 0;
	for (int64_t ns = from; ns < at; ns++) {
		if (wait && ns >= wait_from && ns < w->time_ns)
			continue;
		put(c, tid, ns, STATE_QUEUE, 0);
		c->ticks[ns].meanwhile = segment_at(c->t, tid, ns)->state;
		c->ticks[ns].taken_up_tid = w && is_outside(c->t, w->waker_tid) ? w->waker_tid : 0;
	}
	if (!wait)
		return;
	c->owner_tid = tid;
	c->wait = STATE_QUEUE;
	explain(c, w->waker_tid, wait_from, w->time_ns, 1, &(struct following){ wait, w->time_ns, NULL });
}

/* [from, to) of a wait of the interval's own that the loop left for others' work. */
static void put_loops(struct context *c, uint64_t tid, int64_t from, int64_t to, uint64_t outside)
{
	for (int64_t ns = from; ns < to; ns++) {
		put(c, tid, ns, STATE_QUEUE, 0);
		c->ticks[ns].meanwhile = STATE_IO;
		c->ticks[ns].taken_up_tid = outside;
	}
}

void oracle_path(const struct trace *t, const struct interval *iv, struct tick *ticks)
{
	struct context c = { .t = t, .ticks = ticks };
	_cleanup_(freep) bool *used = xcalloc(t->creations.cnt + 1, sizeof(*used));
	uint64_t tid = iv->end_tid;
	int64_t at = iv->end_ns;
	bool own = true;
	int64_t others_at = -1;		/* others' ticks begin there, and were just looked at */
	uint64_t outside = 0;		/* what ended the last wait for files so far, if it is no thread */

	while (at > iv->start_ns) {
		int edge = own ? creation_into(t, tid, at - 1, at, used) : -1;
		const struct segment *s;
		const struct wakeup *w;

		if (edge >= 0) {
			used[edge] = true;
			for (; at > iv->start_ns && at > t->creations.items[edge].time_ns; at--) {
				s = segment_at(t, tid, at - 1);
				put(&c, tid, at - 1, STATE_QUEUE, 0);
				ticks[at - 1].meanwhile = s ? s->state : STATE_OTHER;
			}
			tid = t->creations.items[edge].tid;
			others_at = -1;
			outside = 0;
			continue;
		}
		s = segment_at(t, tid, at - 1);
		own = s && s->sid == iv->sid;
		if (own && !never_woken(s->state)) {
			int64_t start = s->start_ns > iv->start_ns ? s->start_ns : iv->start_ns;

			edge = creation_into(t, tid, start, at - 1, used);
			if (edge >= 0)
				start = t->creations.items[edge].time2_ns;
			w = s->state == STATE_IO ? wakeup_of(t, s, at) : NULL;
			if (w && is_outside(t, w->waker_tid) && others_at == at) {
				put_loops(&c, tid, start, at, outside);
				others_at = at = start;
				continue;
			}
			if (s->state == STATE_IO)
				outside = w && is_outside(t, w->waker_tid) ? w->waker_tid : 0;
			explain_wait(&c, s, start, at, 0, NULL);
			at = start;
			continue;
		}
		if (s && !own) {
			pass_others(&c, iv, tid, at, &outside);
			while (at > iv->start_ns && (s = segment_at(t, tid, at - 1)) && s->sid != iv->sid)
				at--;
			others_at = at;
			continue;
		}
		at--;
		put(&c, tid, at, s ? s->state : STATE_OTHER, 0);
	}
}

size_t oracle_stack(const struct trace *t, uint64_t tid, int64_t ns,
		    uint32_t stack[ORACLE_STACK_MAX])
{
	size_t cnt = 0;

	for (size_t i = 0; i < t->invocations.cnt && cnt < ORACLE_STACK_MAX; i++) {
		const struct invocation *inv = &t->invocations.items[i];
		size_t at = cnt;

		if (inv->tid != tid || inv->start_ns > ns || inv->end_ns <= ns)
			continue;
		/* Outer ones start earlier, or end later, or came first. */
		for (; at > 0; at--) {
			const struct invocation *o = &t->invocations.items[stack[at - 1]];

			if (o->start_ns < inv->start_ns ||
			    (o->start_ns == inv->start_ns && o->end_ns > inv->end_ns) ||
			    (o->start_ns == inv->start_ns && o->end_ns == inv->end_ns &&
			     o->order < inv->order))
				break;
			stack[at] = stack[at - 1];
		}
		stack[at] = (uint32_t)i;
		cnt++;
	}
	return cnt;
}
