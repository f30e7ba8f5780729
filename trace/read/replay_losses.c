/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay_losses.c - marks intervals that are not whole: records were lost, or the trace was cut off while
 * they ran.
 */
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "base/saturate.h"
#include "base/search.h"
#include "trace/read/replay_state.h"

static bool is_unfinished(const struct replay *p, const struct interval *v)
{
	uint64_t unused;

	return p->unfinished && map_get(p->unfinished, v->sid, &unused);
}

struct map *replay_unfinished(const struct replay *p)
{
	struct map *sids = map_new();

	for (size_t thread = 0; thread < p->rd->raw.threads.cnt; thread++)
		for (size_t i = 0; i < p->stacks[thread].cnt; i++)
			map_set(sids, p->stacks[thread].items[i].sid, 1);
	return sids;
}

void replay_know_unfinished(struct replay *p, struct map *sids)
{
	map_free(p->unfinished);
	p->unfinished = sids;
}

/* For intervals that have ended; the others are checked when they join the trace. */
void replay_mark_unfinished(struct replay *p)
{
	replay_know_unfinished(p, replay_unfinished(p));
	for (size_t i = 0; i < p->t->intervals.cnt; i++) {
		struct interval *v = &p->t->intervals.items[i];

		if (v->lost || !is_unfinished(p, v))
			continue;
		v->lost = true;
		p->t->losses.intervals++;
	}
}

static int compare_losses(const void *a, const void *b)
{
	const struct loss *x = a, *y = b;

	return x->since_ns < y->since_ns ? -1 : x->since_ns > y->since_ns;
}

/* Makes the windows in which records were lost disjoint, and sorts them. */
static void join_losses(struct replay *p)
{
	struct loss *l = p->losses.items;
	size_t cnt = 0;

	if (p->losses.cnt)
		qsort(l, p->losses.cnt, sizeof(*l), compare_losses);
	for (size_t i = 0; i < p->losses.cnt; i++) {
		if (cnt && l[i].since_ns <= l[cnt - 1].until_ns) {
			if (l[i].until_ns > l[cnt - 1].until_ns)
				l[cnt - 1].until_ns = l[i].until_ns;
		} else {
			l[cnt++] = l[i];
		}
	}
	p->losses.cnt = cnt;
}

static void note_thread(struct losses *l, uint64_t tid)
{
	size_t i = 0;

	while (i < HOLE_TIDS && i < l->holes.tid_cnt && l->holes.tids[i] != tid)
		i++;
	if (i < HOLE_TIDS)
		l->holes.tids[i] = tid;
	l->holes.tid_cnt += i == l->holes.tid_cnt;
}

/* Reports the holes of the trace as losses. */
static void tell_holes(struct replay *p)
{
	const struct raw *r = &p->rd->raw;
	struct losses *l = &p->t->losses;

	memset(&l->holes, 0, sizeof(l->holes));
	l->holes.cnt = r->holes.cnt;
	l->holes.blocks = r->damage.blocks;
	l->holes.records = r->damage.records;
	l->holes.tables = r->damage.tables;
	l->holes.bytes = r->damage.bytes;
	l->holes.twice = r->damage.twice;
	l->holes.files = r->damage.files;
	for (size_t i = 0; i < r->holes.cnt; i++)
		l->holes.ns = sum_saturated(l->holes.ns, (int64_t)(r->holes.items[i].until - r->holes.items[i].since));
	if (r->holes.cnt) {
		l->holes.since_ns = (int64_t)r->holes.items[0].since;
		l->holes.until_ns = (int64_t)r->holes.items[r->holes.cnt - 1].until;
	}
	for (size_t i = 0; i < r->gaps.cnt; i++)
		note_thread(l, r->threads.items[r->gaps.items[i].thread].tid);
}

void replay_losses(struct replay *p, const struct raw_event *events, size_t cnt)
{
	const struct raw *r = &p->rd->raw;

	p->t->losses.records += r->lost_cnt;
	full_tables_add(&p->t->losses.full, &r->full);
	p->t->losses.cut_bytes = r->cut_bytes;
	p->t->losses.cut_off = !r->ended;
	p->t->windowed = r->windowed;
	tell_holes(p);
	for (size_t i = 0; i < r->holes.cnt; i++)
		VEC_ADD(&p->losses, (struct loss){ (int64_t)r->holes.items[i].since, (int64_t)r->holes.items[i].until });
	if (r->lost_cnt)
		VEC_ADD(&p->losses, (struct loss){ (int64_t)r->lost_since, INT64_MAX });
	for (size_t i = 0; i < cnt; i++)
		if (events[i].kind == EVENT_LOSS)
			VEC_ADD(&p->losses, (struct loss){ (int64_t)events[i].words[0], events[i].ns });
	join_losses(p);
}

void replay_lose_sight(struct replay *p, uint64_t sid, uint32_t thread)
{
	struct worker *w = sid == SID_NONE ? NULL : find_worker(p, sid);

	if (w && w->thread == thread)
		w->out_of_sight = true;
}

void replay_count_lost_sight(struct replay *p, const struct worker *w, uint32_t thread)
{
	if (w->out_of_sight && w->thread == thread)
		full_tables_count(&p->t->losses.full, TABLE_INTERVALS, LABELS_MAX);
}

/* An interval is touched if any thread lost records while it was under way: a missing lock holder falsifies
 * it as much as a missing call. */
void replay_mark_losses(struct replay *p, struct interval *v)
{
	int64_t end_ns = v->status == INTERVAL_OPEN ? INT64_MAX : v->end_ns;
	/* The first window that ends after the interval begins. */
	size_t first = partition_point(i, p->losses.cnt, p->losses.items[i].until_ns < v->start_ns);

	if ((first < p->losses.cnt && p->losses.items[first].since_ns <= end_ns) || is_unfinished(p, v))
		v->lost = true;
	p->t->losses.intervals += v->lost;
}
