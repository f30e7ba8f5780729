/* SPDX-License-Identifier: GPL-3.0-or-later */
/* in_virtual_time.c - see in_virtual_time.h. */
#include "trace/causal/in_virtual_time.h"

#include <stdlib.h>
#include "base/banned.h"
#include "base/map.h"

struct moment {
	int64_t ns, virtual_ns;		/* both ascending */
};

struct clock {				/* of a thread: moments from first on */
	size_t first, cnt;
};

struct clocks {
	struct map *of;			/* tid: index + 1 */
	VEC(struct clock) list;
	VEC(struct moment) moments;
};

static int by_thread(const void *x, const void *y)
{
	const struct trace_shift *a = x, *b = y;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return a->shift_ns < b->shift_ns ? -1 : a->shift_ns > b->shift_ns;
}

/* A clock that was recorded late seems to go back: it stands still. */
static void add_moment(struct clocks *c, struct clock *of, int64_t ns, int64_t shift_ns)
{
	const struct moment *last = of->cnt ? &c->moments.items[c->moments.cnt - 1] : NULL;
	int64_t at = ns - shift_ns;

	if (last && at < last->virtual_ns)
		at = last->virtual_ns;
	VEC_ADD(&c->moments, (struct moment){ ns, at });
	of->cnt++;
}

static void make_clocks(struct clocks *c, struct trace *t)
{
	c->of = map_new();
	if (t->shifts.cnt)
		qsort(t->shifts.items, t->shifts.cnt, sizeof(t->shifts.items[0]), by_thread);
	for (size_t i = 0; i < t->shifts.cnt; i++) {
		const struct trace_shift *s = &t->shifts.items[i];

		if (!i || s[-1].tid != s->tid) {
			VEC_ADD(&c->list, (struct clock){ c->moments.cnt, 0 });
			*map_slot(c->of, s->tid) = c->list.cnt;
		}
		add_moment(c, &c->list.items[c->list.cnt - 1], s->ns, s->shift_ns);
	}
}

static void release_clocks(struct clocks *c)
{
	map_free(c->of);
	VEC_RELEASE(&c->list);
	VEC_RELEASE(&c->moments);
}

static int64_t between(const struct moment *a, const struct moment *b, int64_t ns)
{
	int64_t took = b->ns - a->ns;

	if (took <= 0)
		return b->virtual_ns;
	return a->virtual_ns + (int64_t)((__int128)(ns - a->ns) * (b->virtual_ns - a->virtual_ns) / took);
}

static int64_t virtually(const struct clocks *c, uint64_t tid, int64_t ns)
{
	const struct moment *first, *at;
	uint64_t index = 0;
	size_t low = 0, high;

	if (!map_get(c->of, tid, &index) || !index)
		return ns;
	first = &c->moments.items[c->list.items[index - 1].first];
	high = c->list.items[index - 1].cnt;
	while (low < high) {		/* the first one after ns */
		size_t middle = (low + high) / 2;

		if (first[middle].ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return ns - (first->ns - first->virtual_ns);
	at = &first[low - 1];
	return low == c->list.items[index - 1].cnt ? at->virtual_ns + (ns - at->ns) : between(at, at + 1, ns);
}

/* The recorder was delayed in the block's round, which began again.  A round's blocks follow each other. */
static bool is_repeated(const struct trace *t, size_t block)
{
	const struct faster_block *b = &t->blocks.items[block];

	for (size_t i = block + 1; i < t->blocks.cnt && t->blocks.items[i].round == b->round; i++)
		if (t->blocks.items[i].speed == b->speed && t->blocks.items[i].target == b->target)
			return true;
	return false;
}

static void drop_repeated(struct trace *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->blocks.cnt; i++)
		if (!is_repeated(t, i))
			t->blocks.items[kept++] = t->blocks.items[i];
	t->blocks.cnt = kept;
}

static bool counts(const struct trace *t, const struct interval *iv, uint32_t target, uint32_t speed)
{
	if (iv->status != INTERVAL_COMPLETED)
		return false;
	for (size_t i = 0; i < t->blocks.cnt; i++) {
		const struct faster_block *b = &t->blocks.items[i];

		if (b->speed == speed && (!speed || b->target == target) && b->end_ns != INT64_MAX && b->over_ns != INT64_MAX &&
		    iv->start_ns >= b->begin_ns && iv->start_ns <= b->end_ns && iv->end_ns <= b->over_ns)
			return true;
	}
	return false;
}

static void map_intervals(struct trace *t, const struct clocks *c, uint32_t target, uint32_t speed)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->intervals.cnt; i++) {
		struct interval iv = t->intervals.items[i];

		if (!counts(t, &iv, target, speed))
			continue;
		iv.start_ns = virtually(c, iv.start_tid, iv.start_ns);
		iv.end_ns = virtually(c, iv.end_tid, iv.end_ns);
		iv.begun_ns = iv.begun_ns ? virtually(c, iv.start_tid, iv.begun_ns) : 0;
		iv.idle_ns = iv.idle_ns ? virtually(c, iv.start_tid, iv.idle_ns) : 0;
		if (iv.end_ns >= iv.start_ns)	/* else records of threads were lost */
			t->intervals.items[kept++] = iv;
	}
	t->intervals.cnt = kept;
}

/* One that is virtually over at once is none. */
static void map_segments(struct trace *t, const struct clocks *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->segments.cnt; i++) {
		struct segment s = t->segments.items[i];

		s.start_ns = virtually(c, s.tid, s.start_ns);
		s.end_ns = virtually(c, s.tid, s.end_ns);
		if (s.end_ns > s.start_ns)
			t->segments.items[kept++] = s;
	}
	t->segments.cnt = kept;
}

static void map_others(struct trace *t, const struct clocks *c)
{
	for (size_t i = 0; i < t->invocations.cnt; i++) {
		struct invocation *v = &t->invocations.items[i];

		v->start_ns = virtually(c, v->tid, v->start_ns);
		v->end_ns = virtually(c, v->tid, v->end_ns);
	}
	for (size_t i = 0; i < t->wakeups.cnt; i++)
		t->wakeups.items[i].time_ns = virtually(c, t->wakeups.items[i].tid, t->wakeups.items[i].time_ns);
	for (size_t i = 0; i < t->creations.cnt; i++) {
		struct creation *x = &t->creations.items[i];

		x->time_ns = virtually(c, x->tid, x->time_ns);
		x->time2_ns = virtually(c, x->tid2, x->time2_ns);
	}
	for (size_t i = 0; i < t->false_wakeups.cnt; i++)
		t->false_wakeups.items[i].time_ns = virtually(c, t->false_wakeups.items[i].tid, t->false_wakeups.items[i].time_ns);
}

size_t trace_targets_cnt(const struct trace *t)
{
	size_t cnt = 0;

	for (size_t i = 0; i < t->blocks.cnt; i++)
		if (t->blocks.items[i].speed && t->blocks.items[i].target >= cnt)
			cnt = t->blocks.items[i].target + 1;
	return cnt;
}

size_t trace_put_in_virtual_time(struct trace *t, uint32_t target, uint32_t speed)
{
	struct clocks c = { NULL, { NULL, 0, 0 }, { NULL, 0, 0 } };

	make_clocks(&c, t);
	drop_repeated(t);
	map_intervals(t, &c, target, speed);
	map_segments(t, &c);
	map_others(t, &c);
	release_clocks(&c);
	t->shifts.cnt = t->blocks.cnt = 0;
	trace_sort(t);
	return t->intervals.cnt;
}
