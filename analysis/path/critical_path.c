/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * critical_path.c - the corrected Algorithm 2 of the paper (3.3.3), on the interval's own threads.
 *
 * A cursor, (thread, time), starts at the interval's end and only ever moves back in time; every stretch it passes
 * becomes a piece.  A wait that has a waker is one folded piece, which unfold.c explains by what the waker did
 * meanwhile:
 *
 *	A runs [10,20], waits for a lock [20,50], runs [50,70]; B wakes A at 50; interval [10,70]
 *	cursor A 70	A [50,70] running
 *	cursor A 50	A is blocked; woken at 50 by B: [20,50] folded
 *	cursor A 20	A [10,20] running; the start is reached
 *	unfolded	A [10,20]  B [20,50] at depth 1  A [50,70]
 *
 * Rules where the paper is silent (vprof-formats(5), WAITS): - The wake-up of a wait is the latest in (its start,
 * min(its end, cursor)].  From the wake-up
 *    to the cursor the thread could run and did not: a "wakeup" piece.
 * - `queue` and `runnable` have no waker.  Without a known waker a wait keeps its own class. - On the interval's own
 * thread (depth 0) a segment that works for others is a `queue` piece;
 *    no wake-up in it is followed but that of its last wait for files, by which the interval was taken up
 *    again; a hole between segments is `other`.
 * - A creation edge into the thread of depth 0 is followed when the cursor comes down to the
 *    picking up and what was just passed was the interval's own: a `queue` piece on the thread
 *    that picks up, explained by what that thread did meanwhile; then on with the creator.  Each
 *    edge once in a walk; the latest first.
 *
 * The walk terminates: a step either passes time, or follows an edge for the first time.
 */
#include "analysis/path/timeline.h"

#include <errno.h>
#include "base/banned.h"

enum { WAKEUPS_LOOKED_AT = 64 };

struct walk {
	const struct timeline *tl;
	const struct interval *iv;
	pieces *out;			/* backward, until the end */
	uint64_t tid;			/* the cursor */
	uint32_t thread;
	int64_t at_ns;
	bool own;			/* the piece just passed was the interval's own */
	int64_t others_ns;		/* where the last stretch of others' work on this thread begins; = at_ns: it was just passed */
	uint64_t outside_tid;		/* the peer or timer that ended the last wait for files passed on this thread; 0: another */
};

static bool follow_creation(struct walk *w);
static void step(struct walk *w);
static int check_pieces(const struct interval *iv, const pieces *out);

static void move_to(struct walk *w, uint64_t tid, int64_t at_ns)
{
	w->tid = tid;
	w->thread = timeline_thread(w->tl, tid);
	w->at_ns = at_ns;
	w->others_ns = INT64_MIN;
	w->outside_tid = 0;
}

int folded_path(const struct timeline *tl, const struct interval *iv, pieces *out)
{
	struct walk w = { .tl = tl, .iv = iv, .out = out, .own = true };

	out->cnt = 0;
	++*tl->walk_no;
	move_to(&w, iv->end_tid, iv->end_ns);
	while (w.at_ns > iv->start_ns)
		if (!(w.own || tl->trace->look.is_one) || !follow_creation(&w))
			step(&w);
	pieces_reverse(out, 0);
	return check_pieces(iv, out);
}

int critical_path(const struct timeline *tl, const struct interval *iv, pieces *out)
{
	pieces folded = { NULL, 0, 0 };
	int r = folded_path(tl, iv, &folded);

	out->cnt = 0;
	for (size_t i = 0; r == 0 && i < folded.cnt; i++)
		unfold(tl, &folded.items[i], SIZE_MAX, out);
	VEC_RELEASE(&folded);
	return r ? r : check_pieces(iv, out);
}

/* Passes [from_ns, cursor) as one piece; NULL if it has no length. */
static struct piece *emit(struct walk *w, int64_t from_ns, enum trace_state state)
{
	int64_t end_ns = w->at_ns;
	struct piece *p;

	w->at_ns = from_ns;
	if (from_ns >= end_ns)
		return NULL;
	p = VEC_EXTEND(w->out);
	p->tid = p->owner_tid = w->tid;
	p->start_ns = from_ns;
	p->end_ns = end_ns;
	p->state = p->wait = state;
	p->meanwhile = STATE_QUEUE;
	return p;
}

/* The latest creation in the first cnt of the thread that this walk may still follow; among others' work only an answer's arrival. */
static inline const struct creation *latest_unused(const struct walk *w, size_t cnt, int64_t after_ns, bool own)
{
	const struct creation *items = w->tl->trace->creations.items;
	size_t first;

	if (cnt == 0)
		return NULL;
	first = w->tl->threads.items[w->thread].creations.first;
	for (size_t i = first + cnt; i-- > first && items[i].time2_ns > after_ns; )
		if (items[i].time_ns <= items[i].time2_ns && (!items[i].sid || items[i].sid == w->iv->sid) && (own || items[i].peer) &&
		    w->tl->used_in_walk[i] != *w->tl->walk_no)
			return &items[i];
	return NULL;
}

static bool follow_creation(struct walk *w)
{
	size_t cnt = timeline_creations_until(w->tl, w->thread, w->at_ns);
	const struct creation *c = latest_unused(w, cnt, w->at_ns - 1, w->own);
	struct piece *p;
	int64_t from_ns;

	if (!c)
		return false;
	w->tl->used_in_walk[c - w->tl->trace->creations.items] = *w->tl->walk_no;
	from_ns = c->time_ns > w->iv->start_ns ? c->time_ns : w->iv->start_ns;
	p = emit(w, from_ns, !c->sid || c->peer ? STATE_QUEUE : c->tid == c->tid2 ? STATE_ARRIVED : STATE_HANDED_OVER);
	if (p && c->peer) {
		p->meanwhile = STATE_IO;
		p->taken_up_tid = c->peer;
	} else if (p) {
		p->fold = FOLD_OTHERS;
	}
	move_to(w, c->tid, from_ns);
	return true;
}

static struct piece *emit_wait(struct walk *w, const struct segment *s, int64_t start_ns)
{
	struct piece *p = emit(w, start_ns, s->state);

	if (p)
		p->caller = s->caller;
	return p;
}

static uint64_t outside_of(const struct walk *w, const struct wakeup *k)
{
	return k && timeline_is_outside(w->tl, k->waker_tid) ? k->waker_tid : 0;
}

/* Passes [start_ns, cursor) of a wait: its wake-up delay, then the part that its waker explains. */
static void pass_wait(struct walk *w, const struct segment *s, int64_t start_ns)
{
	const struct wakeup *k = timeline_wakeup(w->tl, w->thread, s->start_ns, w->at_ns);
	struct piece *p;

	if (s->state == STATE_IO)
		w->outside_tid = outside_of(w, k);
	if (!k) {
		emit_wait(w, s, start_ns);
		return;
	}
	emit(w, k->time_ns > start_ns ? k->time_ns : start_ns, STATE_WAKEUP);
	p = emit_wait(w, s, start_ns);
	if (p && k->waker_tid != TID_NOBODY) {
		p->fold = FOLD_WAIT;
		p->wakeup = (size_t)(k - w->tl->trace->wakeups.items);
	}
}

/*
 * The wakeup that ended the thread's last wait for files in (start, end].  Waits of other kinds lie in between and are for others; if
 * there are many, only the last few are searched.
 */
static const struct wakeup *taking_up(const struct walk *w, int64_t start_ns, int64_t end_ns)
{
	for (unsigned int step = 0; step < WAKEUPS_LOOKED_AT; step++) {
		const struct wakeup *k = timeline_wakeup(w->tl, w->thread, start_ns, end_ns);
		size_t segment = k ? timeline_segment_before(w->tl, w->thread, k->time_ns) : SEGMENT_NONE;

		if (!k)
			return NULL;
		if (segment != SEGMENT_NONE && w->tl->segments[segment].state == STATE_IO && w->tl->segments[segment].end_ns >= k->time_ns)
			return k;
		end_ns = k->time_ns - 1;
	}
	return NULL;
}

static void emit_others(struct walk *w, int64_t start_ns)
{
	struct piece *p = emit(w, start_ns, STATE_QUEUE);

	if (p)
		p->fold = FOLD_OTHERS;
}

/* A thread of the run did what the interval waited for: that explains the wait that it ended, as one of the interval's own is explained. */
static void pass_handed_back(struct walk *w, int64_t start_ns, const struct wakeup *k)
{
	int64_t wait_ns = w->tl->segments[timeline_segment_before(w->tl, w->thread, k->time_ns)].start_ns;
	struct piece *p;

	emit_others(w, k->time_ns);
	p = emit(w, wait_ns > start_ns ? wait_ns : start_ns, STATE_QUEUE);
	if (p) {
		p->fold = FOLD_WAIT;
		p->wakeup = (size_t)(k - w->tl->trace->wakeups.items);
	}
	if (w->at_ns > start_ns)
		emit_others(w, start_ns);
}

/* A piece also ends where this thread picked the interval up, or an answer to it arrived; own: at depth 0 of its own. */
static int64_t stop_at_creation(const struct walk *w, int64_t start_ns, bool own)
{
	size_t cnt = timeline_creations_until(w->tl, w->thread, w->at_ns - 1);
	const struct creation *c = latest_unused(w, cnt, start_ns, own);

	return c ? c->time2_ns : start_ns;
}

/* The thread works for others, down to the interval's own segment, a hole or the start. */
static void pass_others(struct walk *w, size_t segment)
{
	size_t first = timeline_others_first(w->tl, w->thread, segment, w->iv->sid,
					     w->iv->start_ns);
	const struct segment *s = &w->tl->segments[first];
	int64_t start_ns = s->start_ns > w->iv->start_ns ? s->start_ns : w->iv->start_ns;
	bool is_look = w->tl->trace->look.is_one;	/* which knows what its threads do for others, and wait for nobody */
	const struct wakeup *k;
	struct piece *p;

	if (is_look)
		start_ns = stop_at_creation(w, start_ns, false);
	k = taking_up(w, start_ns, w->at_ns);
	if (k)
		w->outside_tid = outside_of(w, k);
	w->others_ns = start_ns;
	if (k && !is_look && timeline_explains(w->tl, k)) {
		pass_handed_back(w, start_ns, k);
		return;
	}
	p = emit(w, start_ns, is_look ? others_state(STATE_BUSY, s) : STATE_QUEUE);
	if (!p)
		return;
	p->meanwhile = s->state;
	p->taken_up_tid = outside_of(w, k);
	if (first < segment)
		p->fold = FOLD_OTHERS;
}

/*
 * A wait for files of the interval's own that the loop left for others' work: the interval did not wait for what ended it, a client that sent
 * another request, but for what ends a later one.
 *
 *	waits until a client sends, works for that one, waits until 10.0.0.7:53 answers		both waits are for 10.0.0.7:53
 */
static bool is_loops(const struct walk *w, const struct segment *s)
{
	return s->state == STATE_IO && w->others_ns == w->at_ns && !w->tl->trace->look.is_one &&
	       outside_of(w, timeline_wakeup(w->tl, w->thread, s->start_ns, w->at_ns));
}

static void pass_loops(struct walk *w, int64_t start_ns)
{
	struct piece *p = emit(w, start_ns, STATE_QUEUE);

	w->others_ns = w->at_ns;
	if (p) {
		p->meanwhile = STATE_IO;
		p->taken_up_tid = w->outside_tid;
	}
}

/* Passes the last segment before the cursor, or the hole after it. */
static void step(struct walk *w)
{
	size_t segment = timeline_segment_before(w->tl, w->thread, w->at_ns);
	const struct segment *s = segment == SEGMENT_NONE ? NULL : &w->tl->segments[segment];
	int64_t start_ns = w->iv->start_ns;

	w->own = s && s->end_ns >= w->at_ns && (s->sid == w->iv->sid || s->sid == SID_SHARED);
	if (!s || s->end_ns < w->at_ns) {
		emit(w, s && s->end_ns > start_ns ? s->end_ns : start_ns, STATE_OTHER);
	} else if (!w->own) {
		pass_others(w, segment);
	} else {
		start_ns = stop_at_creation(w, s->start_ns > start_ns ? s->start_ns : start_ns, true);
		if (is_loops(w, s))
			pass_loops(w, start_ns);
		else if (state_has_waker(s->state))
			pass_wait(w, s, start_ns);
		else
			emit_wait(w, s, start_ns);
	}
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
