/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wait_lanes.c - joins short-lived threads to virtual ones that live longer (wPerf 3.3).
 *
 * A thread made for one task has no waits that would show its part in the program.  Threads of one parent, whose
 * names differ in a number at most, share lanes: each takes the first lane that is free when it begins.  A lane then
 * counts as one thread; between two lives it waits for the parent to make the next.
 *
 *	born, dead	1 [0,10]   2 [5,20]   3 [12,30]   4 [25,40]
 *	lanes		1 and 3; 2 and 4
 *
 * The children of all lives of a lane have one parent, the lane: make starts a gcc for each file, in as many lanes as
 * there are jobs, and each gcc a cc1, which have as many.
 *
 * A thread is short-lived if it was created during the run, ended before it, and lived less than half of it.  A
 * thread that waits for work until the program is killed has few records, but none of its end.
 */
#include "analysis/whole_run/wait_passes.h"

#include <stdlib.h>
#include "base/map.h"
#include "base/banned.h"

#define NO_LANE UINT32_MAX

struct lane {
	int64_t free_ns;		/* when its last life ended */
	uint32_t life_cnt;
	uint32_t next;			/* of the same parent and name; NO_LANE: none */
};

struct assigning {
	const struct trace *t;
	VEC(struct lane) lanes;
	struct map *first_of;		/* parent and name -> their first lane, plus one */
	struct map *lane_of;		/* TID -> its lane, plus one */
};

static int by_birth(const void *pa, const void *pb)
{
	const struct life *a = pa, *b = pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static int by_lane(const void *pa, const void *pb)
{
	const struct life *a = pa, *b = pb;

	if (a->lane != b->lane)
		return a->lane < b->lane ? -1 : 1;
	return by_birth(pa, pb);
}

static void collect(const struct wait_world *w, lives *ret)
{
	const struct trace *t = w->tl->trace;
	int64_t half_ns = (w->end_ns - w->start_ns) / 2;

	for (uint32_t n = 0; n < w->tl->threads.cnt; n++) {
		const struct thread_line *line = &w->tl->threads.items[n];
		const struct index_range *r = &line->segments;
		const struct thread_name *known = whole_run_thread(t, line->tid);
		const struct creation *made;
		struct life l = { .thread = n, .tid = line->tid };

		if (r->cnt == 0 || line->creations.cnt == 0 || !kind_is_thread(line->kind))
			continue;
		made = &t->creations.items[line->creations.first];
		l.parent_tid = made->tid;
		l.start_ns = w->tl->segments[r->first].start_ns;
		l.end_ns = w->tl->segments[r->first + r->cnt - 1].end_ns;
		if (!(known && known->open_end) && made->tid != line->tid && made->time2_ns <= l.start_ns &&
		    l.end_ns < w->end_ns && l.end_ns - l.start_ns < half_ns)
			VEC_ADD(ret, l);
	}
}

/* The same for threads that may share a lane. */
static uint64_t kin_of(const struct assigning *a, const struct life *l)
{
	const char *name = whole_run_thread_name(a->t, l->tid);
	uint64_t lane = 0, hash;

	hash = map_get(a->lane_of, l->parent_tid, &lane) ? hash_u64(1, lane) : hash_u64(2, l->parent_tid);
	for (name = past_digits(name ? name : ""); *name; name = past_digits(name + 1))
		hash = hash_bytes(hash, name, 1);
	return hash;
}

static uint32_t add_lane(struct assigning *a)
{
	VEC_ADD(&a->lanes, (struct lane){ .free_ns = INT64_MIN, .next = NO_LANE });
	return (uint32_t)a->lanes.cnt - 1;
}

/* The first lane of its kin that is free. */
static uint32_t free_lane(struct assigning *a, const struct life *l)
{
	uint64_t *first = map_slot(a->first_of, kin_of(a, l));
	uint32_t at;

	if (!*first)
		*first = (uint64_t)add_lane(a) + 1;
	for (at = (uint32_t)(*first - 1); a->lanes.items[at].free_ns > l->start_ns; at = a->lanes.items[at].next)
		if (a->lanes.items[at].next == NO_LANE) {
			uint32_t added = add_lane(a);

			a->lanes.items[at].next = added;
		}
	return at;
}

static void assign(struct assigning *a, struct life *l)
{
	l->lane = free_lane(a, l);
	a->lanes.items[l->lane].free_ns = l->end_ns;
	a->lanes.items[l->lane].life_cnt++;
	map_set(a->lane_of, l->tid, (uint64_t)l->lane + 1);
}

void wait_lanes(const struct wait_world *w, lives *ret)
{
	struct assigning a = { .t = w->tl->trace, .first_of = map_new(), .lane_of = map_new() };
	size_t kept = 0;

	collect(w, ret);
	if (ret->cnt > 1)
		qsort(ret->items, ret->cnt, sizeof(*ret->items), by_birth);
	for (size_t i = 0; i < ret->cnt; i++)
		assign(&a, &ret->items[i]);
	for (size_t i = 0; i < ret->cnt; i++)
		if (a.lanes.items[ret->items[i].lane].life_cnt > 1)
			ret->items[kept++] = ret->items[i];
	ret->cnt = kept;
	if (kept)
		qsort(ret->items, kept, sizeof(*ret->items), by_lane);
	VEC_RELEASE(&a.lanes);
	map_free(a.first_of);
	map_free(a.lane_of);
}
