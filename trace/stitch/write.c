/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write.c - writes the stitched trace: all threads in a root's time, the intervals that nobody called, and in the place of each wait
 * that a remote interval explains what was done for that one.
 *
 * A remote interval may go from thread to thread there.  Here it is one thread's, the waiting one's:
 *
 *	serve: thread 5 from 10 to 20, put aside until 30, thread 6 from 30 to 50	10..20 of 5, queue 20..30, 30..50 of 6
 *
 * What ended its waits is the same as there: the threads that woke it are in the trace as well.
 */
#include <string.h>
#include "base/banned.h"
#include "base/saturate.h"
#include "base/search.h"
#include "base/str.h"
#include "trace/stitch/stitching.h"

enum { DEPTH_MAX = 32, STRETCHES_MAX = 1000 };

struct stretch {			/* a thread works for the interval, or has not taken it up yet */
	uint64_t tid;
	int64_t from_ns, until_ns;
	bool is_queue;
};
typedef VEC(struct stretch) stretches;

struct place {				/* where it is written: shift_ns later than at its own clock */
	uint64_t tid, sid;
	__int128 shift_ns;
	unsigned depth;
};

static int64_t shifted(const struct place *p, int64_t ns)
{
	return narrow_saturated(ns + p->shift_ns);
}

static void put_segment(struct stitching *s, const struct place *p, int64_t from_ns, int64_t until_ns, enum trace_state state)
{
	if (from_ns < until_ns)
		VEC_ADD(&s->out->segments, (struct segment){ .tid = p->tid, .sid = p->sid, .start_ns = shifted(p, from_ns),
							     .end_ns = shifted(p, until_ns), .state = state });
}

static void put_call(struct stitching *s, const struct place *p, int64_t from_ns, int64_t until_ns, uint32_t function, uint32_t call_site)
{
	if (from_ns < until_ns)
		VEC_ADD(&s->out->invocations, (struct invocation){
			.tid = p->tid, .sid = p->sid, .function = function, .call_site = call_site, .start_ns = shifted(p, from_ns),
			.end_ns = shifted(p, until_ns), .order = (uint32_t)s->out->invocations.cnt });
}

static void write_interval(struct stitching *s, const struct remote *r, int64_t from_ns, int64_t until_ns, const struct place *p);

/* ---- which thread worked for an interval when ---- */

static const struct segment *segment_before(const struct trace *t, uint64_t tid, int64_t ns)
{
	const struct segment *g = t->segments.items;
	size_t at = partition_point(i, t->segments.cnt, g[i].tid < tid || (g[i].tid == tid && g[i].start_ns < ns));

	return at && g[at - 1].tid == tid && g[at - 1].end_ns >= ns ? &g[at - 1] : NULL;
}

/* How the thread came by the interval, before then; NULL: it began there. */
static const struct creation *taken_up(const struct trace *t, const struct interval *v, uint64_t tid, int64_t ns)
{
	const struct creation *c = t->creations.items;
	size_t at = partition_point(i, t->creations.cnt, c[i].tid2 < tid || (c[i].tid2 == tid && c[i].time2_ns <= ns));

	for (; at && c[at - 1].tid2 == tid && c[at - 1].time2_ns > v->start_ns; at--) {
		const struct segment *before = segment_before(t, tid, c[at - 1].time2_ns);

		if (c[at - 1].time_ns >= v->start_ns && c[at - 1].time_ns <= c[at - 1].time2_ns && !(before && before->sid == v->sid))
			return &c[at - 1];
	}
	return NULL;
}

/* Latest first. */
static void find_stretches(const struct trace *t, const struct interval *v, stretches *ret)
{
	uint64_t tid = v->end_tid;
	int64_t ns = v->end_ns;

	while (ns > v->start_ns && ret->cnt < STRETCHES_MAX) {
		const struct creation *c = taken_up(t, v, tid, ns);

		VEC_ADD(ret, (struct stretch){ tid, c ? c->time2_ns : v->start_ns, ns, false });
		if (!c)
			return;
		VEC_ADD(ret, (struct stretch){ tid, c->time_ns, c->time2_ns, true });
		tid = c->tid;
		ns = c->time_ns;
	}
}

/* ---- what it did ---- */

static void write_calls(struct stitching *s, const struct interval *v, const struct stretch *x, const struct place *p)
{
	const struct invocation *list = s->t->invocations.items;
	size_t at = partition_point(i, s->t->invocations.cnt, list[i].tid < x->tid || (list[i].tid == x->tid && list[i].start_ns < v->start_ns));

	for (; at < s->t->invocations.cnt && list[at].tid == x->tid && list[at].start_ns < x->until_ns; at++)
		if (list[at].sid == v->sid && list[at].end_ns > x->from_ns)
			put_call(s, p, list[at].start_ns > x->from_ns ? list[at].start_ns : x->from_ns,
				 list[at].end_ns < x->until_ns ? list[at].end_ns : x->until_ns, list[at].function, list[at].call_site);
}

static void write_wakeups(struct stitching *s, const struct stretch *x, const struct place *p)
{
	const struct wakeup *w = s->t->wakeups.items;
	size_t at = partition_point(i, s->t->wakeups.cnt, w[i].tid < x->tid || (w[i].tid == x->tid && w[i].time_ns <= x->from_ns));
	const struct false_wakeup *f = s->t->false_wakeups.items;

	for (; at < s->t->wakeups.cnt && w[at].tid == x->tid && w[at].time_ns <= x->until_ns; at++)
		VEC_ADD(&s->out->wakeups, (struct wakeup){ p->tid, w[at].waker_tid, shifted(p, w[at].time_ns) });
	at = partition_point(i, s->t->false_wakeups.cnt, f[i].tid < x->tid || (f[i].tid == x->tid && f[i].time_ns <= x->from_ns));
	for (; at < s->t->false_wakeups.cnt && f[at].tid == x->tid && f[at].time_ns <= x->until_ns; at++)
		VEC_ADD(&s->out->false_wakeups, (struct false_wakeup){ p->tid, shifted(p, f[at].time_ns) });
}

/* A wait, from from_ns to until_ns: what is left of it is the way there and back, by whoever ended it. */
static void write_wait(struct stitching *s, size_t segment, int64_t from_ns, int64_t until_ns, const struct place *p)
{
	const struct segment *g = &s->t->segments.items[segment];
	const struct explained *e = NULL;
	const struct wakeup *waker;
	struct place inside = *p;
	uint64_t at;
	int64_t begin_ns, end_ns;

	if (p->depth < DEPTH_MAX && map_get(s->explained_of, segment, &at))
		e = &s->explained.items[at - 1];
	begin_ns = e && e->from_ns > from_ns ? e->from_ns : from_ns;
	end_ns = e && e->until_ns < until_ns ? e->until_ns : until_ns;
	if (!e || begin_ns >= end_ns) {
		put_segment(s, p, from_ns, until_ns, g->state);
		return;
	}
	stitch_woken(s->t, g->tid, g->start_ns, g->end_ns, &waker);
	put_segment(s, p, from_ns, begin_ns, g->state);
	if (waker && begin_ns > from_ns)
		VEC_ADD(&s->out->wakeups, (struct wakeup){ p->tid, waker->waker_tid, shifted(p, begin_ns) });
	inside.depth++;
	inside.shift_ns = p->shift_ns - s->remotes.items[e->remote].ahead_ns;
	write_interval(s, &s->remotes.items[e->remote],
		       narrow_saturated((__int128)begin_ns + s->remotes.items[e->remote].ahead_ns),
		       narrow_saturated((__int128)end_ns + s->remotes.items[e->remote].ahead_ns), &inside);
	put_segment(s, p, end_ns, until_ns, g->state);
}

static void write_segments(struct stitching *s, const struct stretch *x, const struct place *p)
{
	const struct segment *g = s->t->segments.items;
	size_t at = partition_point(i, s->t->segments.cnt, g[i].tid < x->tid || (g[i].tid == x->tid && g[i].end_ns <= x->from_ns));

	for (; at < s->t->segments.cnt && g[at].tid == x->tid && g[at].start_ns < x->until_ns; at++)
		write_wait(s, at, g[at].start_ns > x->from_ns ? g[at].start_ns : x->from_ns,
			   g[at].end_ns < x->until_ns ? g[at].end_ns : x->until_ns, p);
}

/* The interval has a function of its name, so that what it did in none of its functions has a place. */
static uint32_t frame_of(struct stitching *s, const struct remote *r)
{
	uint32_t name = s->t->intervals.items[r->callee].name, *frame = &s->frame[name * s->run_cnt + r->callee_run];

	if (!*frame) {
		_cleanup_(freep) char *text = xasprintf("%s@%s", s->t->interval_names.items[name], s->hosts[r->callee_run]);

		VEC_ADD(&s->out->functions, (struct function){ .name = arena_strdup(s->out->arena, text), .probed = true });
		*frame = (uint32_t)s->out->functions.cnt;
	}
	return *frame - 1;
}

static void write_interval(struct stitching *s, const struct remote *r, int64_t from_ns, int64_t until_ns, const struct place *p)
{
	const struct interval *v = &s->t->intervals.items[r->callee];
	stretches list = { NULL, 0, 0 };

	find_stretches(s->t, v, &list);
	put_call(s, p, from_ns, until_ns, frame_of(s, r), CALL_SITE_NONE);
	for (size_t i = list.cnt; i-- > 0; ) {
		struct stretch x = list.items[i];

		x.from_ns = x.from_ns > from_ns ? x.from_ns : from_ns;
		x.until_ns = x.until_ns < until_ns ? x.until_ns : until_ns;
		if (x.from_ns >= x.until_ns)
			continue;
		if (x.is_queue) {
			put_segment(s, p, x.from_ns, x.until_ns, STATE_QUEUE);
			continue;
		}
		write_calls(s, v, &x, p);
		write_segments(s, &x, p);
		write_wakeups(s, &x, p);
	}
	VEC_RELEASE(&list);
}

/* ---- all threads ---- */

static void write_lines(struct stitching *s)
{
	const struct trace *t = s->t;
	uint64_t unused;

	for (size_t i = 0; i < t->invocations.cnt; i++) {
		struct invocation v = t->invocations.items[i];
		size_t run = stitch_run_of(s->run_of_tid, v.tid);

		v.start_ns = stitch_time(s, run, v.start_ns);
		v.end_ns = stitch_time(s, run, v.end_ns);
		v.order = (uint32_t)i;
		VEC_ADD(&s->out->invocations, v);
	}
	for (size_t i = 0; i < t->segments.cnt; i++) {
		struct segment g = t->segments.items[i];
		size_t run = stitch_run_of(s->run_of_tid, g.tid);
		uint64_t interval;
		struct place p = { .tid = g.tid, .sid = g.sid };

		if (map_get(s->explained_of, i, &unused) && map_get(s->interval_of, g.sid, &interval) &&
		    !map_get(s->remote_of, interval - 1, &unused)) {
			p.shift_ns = (__int128)stitch_time(s, run, g.start_ns) - g.start_ns;
			write_wait(s, i, g.start_ns, g.end_ns, &p);
			continue;
		}
		g.start_ns = stitch_time(s, run, g.start_ns);
		g.end_ns = stitch_time(s, run, g.end_ns);
		g.caller = 0;
		VEC_ADD(&s->out->segments, g);
	}
}

static void write_edges(struct stitching *s)
{
	const struct trace *t = s->t;

	for (size_t i = 0; i < t->wakeups.cnt; i++) {
		struct wakeup w = t->wakeups.items[i];

		w.time_ns = stitch_time(s, stitch_run_of(s->run_of_tid, w.tid), w.time_ns);
		VEC_ADD(&s->out->wakeups, w);
	}
	for (size_t i = 0; i < t->false_wakeups.cnt; i++) {
		struct false_wakeup w = t->false_wakeups.items[i];

		w.time_ns = stitch_time(s, stitch_run_of(s->run_of_tid, w.tid), w.time_ns);
		VEC_ADD(&s->out->false_wakeups, w);
	}
	for (size_t i = 0; i < t->creations.cnt; i++) {
		struct creation c = t->creations.items[i];
		size_t run = stitch_run_of(s->run_of_tid, c.tid2);

		c.time_ns = stitch_time(s, run, c.time_ns);
		c.time2_ns = stitch_time(s, run, c.time2_ns);
		VEC_ADD(&s->out->creations, c);
	}
	for (size_t i = 0; i < t->works.cnt; i++)
		VEC_ADD(&s->out->works, t->works.items[i]);
	for (size_t i = 0; i < t->ids.cnt; i++)
		VEC_ADD(&s->out->ids, t->ids.items[i]);
	for (size_t i = 0; i < t->threads.cnt; i++) {
		struct thread_name n = t->threads.items[i];

		n.function = 0;
		VEC_ADD(&s->out->threads, n);
	}
}

/* Whether intervals of that name and run are called by others: those without a caller belong to another. */
static bool *find_called(const struct stitching *s)
{
	bool *called = xcalloc(s->t->interval_names.cnt * s->run_cnt + 1, sizeof(*called));

	for (size_t i = 0; i < s->remotes.cnt; i++)
		called[s->t->intervals.items[s->remotes.items[i].callee].name * s->run_cnt + s->remotes.items[i].callee_run] = true;
	return called;
}

static void write_intervals(struct stitching *s)
{
	_cleanup_(freep) bool *called = find_called(s);
	uint64_t unused;

	for (size_t i = 0; i < s->t->intervals.cnt; i++) {
		struct interval v = s->t->intervals.items[i];
		size_t run = stitch_run_of(s->run_of_sid, v.sid);

		if (map_get(s->remote_of, i, &unused))
			continue;
		if (called[v.name * s->run_cnt + run]) {
			s->ret->left_out++;
			continue;
		}
		v.end_ns = v.end_ns < v.start_ns ? INT64_MIN : stitch_time(s, run, v.end_ns);	/* INT64_MIN: it has none */
		v.start_ns = stitch_time(s, run, v.start_ns);
		v.idle_ns = v.begun_ns = 0;
		VEC_ADD(&s->out->intervals, v);
	}
}

void stitch_write(struct stitching *s)
{
	const struct trace *t = s->t;

	s->frame = xcalloc(t->interval_names.cnt * s->run_cnt + 1, sizeof(*s->frame));
	for (size_t i = 0; i < t->interval_names.cnt; i++)
		VEC_ADD(&s->out->interval_names, arena_strdup(s->out->arena, t->interval_names.items[i]));
	for (size_t i = 0; i < t->call_sites.cnt; i++)
		VEC_ADD(&s->out->call_sites, arena_strdup(s->out->arena, t->call_sites.items[i]));
	for (size_t i = 0; i < t->task_names.cnt; i++)
		VEC_ADD(&s->out->task_names, arena_strdup(s->out->arena, t->task_names.items[i]));
	for (size_t i = 0; i < t->work_names.cnt; i++)
		VEC_ADD(&s->out->work_names, arena_strdup(s->out->arena, t->work_names.items[i]));
	for (size_t i = 0; i < t->functions.cnt; i++) {
		struct function f = t->functions.items[i];

		f.name = arena_strdup(s->out->arena, f.name);
		f.file = f.file ? arena_strdup(s->out->arena, f.file) : NULL;
		VEC_ADD(&s->out->functions, f);
	}
	for (size_t i = 0; i < t->calls.cnt; i++)
		VEC_ADD(&s->out->calls, t->calls.items[i]);
	write_intervals(s);
	write_lines(s);
	write_edges(s);
	for (size_t i = 0; i < s->out->threads.cnt; i++)
		s->out->threads.items[i].name = s->out->threads.items[i].name ? arena_strdup(s->out->arena, s->out->threads.items[i].name) : NULL;
}
