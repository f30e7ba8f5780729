/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wait_lanes.c - short-lived threads, put together to virtual ones that live on (wPerf 3.3).
 *
 * A thread made for one task waits for nothing that would show its part in the program.  Those
 * with one parent are laid side by side: each takes the first lane that is free when it begins.  A
 * lane is one thread then; between two lives it waits for the parent to make the next.
 *
 *	born, dead	1 [0,10]   2 [5,20]   3 [12,30]   4 [25,40]
 *	lanes		1 and 3; 2 and 4
 *
 * Short-lived is who was made during the run, ended before it, and lived less than half of it.  Of a
 * thread that waits for work until the program is killed little is known, but not that it ended.
 */
#include "analysis/wait_passes.h"

#include <stdlib.h>
#include "base/banned.h"

static int by_birth(const void *pa, const void *pb)
{
	const struct life *a = pa, *b = pb;

	if (a->parent_tid != b->parent_tid)
		return a->parent_tid < b->parent_tid ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static int by_lane(const void *pa, const void *pb)
{
	const struct life *a = pa, *b = pb;

	if (a->parent_tid != b->parent_tid)
		return a->parent_tid < b->parent_tid ? -1 : 1;
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
		const struct range *r = &line->segments;
		const struct thread_name *known = run_thread(t, line->tid);
		const struct creation *made;
		struct life l = { .thread = n };

		if (r->cnt == 0 || line->creations.cnt == 0 || line->kind != KIND_THREAD)
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

/* first..end are the children of one parent, in order of birth. */
static void assign(struct life *first, struct life *end)
{
	VEC(int64_t) free_ns = { NULL, 0, 0 };	/* by lane: when its last life ended */

	for (struct life *l = first; l < end; l++) {
		while (l->lane < free_ns.cnt && free_ns.items[l->lane] > l->start_ns)
			l->lane++;
		if (l->lane == free_ns.cnt)
			VEC_ADD(&free_ns, 0);
		free_ns.items[l->lane] = l->end_ns;
	}
	VEC_RELEASE(&free_ns);
}

static bool same_lane(const struct life *a, const struct life *b)
{
	return a->parent_tid == b->parent_tid && a->lane == b->lane;
}

void wait_lanes(const struct wait_world *w, lives *ret)
{
	struct life *l;
	size_t kept = 0;

	collect(w, ret);
	if (ret->cnt < 2) {
		ret->cnt = 0;
		return;
	}
	l = ret->items;
	qsort(l, ret->cnt, sizeof(*l), by_birth);
	for (size_t i = 0, end; i < ret->cnt; i = end) {
		for (end = i + 1; end < ret->cnt && l[end].parent_tid == l[i].parent_tid; )
			end++;
		assign(&l[i], &l[end]);
	}
	qsort(l, ret->cnt, sizeof(*l), by_lane);
	for (size_t i = 0; i < ret->cnt; i++) {
		bool before = i > 0 && same_lane(&l[i - 1], &l[i]);

		/* kept <= i - 1 where it is compared, so what was before is still there or a copy. */
		if (before || (i + 1 < ret->cnt && same_lane(&l[i], &l[i + 1])))
			l[kept++] = l[i];
	}
	ret->cnt = kept;
}
