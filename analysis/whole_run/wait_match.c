/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wait_match.c - finds each wait's waker, and each thread's time by state (wPerf 4.2, step 1).
 *
 * A wait lasts until its wake-up; from there to the segment's end the thread is runnable.  Without a wake-up it is
 * unknown for what it waited.  After a false wake-up a thread waits for the same thing again: both waits and what it
 * ran between them are one wait, ended by the second's waker.
 *
 *	cond (10,20] woken by B, running (20,22], declared false at 21, cond (22,40] woken by C
 *	is one wait (10,40] for C
 *
 * A device without work waits for the thread that makes the next request.  If that is unknown, its idle time is kept
 * as such and distributed later, see wait_edges.c.
 */
#include "analysis/whole_run/wait_passes.h"

#include <stdlib.h>
#include "base/map.h"
#include "base/banned.h"
#include "base/saturate.h"
#include "base/search.h"

static enum vertex_kind kind_of(const struct wait_world *w, uint64_t tid, bool present)
{
	switch (timeline_kind(w->tl, tid)) {
	case KIND_DISK:
		return VERTEX_DISK;
	case KIND_NIC:
		return VERTEX_NIC;
	case KIND_TIMER:
		return VERTEX_TIMER;
	case KIND_PEER:
		return VERTEX_PEER;
	case KIND_THREAD:
	case KIND_KERNEL:
	case KIND_CNT:
		break;
	}
	return present ? VERTEX_THREAD : VERTEX_UNKNOWN;
}

static uint32_t add_actor(struct wait_world *w, uint64_t tid, bool present)
{
	struct actor *a = VEC_EXTEND(&w->actors);

	a->tid = tid;
	a->kind = kind_of(w, tid, present);
	a->present = present;
	a->group = (uint32_t)w->actors.cnt - 1;
	return a->group;
}

static void join_actor(struct wait_world *w, uint32_t actor, uint64_t tid)
{
	struct actor *a = &w->actors.items[actor];

	VEC_ADD(&a->members, tid);
	if (tid < a->tid)
		a->tid = tid;
	*map_slot(w->actor_of_tid, tid) = (uint64_t)actor + 1;
}

static uint32_t actor_of(struct wait_world *w, uint64_t tid)
{
	uint64_t number;
	uint32_t actor;

	if (map_get(w->actor_of_tid, tid, &number))
		return (uint32_t)(number - 1);
	actor = add_actor(w, tid, false);
	join_actor(w, actor, tid);
	return actor;
}

static bool is_device(const struct actor *a)
{
	return a->kind == VERTEX_DISK || a->kind == VERTEX_NIC;
}

/* ---- paths ---- */

static uint32_t path_at(const struct wait_world *w, uint64_t tid, int64_t start_ns)
{
	struct path_walk walk;

	path_walk_init(&walk, w->tl, w->paths, tid, start_ns, sum_saturated(start_ns, 1));
	return path_walk_next(&walk) ? walk.path : PATH_NONE;
}

/* ---- one thread ---- */

static void add_idle(struct wait_world *w, uint32_t actor, int64_t start_ns, int64_t end_ns)
{
	if (start_ns < end_ns)
		VEC_ADD(&w->waits, (struct graph_wait){
			.actor = actor, .waker = ACTOR_UNKNOWN, .start_ns = start_ns,
			.end_ns = end_ns, .sid = SID_NONE, .path = PATH_NONE,
			.waker_path = PATH_NONE, .state = STATE_QUEUE, .counts = true, .idle = true });
}

static void match_wait(struct wait_world *w, uint32_t thread, uint32_t actor,
		       const struct segment *s)
{
	const struct wakeup *by = timeline_wakeup(w->tl, thread, s->start_ns, s->end_ns);
	struct graph_wait v = {
		.actor = actor, .waker = ACTOR_UNKNOWN, .start_ns = s->start_ns,
		.end_ns = by ? by->time_ns : s->end_ns, .sid = s->sid, .state = s->state,
		.waker_path = PATH_NONE, .counts = true,
	};

	if (!by && s->state == STATE_QUEUE && is_device(&w->actors.items[actor])) {
		add_idle(w, actor, s->start_ns, s->end_ns);
		return;
	}
	v.path = path_at(w, s->tid, s->start_ns);
	if (by && by->waker_tid != TID_NOBODY) {
		v.waker = actor_of(w, by->waker_tid);
		v.waker_path = path_at(w, by->waker_tid, by->time_ns - 1);
	}
	if (by) {
		struct actor *a = &w->actors.items[actor];	/* the array may have moved */

		a->runnable_ns = sum_saturated(a->runnable_ns, s->end_ns - by->time_ns);
	}
	VEC_ADD(&w->waits, v);
}

/* The time that the thread ran, or could have, in (start, end]. */
static void active_between(const struct wait_world *w, uint32_t thread, int64_t start_ns,
			   int64_t end_ns, int64_t *ret_running_ns, int64_t *ret_runnable_ns)
{
	size_t i = timeline_segment_before(w->tl, thread, end_ns);
	size_t first = w->tl->threads.items[thread].segments.first;

	*ret_running_ns = *ret_runnable_ns = 0;
	for (; i != SEGMENT_NONE && w->tl->segments[i].end_ns > start_ns; i--) {
		const struct segment *s = &w->tl->segments[i];
		int64_t from_ns = s->start_ns > start_ns ? s->start_ns : start_ns;
		int64_t to_ns = s->end_ns < end_ns ? s->end_ns : end_ns;

		*(s->state == STATE_RUNNING ? ret_running_ns : ret_runnable_ns) += to_ns - from_ns;
		if (i == first)
			break;
	}
}

/* Joins the waits around each false wake-up; they are waits[first..]. */
static void join_false_wakeups(struct wait_world *w, uint32_t thread, size_t first)
{
	const struct trace *t = w->tl->trace;
	uint64_t tid = w->tl->threads.items[thread].tid;
	struct graph_wait *v = w->waits.items;
	const struct false_wakeup *f = t->false_wakeups.items;
	size_t at = partition_point(i, t->false_wakeups.cnt, f[i].tid < tid), kept = first;

	for (size_t i = first; i < w->waits.cnt; i++) {
		struct graph_wait *before = kept > first ? &v[kept - 1] : NULL;
		int64_t running_ns, runnable_ns;

		while (before && at < t->false_wakeups.cnt && f[at].tid == tid &&
		       f[at].time_ns < before->end_ns)
			at++;
		if (!before || at == t->false_wakeups.cnt || f[at].tid != tid ||
		    f[at].time_ns > v[i].start_ns) {
			v[kept++] = v[i];
			continue;
		}
		active_between(w, thread, before->end_ns, v[i].start_ns, &running_ns, &runnable_ns);
		w->actors.items[before->actor].running_ns -= running_ns;
		w->actors.items[before->actor].runnable_ns -= runnable_ns;
		before->end_ns = v[i].end_ns;
		before->waker = v[i].waker;
		before->waker_path = v[i].waker_path;
	}
	w->waits.cnt = kept;
}

static void match_thread(struct wait_world *w, uint32_t thread, uint32_t actor,
			 const struct map *interval_sids)
{
	const struct index_range *r = &w->tl->threads.items[thread].segments;
	size_t first = w->waits.cnt;
	int64_t known_until_ns = w->start_ns;

	for (size_t i = 0; i < r->cnt; i++) {
		const struct segment *s = &w->tl->segments[r->first + i];
		struct actor *a = &w->actors.items[actor];
		uint64_t unused;

		if (is_device(a))
			add_idle(w, actor, known_until_ns, s->start_ns);
		known_until_ns = s->end_ns;
		if (s->sid != SID_NONE && map_get(interval_sids, s->sid, &unused))
			a->foreground = true;
		if (s->state == STATE_RUNNING)
			a->running_ns = sum_saturated(a->running_ns, s->end_ns - s->start_ns);
		else if (s->state == STATE_RUNNABLE)
			a->runnable_ns = sum_saturated(a->runnable_ns, s->end_ns - s->start_ns);
		else
			match_wait(w, thread, actor, s);
	}
	if (is_device(&w->actors.items[actor]))
		add_idle(w, actor, known_until_ns, w->end_ns);
	else
		join_false_wakeups(w, thread, first);
}

/* ---- all of them ---- */

/* Between two lives, and before and after all, a lane waits for its parent. */
static void add_gap(struct wait_world *w, uint32_t actor, uint64_t parent_tid, int64_t start_ns,
		    int64_t end_ns)
{
	uint32_t parent = actor_of(w, parent_tid);

	if (start_ns < end_ns)
		VEC_ADD(&w->waits, (struct graph_wait){
			.actor = actor, .waker = parent, .start_ns = start_ns, .end_ns = end_ns,
			.sid = SID_NONE, .path = PATH_NONE, .state = STATE_QUEUE, .counts = true,
			.waker_path = path_at(w, parent_tid, end_ns - 1) });
}

static void match_lanes(struct wait_world *w, const lives *l, const struct map *interval_sids)
{
	for (size_t i = 0; i < l->cnt; i++) {
		const struct life *life = &l->items[i];
		const struct life *next = i + 1 < l->cnt ? life + 1 : NULL;
		uint32_t actor = actor_of(w, w->tl->threads.items[life->thread].tid);
		bool first = i == 0 || actor_of(w, w->tl->threads.items[life[-1].thread].tid) != actor;
		bool last = !next || actor_of(w, w->tl->threads.items[next->thread].tid) != actor;

		if (first)
			add_gap(w, actor, life->parent_tid, w->start_ns, life->start_ns);
		match_thread(w, life->thread, actor, interval_sids);
		add_gap(w, actor, life->parent_tid, life->end_ns, last ? w->end_ns : next->start_ns);
	}
}

static void add_lanes(struct wait_world *w, const lives *l)
{
	uint32_t actor = ACTOR_NONE;

	for (size_t i = 0; i < l->cnt; i++) {
		const struct life *life = &l->items[i];
		uint64_t tid = w->tl->threads.items[life->thread].tid;

		if (i == 0 || life->lane != life[-1].lane)
			actor = add_actor(w, tid, true);
		join_actor(w, actor, tid);
	}
}

static int by_actor(const void *pa, const void *pb)
{
	const struct graph_wait *a = pa, *b = pb;

	if (a->actor != b->actor)
		return a->actor < b->actor ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

void wait_match(struct wait_world *w)
{
	const struct trace *t = w->tl->trace;
	_cleanup_(map_freep) struct map *interval_sids = map_new();
	lives l = { NULL, 0, 0 };
	uint64_t lane;

	for (size_t i = 0; i < t->intervals.cnt; i++)
		map_set(interval_sids, t->intervals.items[i].sid, 1);
	whole_run_span(t, &w->start_ns, &w->end_ns);
	w->actor_of_tid = map_new();
	add_actor(w, VERTEX_ID_NONE, false);
	wait_lanes(w, &l);
	add_lanes(w, &l);
	for (uint32_t n = 0; n < w->tl->threads.cnt; n++) {
		uint64_t tid = w->tl->threads.items[n].tid;

		if (w->tl->threads.items[n].segments.cnt && !map_get(w->actor_of_tid, tid, &lane))
			join_actor(w, add_actor(w, tid, true), tid);
	}
	match_lanes(w, &l, interval_sids);
	for (uint32_t n = 0; n < w->tl->threads.cnt; n++) {
		const struct thread_line *line = &w->tl->threads.items[n];
		uint32_t actor = line->segments.cnt ? actor_of(w, line->tid) : ACTOR_NONE;

		if (actor != ACTOR_NONE && w->actors.items[actor].members.cnt == 1)
			match_thread(w, n, actor, interval_sids);
	}
	VEC_RELEASE(&l);
	if (w->waits.cnt > 1)
		qsort(w->waits.items, w->waits.cnt, sizeof(*w->waits.items), by_actor);
	for (size_t i = 0; i < w->waits.cnt; i++) {
		const struct graph_wait *v = &w->waits.items[i];
		struct actor *a = &w->actors.items[v->actor];

		a->waiting_ns = sum_saturated(a->waiting_ns, v->end_ns - v->start_ns);
	}
}

void wait_world_release(struct wait_world *w)
{
	for (size_t i = 0; i < w->actors.cnt; i++)
		VEC_RELEASE(&w->actors.items[i].members);
	VEC_RELEASE(&w->actors);
	VEC_RELEASE(&w->waits);
	map_free(w->actor_of_tid);
}
