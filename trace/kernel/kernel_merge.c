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
 * thread runnable, if the same thread did that, or if the runtime does not know when its waker did.  Where no waker was known, the
 * kernel's is taken.
 *
 *	lock 40..90, woken at 60 by T2; off 42..85, woken at 64 by T2
 *	-> lock 40..85 woken at 64 by T2, running 85..90
 *
 * Time in the run queue is cut out of it as well, before it blocked or where it never did.  I/O that never blocked
 * is none: the thread copied, and another one took its CPU.  A lock that never did was spun for.
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
#include "trace/kernel/kernel_merging.h"
#include "trace/kernel/arrivals.h"
#include "trace/kernel/requests.h"

static void add(struct kernel_merging *m, uint64_t sid, int64_t start_ns, int64_t end_ns,
		enum trace_state state)
{
	if (state == STATE_RUNNING && end_ns > m->until_ns)
		end_ns = m->until_ns;
	if (start_ns < end_ns)
		VEC_ADD(&m->out, (struct segment){ m->part->tid, sid, start_ns, end_ns, state,
			state == STATE_RUNNING || state_is_runqueue(state) ? 0 : m->caller });
}

static void note_span(struct kernel_merging *m, uint64_t waker, int64_t start_ns, int64_t end_ns)
{
	if (waker >> 48 && start_ns < end_ns)
		VEC_ADD(&m->spans, (struct kernel_span){ waker, start_ns, end_ns });
}

/* The part of o inside (start, end] of running time. */
static void add_off(struct kernel_merging *m, const struct kernel_off *o, uint64_t sid, int64_t start_ns,
		    int64_t end_ns)
{
	uint64_t waker;

	if (!kernel_blocked(o)) {
		add(m, sid, start_ns, end_ns, STATE_RUNNABLE);
		return;
	}
	add(m, sid, start_ns, end_ns, kernel_class(o, kernel_thread_of_process, &m->threads));
	if (o->woken_ns > start_ns && o->woken_ns <= end_ns && kernel_waker(&m->threads, o, &waker)) {
		VEC_ADD(&m->t->wakeups, (struct wakeup){ m->part->tid, waker, o->woken_ns });
		note_span(m, waker, o->out_ns, o->woken_ns);
	}
}

/* State before o: unknown if records before it were lost. */
static enum trace_state state_before(const struct kernel_merging *m, const struct kernel_off *o)
{
	return m->hole && o->after_loss ? STATE_OTHER : STATE_RUNNING;
}

/* Adds (start, end] as running, except for the time off the CPU.  a_wait_follows: the runtime's record of a
 * wait begins at end, and a time off the CPU that is under way then belongs to the wait. */
static void pass_running(struct kernel_merging *m, uint64_t sid, int64_t start_ns, int64_t end_ns,
			 bool a_wait_follows)
{
	while (m->off < m->off_end && m->off->out_ns < end_ns && m->off->out_ns < m->until_ns) {
		const struct kernel_off *o = m->off;
		int64_t from_ns = o->out_ns > start_ns ? o->out_ns : start_ns;
		int64_t to_ns = o->in_ns < end_ns ? o->in_ns : end_ns;

		if (a_wait_follows && o->in_ns > end_ns && kernel_blocked(o))
			break;
		add(m, sid, start_ns, from_ns, state_before(m, o));
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
	if (m->off < m->off_end && m->off->out_ns < end_ns && m->off->out_ns >= m->until_ns)	/* after the window */
		add(m, sid, start_ns, m->until_ns, state_before(m, m->off));
	else
		add(m, sid, start_ns, end_ns, STATE_RUNNING);
}

/* The latest wakeup of the thread in (start, end], or NULL.  The trace's own wakeups, still sorted, come first. */
static struct wakeup *find_wakeup(struct kernel_merging *m, size_t cnt, int64_t start_ns, int64_t end_ns)
{
	struct wakeup *items = m->t->wakeups.items;
	size_t after = partition_point(i, cnt, items[i].tid < m->part->tid ||
				       (items[i].tid == m->part->tid && items[i].time_ns <= end_ns));

	return after && items[after - 1].tid == m->part->tid && items[after - 1].time_ns > start_ns ?
	       &items[after - 1] : NULL;
}

/*
 * Corrects when the thread could run again, and adds the waker if the runtime did not know it.  A wake-up at the wait's end is one
 * whose time the runtime does not know: a peer outside the run, a time-out, a holder that left no stamp.
 */
static void refine_wakeup(struct kernel_merging *m, size_t wakeup_cnt, const struct kernel_off *o,
			  const struct segment *s)
{
	struct wakeup *w = find_wakeup(m, wakeup_cnt, s->start_ns, s->end_ns);
	bool is_known, is_untimed = w && w->time_ns == s->end_ns;
	uint64_t waker;

	if (is_untimed && o->in_ns > s->start_ns && o->in_ns < s->end_ns)
		w->time_ns = o->in_ns;		/* where the wait will end */
	if (!(o->flags & OFF_WOKEN) || o->woken_ns <= s->start_ns || o->woken_ns > s->end_ns)
		return;
	is_known = kernel_waker(&m->threads, o, &waker);
	if (w && (is_untimed || (is_known && w->waker_tid == waker)))
		w->time_ns = o->woken_ns;
	if (w || !is_known)
		return;
	VEC_ADD(&m->t->wakeups, (struct wakeup){ s->tid, waker, o->woken_ns });
	note_span(m, waker, s->state == STATE_IO ? o->out_ns : s->start_ns, o->woken_ns);
}

static void add_wakeup(struct kernel_merging *m, const struct kernel_off *o, int64_t start_ns)
{
	uint64_t waker;

	if (o->woken_ns <= start_ns || !kernel_waker(&m->threads, o, &waker))
		return;
	VEC_ADD(&m->t->wakeups, (struct wakeup){ m->part->tid, waker, o->woken_ns });
	note_span(m, waker, o->out_ns, o->woken_ns);
}

/*
 * Adds the wait up to end, without the time in the run queue: before the thread blocked, or while it spun,
 * copied, or woke others by writing.  I/O that blocked several times becomes several waits, the last with the
 * runtime's waker; any other wait with several blockings was woken in vain and remains one.
 */
static void add_wait(struct kernel_merging *m, const struct segment *s, int64_t end_ns, enum trace_state state,
		     const struct kernel_off *last)
{
	enum trace_state between = state;
	int64_t at_ns = s->start_ns;

	for (const struct kernel_off *o = m->off; o < m->off_end && o->out_ns < end_ns; o++) {
		bool is_wait = kernel_blocked(o);

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

/* Whether the kernel's account of the thread from start to end is complete. */
static bool knows_all(const struct kernel_merging *m, int64_t start_ns, int64_t end_ns)
{
	const struct kernel_off *o = m->off;

	for (; o < m->off_end && o->out_ns < end_ns; o++)
		if (o->after_loss)
			return false;
	return m->part->from_ns <= start_ns && end_ns <= m->part->to_ns && !(o < m->off_end && o->after_loss);
}

/* A stack that its thread was not on: the kernel's records of the thread belong to another stack then. */
static void pass_away(struct kernel_merging *m, const struct segment *s)
{
	add(m, s->sid, s->start_ns, s->end_ns, s->state);
	while (m->off < m->off_end && m->off->in_ns <= s->end_ns)
		m->off++;
	m->consumed = m->off < m->off_end && m->off->out_ns < s->end_ns;	/* the two clocks differ in
										 * their last digits */
}

/* Adds a wait that the runtime recorded.  If the lock was released in between, the wait is several segments,
 * and only the last one ends with the thread back on the CPU. */
static void pass_wait(struct kernel_merging *m, const struct segment *s, bool goes_on, size_t wakeup_cnt)
{
	const struct kernel_off *last = NULL, *o = m->off;
	int64_t end_ns = s->end_ns;

	if (s->state == STATE_QUEUE) {
		pass_away(m, s);
		return;
	}
	for (; o < m->off_end && o->out_ns < s->end_ns; o++)
		if (kernel_blocked(o) && !(o == m->off && m->consumed))
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
		m->consumed = true;	/* still off when the wait ends: the two clocks differ in their last digits */
	if (end_ns < s->end_ns)
		pass_running(m, s->sid, end_ns, s->end_ns, false);
}

static void pass_wait_of(struct kernel_merging *m, const struct segment *s, bool goes_on, size_t wakeup_cnt)
{
	m->caller = s->caller;
	pass_wait(m, s, goes_on, wakeup_cnt);
	m->caller = 0;
}

/* No segment says what the thread did there, so it counts for no interval. */
static void pass_hole(struct kernel_merging *m, int64_t start_ns, int64_t end_ns, bool a_wait_follows)
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

static int64_t later(int64_t a_ns, int64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

static void find_offs(struct kernel_merging *m)
{
	const struct kernel_off *items = m->k->offs.items;
	const struct kernel_place *p = m->place;
	size_t passed = partition_point(i, p->end_off - p->first_off,
					items[p->first_off + i].in_ns <= p->restart_ns);

	m->off = &items[p->first_off + passed];
	m->off_end = &items[p->end_off];
	m->consumed = false;
}

/* Where the first segment starts to count. */
static int64_t begin_part(struct kernel_merging *m, const struct segment *s, size_t cnt)
{
	int64_t at_ns = later(m->part->from_ns, m->done_ns);

	find_offs(m);
	if (cnt && s->start_ns < at_ns)
		at_ns = s->start_ns;
	return later(at_ns, m->place->restart_ns);
}

/* Merges one part.  Its segments of the model may extend beyond it. */
static void merge_part(struct kernel_merging *m, const struct segment *s, size_t cnt, size_t wakeup_cnt)
{
	int64_t at_ns = begin_part(m, s, cnt), end_ns = m->part->to_ns;

	for (size_t i = 0; i < cnt; i++) {
		const struct segment *next = i + 1 < cnt ? &s[i + 1] : NULL;
		bool touches = next && next->start_ns == s[i].end_ns;
		int64_t start_ns = later(s[i].start_ns, m->place->restart_ns);

		if (s[i].end_ns <= m->place->restart_ns)
			continue;
		pass_hole(m, at_ns, start_ns, is_wait(&s[i]));
		if (is_wait(&s[i]))
			pass_wait_of(m, &s[i], touches && next->state == s[i].state && next->sid == s[i].sid,
				     wakeup_cnt);
		else
			pass_running(m, s[i].sid, start_ns, s[i].end_ns, touches && is_wait(next));
		at_ns = s[i].end_ns;
	}
	if (!cnt && m->part->first_ns >= at_ns && m->part->first_ns < end_ns)	/* it begins after the window */
		end_ns = m->part->first_ns;
	if (at_ns == m->until_ns && m->part->last_ns > end_ns)	/* it goes on, though the kernel saw its end */
		end_ns = m->part->last_ns;
	pass_hole(m, at_ns, end_ns, false);
	m->done_ns = later(at_ns, m->part->to_ns);
}

/* Whether the part lies outside the window, for a thread that only the kernel knows. */
static bool is_elsewhere(const struct kernel_merging *m, const struct kernel_place *p)
{
	return p->part->to_ns <= p->restart_ns || p->part->from_ns >= m->until_ns;
}

static void swap_segments(struct kernel_merging *m)
{
	struct trace *t = m->t;
	struct segment *items = t->segments.items;
	size_t cap = t->segments.cap;

	t->segments.items = m->out.items;
	t->segments.cnt = m->out.cnt;
	t->segments.cap = m->out.cap;
	m->out.items = items;
	m->out.cap = cap;
	m->out.cnt = 0;
}

void kernel_merge_threads(struct kernel_merging *m)
{
	size_t at = 0, wakeup_cnt = m->t->wakeups.cnt;
	const struct segment *s = m->t->segments.items;

	m->out.cnt = 0;
	for (size_t i = 0; i < m->places.cnt; i++) {
		const struct kernel_place *p = &m->places.items[i];
		bool is_last = i + 1 == m->places.cnt || p[1].part->tid != p->part->tid;
		size_t first;

		if (!i || p[-1].part->tid != p->part->tid)
			m->done_ns = INT64_MIN;
		for (; at < m->t->segments.cnt && s[at].tid < p->part->tid; at++)
			VEC_ADD(&m->out, s[at]);
		first = at;
		while (at < m->t->segments.cnt && s[at].tid == p->part->tid &&
		       (s[at].start_ns < p->part->to_ns || is_last))
			at++;
		m->place = p;
		m->part = p->part;
		if (at > first || !is_elsewhere(m, p))
			merge_part(m, at > first ? &s[first] : NULL, at - first, wakeup_cnt);
	}
	for (; at < m->t->segments.cnt; at++)
		VEC_ADD(&m->out, s[at]);
	swap_segments(m);
}

static int compare_places(const void *a, const void *b)
{
	const struct kernel_part *x = ((const struct kernel_place *)a)->part, *y = ((const struct kernel_place *)b)->part;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

static void add_place(struct kernel_merging *m, const struct kernel_part *part)
{
	const struct kernel_off *items = m->k->offs.items;
	uint32_t tid = part->kernel_tid;
	struct kernel_place p = { .part = part, .restart_ns = INT64_MIN };

	p.first_off = partition_point(i, m->k->offs.cnt, items[i].tid < tid ||
				      (items[i].tid == tid && items[i].in_ns <= part->from_ns));
	p.end_off = p.first_off + partition_point(i, m->k->offs.cnt - p.first_off, items[p.first_off + i].tid == tid &&
						  items[p.first_off + i].out_ns < part->to_ns);
	VEC_ADD(&m->places, p);
}

void kernel_merging_begin(struct kernel_merging *m, struct trace *t, const struct kernel_trace *k)
{
	m->t = t;
	m->k = k;
	m->until_ns = INT64_MAX;
	kernel_threads_find(&m->threads, t, k);
	for (size_t i = 0; i < m->threads.parts.cnt; i++)
		add_place(m, &m->threads.parts.items[i]);
	if (m->places.cnt)
		qsort(m->places.items, m->places.cnt, sizeof(*m->places.items), compare_places);
}

void kernel_merging_release(struct kernel_merging *m)
{
	VEC_RELEASE(&m->places);
	VEC_RELEASE(&m->out);
	VEC_RELEASE(&m->spans);
	kernel_threads_release(&m->threads);
}

void kernel_merge(struct trace *t, const struct kernel_trace *k)
{
	struct kernel_merging m = { .t = NULL };
	struct kernel_devices devices = { .x = &m.threads };

	kernel_merging_begin(&m, t, k);
	kernel_threads_add_creations(&m.threads);
	kernel_merge_threads(&m);
	kernel_stacks_spread(t, k, m.threads.parts.items, m.threads.parts.cnt);
	kernel_devices_add(&devices, &m.spans, INT64_MIN, INT64_MAX);
	t->kernel_reduced = k->reduced;
	t->cpu_use.runqueue = k->runqueue;
	t->losses.records += k->lost;
	t->losses.cut_bytes += k->cut_bytes;
	if (k->for_arrivals)
		arrivals_add(t, k, &m.threads);
	else if (k->has_exchanges)
		requests_add(t, k, &m.threads);
	kernel_devices_release(&devices);
	kernel_merging_release(&m);
	trace_sort(t);
}
