/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * span_waits.c - when the threads of spans waited.
 *
 *	interval 1 on a thread 0..100; waits 20..50 and 90..120; spans until 130
 *	running 0..20 for 1, wait 20..50, running 50..90, wait 90..100; wait 100..120 for none, running 120..130
 */
#include <stdlib.h>

#include "base/banned.h"
#include "base/map.h"
#include "cmd/formats/spans/spans.h"

struct life {				/* of a thread, from its first span or wait to its last */
	uint64_t tid;
	int64_t start_ns, end_ns;
};

struct cutting {
	struct trace *t;
	const struct segment *works;	/* for intervals; sorted by thread and time, disjoint */
	size_t work_cnt, work;
	bool knows_rest;
};

static int by_thread(const void *pa, const void *pb)
{
	const struct span_wait *a = pa, *b = pb;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

static int lives_by_thread(const void *pa, const void *pb)
{
	const struct life *a = pa, *b = pb;

	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

static int works_by_thread(const void *pa, const void *pb)
{
	const struct segment *a = pa, *b = pb;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* A stretch in one state, cut where the thread turns to another interval. */
static void put(struct cutting *c, uint64_t tid, int64_t start_ns, int64_t end_ns, enum trace_state state)
{
	while (start_ns < end_ns) {
		const struct segment *w;
		uint64_t sid = SID_NONE;
		int64_t until_ns = end_ns;
		bool is_known = c->knows_rest || state != STATE_RUNNING;

		while (c->work < c->work_cnt && (c->works[c->work].tid < tid ||
						 (c->works[c->work].tid == tid && c->works[c->work].end_ns <= start_ns)))
			c->work++;
		w = c->work < c->work_cnt && c->works[c->work].tid == tid ? &c->works[c->work] : NULL;
		if (w && w->start_ns > start_ns)
			until_ns = w->start_ns < end_ns ? w->start_ns : end_ns;
		else if (w) {
			is_known = true;
			sid = w->sid;
			until_ns = w->end_ns < end_ns ? w->end_ns : end_ns;
		}
		if (is_known)
			VEC_ADD(&c->t->segments, (struct segment){ .tid = tid, .sid = sid, .start_ns = start_ns, .end_ns = until_ns, .state = state });
		start_ns = until_ns;
	}
}

static void widen(struct map *lives, struct life *items, size_t *cnt, uint64_t tid, int64_t start_ns, int64_t end_ns)
{
	uint64_t *slot = map_slot(lives, tid);
	struct life *l;

	if (!*slot) {
		items[*cnt] = (struct life){ tid, start_ns, end_ns };
		*slot = ++*cnt;
	}
	l = &items[*slot - 1];
	l->start_ns = start_ns < l->start_ns ? start_ns : l->start_ns;
	l->end_ns = end_ns > l->end_ns ? end_ns : l->end_ns;
}

static struct life *find_lives(const struct spans *s, const struct trace *t, size_t *ret_cnt)
{
	_cleanup_(map_freep) struct map *known = map_new();
	struct life *lives = xcalloc(s->waits.cnt + t->invocations.cnt + t->segments.cnt + 1, sizeof(*lives));

	*ret_cnt = 0;
	for (size_t i = 0; i < t->invocations.cnt; i++)
		widen(known, lives, ret_cnt, t->invocations.items[i].tid, t->invocations.items[i].start_ns, t->invocations.items[i].end_ns);
	for (size_t i = 0; i < s->waits.cnt; i++)
		widen(known, lives, ret_cnt, s->waits.items[i].tid, s->waits.items[i].start_ns, s->waits.items[i].end_ns);
	for (size_t i = 0; i < t->segments.cnt; i++)
		widen(known, lives, ret_cnt, t->segments.items[i].tid, t->segments.items[i].start_ns, t->segments.items[i].end_ns);
	qsort(lives, *ret_cnt, sizeof(*lives), lives_by_thread);
	return lives;
}

void spans_cut_waits(struct spans *s, struct trace *t, bool knows_rest)
{
	_cleanup_(freep) struct segment *works = NULL;
	_cleanup_(freep) struct life *lives = NULL;
	struct cutting c = { .t = t, .knows_rest = knows_rest };
	size_t life_cnt;

	if (!s->waits.cnt)
		return;
	lives = find_lives(s, t, &life_cnt);
	c.works = works = TAKE_PTR(t->segments.items);
	c.work_cnt = t->segments.cnt;
	t->segments.cnt = t->segments.cap = 0;
	if (c.work_cnt)
		qsort(works, c.work_cnt, sizeof(*works), works_by_thread);
	qsort(s->waits.items, s->waits.cnt, sizeof(*s->waits.items), by_thread);
	for (size_t i = 0, wait = 0; i < life_cnt; i++) {
		int64_t at_ns = lives[i].start_ns;

		for (; wait < s->waits.cnt && s->waits.items[wait].tid == lives[i].tid; wait++) {
			const struct span_wait *w = &s->waits.items[wait];

			put(&c, w->tid, at_ns, w->start_ns, STATE_RUNNING);
			put(&c, w->tid, w->start_ns > at_ns ? w->start_ns : at_ns, w->end_ns, w->state);
			at_ns = w->end_ns > at_ns ? w->end_ns : at_ns;
		}
		put(&c, lives[i].tid, at_ns, lives[i].end_ns, STATE_RUNNING);
	}
	for (size_t i = 0; i < s->wakeups.cnt; i++)
		VEC_ADD(&t->wakeups, s->wakeups.items[i]);
}
