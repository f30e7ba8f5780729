/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_merge.c - segments and wakeups, corrected by what the kernel saw.
 *
 * What the runtime took for running is cut where the thread was off the CPU: runnable if it could
 * have run on, else a wait of the class that the kernel gives (kernel_class.c), with its waker, from the
 * moment of which it could run again:
 *
 *	running 1 0..100; off 20..30 preempted; off 50..80 in pread, woken at 70 by the disk
 *	-> running 0..20, runnable 20..30, running 30..50, io 50..80, running 80..100; wakeup by the
 *	disk at 70
 *
 * A wait that the runtime recorded keeps its class and waker, which say more (a mutex, not a futex).
 * It ends when the thread was back on the CPU from its last blocking, what follows is running; and
 * the wake-up, known there from just before the release, is at the moment when the kernel made the
 * thread runnable, if the same thread did that.  Where no waker was known, the kernel's is taken.
 *
 *	lock 40..90, woken at 60 by T2; off 42..85, woken at 64 by T2
 *	-> lock 40..85 woken at 64 by T2, running 85..90
 *
 * Time in the run queue is cut out of it as well, before it blocked or where it never did.  I/O that never blocked
 * is none: the thread copied, and somebody took its CPU.  A lock that never did was spun for.
 *
 *	io 10..30 (it writes); preempted 15..28  -> running 10..15, runnable 15..28, running 28..30
 *	lock 10..30; preempted 15..28            -> lock 10..15, runnable 15..28, lock 28..30
 *	io 10..60 (it flushes); off 12..30 woken at 25, off 35..55 woken at 50
 *	-> io 10..30 woken at 25, running 30..35, io 35..55 woken at 50, running 55..60
 *
 * Times outside the runtime's records, and threads that it does not know, are for no interval.
 */
#include <string.h>
#include "base/banned.h"
#include "base/search.h"
#include "trace/kernel_threads.h"

struct merge {
	struct kernel_threads threads;
	struct trace *t;
	const struct kernel_trace *k;
	VEC(struct segment) out;
	kernel_spans spans;

	/* The part going on. */
	const struct kernel_part *part;
	const struct kernel_off *off, *off_end;	/* off: the first that has not ended before the cursor */
	bool consumed;			/* what is left of it belongs to a wait that was passed */
	int64_t done_ns;		/* of the same TID, by the part before: its last segment reached so far */
	bool hole;			/* the runtime's trace says nothing about the time being passed */
};

static bool blocked(const struct kernel_off *o)
{
	return o->state && !(o->flags & (OFF_PREEMPTED | OFF_NEW)) &&
	       !(o->flags & OFF_WOKEN && o->woken_ns <= o->out_ns);
}

static void add(struct merge *m, uint64_t sid, int64_t start_ns, int64_t end_ns,
		enum trace_state state)
{
	if (start_ns < end_ns)
		VEC_ADD(&m->out, (struct segment){ m->part->tid, sid, start_ns, end_ns, state });
}

static void note_span(struct merge *m, uint64_t waker, int64_t start_ns, int64_t end_ns)
{
	if (waker >> 48 && start_ns < end_ns)
		VEC_ADD(&m->spans, (struct kernel_span){ waker, start_ns, end_ns });
}

/* The part of o inside (start, end] of running time. */
static void add_off(struct merge *m, const struct kernel_off *o, uint64_t sid, int64_t start_ns,
		    int64_t end_ns)
{
	uint64_t waker;

	if (!blocked(o)) {
		add(m, sid, start_ns, end_ns, STATE_RUNNABLE);
		return;
	}
	add(m, sid, start_ns, end_ns, kernel_class(o, kernel_thread_of_process, &m->threads));
	if (o->woken_ns > start_ns && o->woken_ns <= end_ns && kernel_waker(&m->threads, o, &waker)) {
		VEC_ADD(&m->t->wakeups, (struct wakeup){ m->part->tid, waker, o->woken_ns });
		note_span(m, waker, o->out_ns, o->woken_ns);
	}
}

/* Passes (start, end] as running, but for when it was off the CPU.  a_wait_follows: the runtime's record of
 * it begins at end, and has what is off by then. */
static void pass_running(struct merge *m, uint64_t sid, int64_t start_ns, int64_t end_ns,
			 bool a_wait_follows)
{
	while (m->off < m->off_end && m->off->out_ns < end_ns) {
		const struct kernel_off *o = m->off;
		int64_t from_ns = o->out_ns > start_ns ? o->out_ns : start_ns;
		int64_t to_ns = o->in_ns < end_ns ? o->in_ns : end_ns;

		if (a_wait_follows && o->in_ns > end_ns && blocked(o))
			break;
		/* What was lost before it may have been anything. */
		add(m, sid, start_ns, from_ns, m->hole && o->after_loss ? STATE_OTHER : STATE_RUNNING);
		if (m->consumed)
			add(m, sid, from_ns, to_ns, STATE_RUNNING);
		else if (from_ns < to_ns)
			add_off(m, o, sid, from_ns, to_ns);
		start_ns = to_ns > start_ns ? to_ns : start_ns;
		if (o->in_ns > end_ns)
			return;
		m->off++;
		m->consumed = false;
	}
	add(m, sid, start_ns, end_ns, STATE_RUNNING);
}

/* The latest wakeup of the thread in (start, end], or NULL; the trace's own, still sorted, come first. */
static struct wakeup *find_wakeup(struct merge *m, size_t cnt, int64_t start_ns, int64_t end_ns)
{
	struct wakeup *items = m->t->wakeups.items;
	size_t after = partition_point(i, cnt, items[i].tid < m->part->tid ||
				       (items[i].tid == m->part->tid && items[i].time_ns <= end_ns));

	return after && items[after - 1].tid == m->part->tid && items[after - 1].time_ns > start_ns ?
	       &items[after - 1] : NULL;
}

/* When the thread could run again, and who saw to that, where the runtime did not know. */
static void refine_wakeup(struct merge *m, size_t wakeup_cnt, const struct kernel_off *o,
			  const struct segment *s)
{
	struct wakeup *w = find_wakeup(m, wakeup_cnt, s->start_ns, s->end_ns);
	uint64_t waker;

	if (o->woken_ns <= s->start_ns || o->woken_ns > s->end_ns ||
	    !kernel_waker(&m->threads, o, &waker))
		return;
	if (!w)
		VEC_ADD(&m->t->wakeups, (struct wakeup){ s->tid, waker, o->woken_ns });
	else if (w->waker_tid == waker)
		w->time_ns = o->woken_ns;
	if (!w)
		note_span(m, waker, s->state == STATE_IO ? o->out_ns : s->start_ns, o->woken_ns);
}

static void add_wakeup(struct merge *m, const struct kernel_off *o, int64_t start_ns)
{
	uint64_t waker;

	if (o->woken_ns <= start_ns || !kernel_waker(&m->threads, o, &waker))
		return;
	VEC_ADD(&m->t->wakeups, (struct wakeup){ m->part->tid, waker, o->woken_ns });
	note_span(m, waker, o->out_ns, o->woken_ns);
}

/*
 * The wait up to end, but for when the thread was in the run queue before it blocked, or between two times: kept from the
 * CPU while it spins, or copies, or wakes somebody by what it writes.  One for I/O that blocked several times is as many
 * waits, the last of them with the runtime's waker; another one was woken in vain, and is one.
 */
static void add_wait(struct merge *m, const struct segment *s, int64_t end_ns, enum trace_state state,
		     const struct kernel_off *last)
{
	enum trace_state between = state;
	int64_t at_ns = s->start_ns;

	for (const struct kernel_off *o = m->off; o < m->off_end && o->out_ns < end_ns; o++) {
		bool is_wait = blocked(o);

		if ((o == m->off && m->consumed) || o->out_ns < at_ns || (is_wait && state != STATE_IO))
			continue;
		if (is_wait ? between != state : o->in_ns <= end_ns) {
			add(m, s->sid, at_ns, o->out_ns, between);
			at_ns = o->out_ns;
		}
		if (o == last)
			between = state;
		if (o == last || o->in_ns > end_ns)
			continue;
		add(m, s->sid, at_ns, o->in_ns, is_wait ? state : STATE_RUNNABLE);
		if (is_wait) {
			add_wakeup(m, o, at_ns);
			between = STATE_RUNNING;
		}
		at_ns = o->in_ns;
	}
	add(m, s->sid, at_ns, end_ns, between);
}

/* What the kernel says of the thread from start to end is all that happened. */
static bool knows_all(const struct merge *m, int64_t start_ns, int64_t end_ns)
{
	const struct kernel_off *o = m->off;

	for (; o < m->off_end && o->out_ns < end_ns; o++)
		if (o->after_loss)
			return false;
	return m->part->from_ns <= start_ns && end_ns <= m->part->to_ns && !(o < m->off_end && o->after_loss);
}

/* Passes a wait that the runtime recorded.  A lock that was let go in between is several segments: only
 * the last of them ends with the thread back on the CPU. */
static void pass_wait(struct merge *m, const struct segment *s, bool goes_on, size_t wakeup_cnt)
{
	const struct kernel_off *last = NULL, *o = m->off;
	int64_t end_ns = s->end_ns;

	for (; o < m->off_end && o->out_ns < s->end_ns; o++)
		if (blocked(o) && !(o == m->off && m->consumed))
			last = o;
	if (s->state == STATE_IO && !last && !goes_on && knows_all(m, s->start_ns, end_ns)) {
		pass_running(m, s->sid, s->start_ns, end_ns, false);
		return;
	}
	if (!goes_on && last) {
		refine_wakeup(m, wakeup_cnt, last, s);
		if (last->in_ns < end_ns && last->in_ns > s->start_ns)
			end_ns = last->in_ns;
	}
	add_wait(m, s, end_ns, s->state == STATE_OTHER && last ?
		 kernel_class(last, kernel_thread_of_process, &m->threads) : s->state, last);
	while (m->off < m->off_end && m->off->in_ns <= end_ns) {
		m->off++;
		m->consumed = false;
	}
	if (!goes_on && m->off < m->off_end && m->off->out_ns < end_ns)
		m->consumed = true;	/* off when the wait ends, by another clock's last digits */
	if (end_ns < s->end_ns)
		pass_running(m, s->sid, end_ns, s->end_ns, false);
}

/* No segment says what the thread did there: for no interval. */
static void pass_hole(struct merge *m, int64_t start_ns, int64_t end_ns, bool a_wait_follows)
{
	m->hole = true;
	if (start_ns < end_ns)
		pass_running(m, SID_NONE, start_ns, end_ns, a_wait_follows);
	m->hole = false;
}

static bool is_wait(const struct segment *s)
{
	return s->state != STATE_RUNNING && s->state != STATE_RUNNABLE;
}

static void find_offs(struct merge *m)
{
	const struct kernel_off *items = m->k->offs.items;
	uint32_t tid = m->part->kernel_tid;
	size_t first = partition_point(i, m->k->offs.cnt, items[i].tid < tid ||
				       (items[i].tid == tid && items[i].in_ns <= m->part->from_ns));

	m->off = m->off_end = &items[first];
	m->consumed = false;
	while (m->off_end < items + m->k->offs.cnt && m->off_end->tid == m->part->kernel_tid &&
	       m->off_end->out_ns < m->part->to_ns)
		m->off_end++;
}

/* One part, of which these are the model's segments; they may reach out of it. */
static void merge_part(struct merge *m, const struct segment *s, size_t cnt, size_t wakeup_cnt)
{
	int64_t at_ns = m->part->from_ns > m->done_ns ? m->part->from_ns : m->done_ns;

	if (cnt && s[0].start_ns < at_ns)
		at_ns = s[0].start_ns;
	find_offs(m);
	for (size_t i = 0; i < cnt; i++) {
		const struct segment *next = i + 1 < cnt ? &s[i + 1] : NULL;
		bool touches = next && next->start_ns == s[i].end_ns;

		pass_hole(m, at_ns, s[i].start_ns, is_wait(&s[i]));
		if (is_wait(&s[i]))
			pass_wait(m, &s[i], touches && next->state == s[i].state && next->sid == s[i].sid,
				  wakeup_cnt);
		else
			pass_running(m, s[i].sid, s[i].start_ns, s[i].end_ns, touches && is_wait(next));
		at_ns = s[i].end_ns;
	}
	pass_hole(m, at_ns, m->part->to_ns, false);
	m->done_ns = at_ns > m->part->to_ns ? at_ns : m->part->to_ns;
}

static int compare_parts(const void *a, const void *b)
{
	const struct kernel_part *x = *(const struct kernel_part *const *)a;
	const struct kernel_part *y = *(const struct kernel_part *const *)b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

/* All threads, in order of tid: those that the kernel knows are made anew. */
static void merge_threads(struct merge *m)
{
	size_t cnt = m->threads.parts.cnt, at = 0, wakeup_cnt = m->t->wakeups.cnt;
	_cleanup_(freep) const struct kernel_part **parts = xmalloc((cnt + 1) * sizeof(*parts));
	const struct segment *s = m->t->segments.items;

	for (size_t i = 0; i < cnt; i++)
		parts[i] = &m->threads.parts.items[i];
	qsort(parts, cnt, sizeof(*parts), compare_parts);
	for (size_t i = 0; i < cnt; i++) {
		size_t first;

		m->part = parts[i];
		if (!i || parts[i - 1]->tid != parts[i]->tid)
			m->done_ns = INT64_MIN;
		for (; at < m->t->segments.cnt && s[at].tid < m->part->tid; at++)
			VEC_ADD(&m->out, s[at]);
		first = at;
		while (at < m->t->segments.cnt && s[at].tid == m->part->tid &&
		       (s[at].start_ns < m->part->to_ns || i + 1 == cnt ||
			parts[i + 1]->tid != m->part->tid))
			at++;
		merge_part(m, &s[first], at - first, wakeup_cnt);
	}
	for (; at < m->t->segments.cnt; at++)
		VEC_ADD(&m->out, s[at]);
}

void kernel_merge(struct trace *t, const struct kernel_trace *k)
{
	struct merge m = { .t = t, .k = k };

	kernel_threads_find(&m.threads, t, k);
	merge_threads(&m);
	kernel_stacks_spread(t, k, m.threads.parts.items, m.threads.parts.cnt);
	VEC_RELEASE(&t->segments);
	t->segments.items = m.out.items;
	t->segments.cnt = m.out.cnt;
	t->segments.cap = m.out.cap;
	kernel_devices_add(&m.threads, &m.spans);
	t->kernel_reduced = k->reduced;
	t->losses.records += k->lost;
	t->losses.cut_bytes += k->cut_bytes;
	VEC_RELEASE(&m.spans);
	kernel_threads_release(&m.threads);
	trace_sort(t);
}
