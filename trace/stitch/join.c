/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * join.c - finds which interval called which, by the ids, and in which of its waits it waited for the answers.
 *
 * Calls between which the caller did not wait for a file or socket are a group: any of its waits may be for any of them.
 *
 *	calls 7, waits, calls 8 and 9, waits, waits	7 has the first wait; 8 and 9 have the other two
 *
 * An interval whose parent is the caller's own span, and not a call's, may explain any wait of the caller.
 */
#include "base/banned.h"
#include "base/search.h"
#include "trace/stitch/stitching.h"

struct call_made {
	uint64_t span, group;
	size_t interval, next;		/* next: of the same span, index + 1 */
	int64_t ns, until_ns;		/* until_ns: the answer came before */
	size_t first_wait, wait_cnt;
};

struct joining {
	struct stitching *s;
	struct map *ids_of;		/* sid -> index of its ids + 1 */
	VEC(struct call_made) calls;
	struct map *call_of;		/* span -> the first call's index + 1 */
	uint64_t group_cnt;
};

int64_t stitch_woken(const struct trace *t, uint64_t tid, int64_t start_ns, int64_t end_ns, const struct wakeup **ret)
{
	const struct wakeup *w = t->wakeups.items;
	size_t at = partition_point(i, t->wakeups.cnt, w[i].tid < tid || (w[i].tid == tid && w[i].time_ns <= end_ns));

	*ret = at && w[at - 1].tid == tid && w[at - 1].time_ns > start_ns ? &w[at - 1] : NULL;
	return *ret ? (*ret)->time_ns : end_ns;
}

/* The interval for which the thread worked then; SIZE_MAX: none. */
static size_t interval_at(const struct stitching *s, uint64_t tid, int64_t ns)
{
	const struct segment *g = s->t->segments.items;
	size_t at = partition_point(i, s->t->segments.cnt, g[i].tid < tid || (g[i].tid == tid && g[i].start_ns <= ns));
	uint64_t interval;

	if (!at || g[at - 1].tid != tid || g[at - 1].end_ns < ns || !map_get(s->interval_of, g[at - 1].sid, &interval))
		return SIZE_MAX;
	return (size_t)interval - 1;
}

static void add_call(struct joining *j, uint64_t span, size_t interval, int64_t ns)
{
	uint64_t *first = map_slot(j->call_of, span);

	VEC_ADD(&j->calls, (struct call_made){ .span = span, .interval = interval, .next = (size_t)*first, .ns = ns, .until_ns = -1 });
	*first = j->calls.cnt;
}

static void find_calls(struct joining *j)
{
	const struct trace *t = j->s->t;

	for (size_t i = 0; i < t->remote_calls.cnt; i++) {
		const struct remote_call *c = &t->remote_calls.items[i];
		size_t interval = c->span ? interval_at(j->s, c->tid, c->time_ns) : SIZE_MAX;

		if (interval != SIZE_MAX)
			add_call(j, c->span, interval, c->time_ns);
	}
	for (size_t i = 0; i < t->ids.cnt; i++) {
		uint64_t interval;

		if (t->ids.items[i].span && map_get(j->s->interval_of, t->ids.items[i].sid, &interval))
			add_call(j, t->ids.items[i].span, (size_t)interval - 1, -1);
	}
}

/* ---- the waits of each call ---- */

struct moment {				/* a call, or a wait that ends */
	size_t interval;
	int64_t ns;
	size_t call, segment;		/* one of them; the other is SIZE_MAX */
};
typedef VEC(struct moment) moments;

static int by_interval(const void *pa, const void *pb)
{
	const struct moment *a = pa, *b = pb;

	if (a->interval != b->interval)
		return a->interval < b->interval ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	if ((a->call == SIZE_MAX) != (b->call == SIZE_MAX))
		return a->call == SIZE_MAX ? 1 : -1;
	return a->call != b->call ? (a->call < b->call ? -1 : 1) : (a->segment > b->segment) - (a->segment < b->segment);
}

static void find_moments(struct joining *j, moments *list)
{
	const struct trace *t = j->s->t;
	_cleanup_(map_freep) struct map *callers = map_new();
	uint64_t interval, unused;

	for (size_t i = 0; i < j->calls.cnt; i++) {
		map_set(callers, j->calls.items[i].interval, 1);
		VEC_ADD(list, (struct moment){ j->calls.items[i].interval, j->calls.items[i].ns, i, SIZE_MAX });
	}
	for (size_t i = 0; i < t->segments.cnt; i++)
		if (t->segments.items[i].state == STATE_IO && map_get(j->s->interval_of, t->segments.items[i].sid, &interval) &&
		    map_get(callers, interval - 1, &unused))
			VEC_ADD(list, (struct moment){ (size_t)interval - 1, t->segments.items[i].end_ns, SIZE_MAX, i });
	if (list->cnt > 1)
		qsort(list->items, list->cnt, sizeof(*list->items), by_interval);
}

/* The moments of one interval: calls without a time come first, and may be for all waits. */
static void group_calls(struct joining *j, const struct moment *m, size_t cnt)
{
	struct stitching *s = j->s;
	const struct interval *caller = &s->t->intervals.items[m->interval];
	size_t first_wait = s->waits.cnt, begin = 0, timeless = 0;

	for (size_t i = 0; i < cnt; i++)
		if (m[i].segment != SIZE_MAX)
			VEC_ADD(&s->waits, m[i].segment);
	while (timeless < cnt && m[timeless].call != SIZE_MAX && m[timeless].ns < 0) {
		struct call_made *c = &j->calls.items[m[timeless++].call];

		c->ns = caller->start_ns;
		c->until_ns = caller->end_ns;
		c->group = j->group_cnt;
		c->first_wait = first_wait;
		c->wait_cnt = s->waits.cnt - first_wait;
	}
	j->group_cnt += timeless > 0;
	for (size_t i = timeless, wait = first_wait, end; i < cnt; i = end) {
		size_t waits = 0;

		for (begin = i; i < cnt && m[i].call == SIZE_MAX; i++)
			wait++;			/* before the first call */
		for (begin = i; i < cnt && m[i].call != SIZE_MAX; i++)
			;
		for (end = i; end < cnt && m[end].call == SIZE_MAX; end++)
			waits++;
		for (size_t k = begin; k < i; k++) {
			struct call_made *c = &j->calls.items[m[k].call];
			const struct segment *last = waits ? &s->t->segments.items[m[end - 1].segment] : NULL;
			const struct wakeup *unused;

			c->until_ns = last ? stitch_woken(s->t, last->tid, last->start_ns, last->end_ns, &unused) :
				      end < cnt ? m[end].ns : caller->end_ns;
			c->group = j->group_cnt;
			c->first_wait = wait;
			c->wait_cnt = waits;
		}
		wait += waits;
		j->group_cnt++;
	}
}

static void find_waits(struct joining *j)
{
	moments list = { NULL, 0, 0 };

	find_moments(j, &list);
	for (size_t i = 0, end; i < list.cnt; i = end) {
		for (end = i; end < list.cnt && list.items[end].interval == list.items[i].interval; end++)
			;
		group_calls(j, &list.items[i], end - i);
	}
	VEC_RELEASE(&list);
}

/* ---- callers ---- */

static const struct interval_ids *ids_of(const struct joining *j, size_t interval)
{
	uint64_t at;

	return map_get(j->ids_of, j->s->t->intervals.items[interval].sid, &at) ? &j->s->t->ids.items[at - 1] : NULL;
}

static bool is_known(const uint64_t trace[2])
{
	return trace[0] | trace[1];
}

static bool may_be_of(const struct joining *j, const struct interval_ids *callee, const struct call_made *c)
{
	const struct interval_ids *caller = ids_of(j, c->interval);

	if (stitch_run_of(j->s->run_of_sid, callee->sid) == stitch_run_of(j->s->run_of_sid, j->s->t->intervals.items[c->interval].sid))
		return false;
	return !caller || !is_known(caller->trace) || !is_known(callee->trace) ||
	       (caller->trace[0] == callee->trace[0] && caller->trace[1] == callee->trace[1]);
}

/* A call has a time, or is any of the interval; of two callers none is believed. */
static const struct call_made *find_call(const struct joining *j, const struct interval_ids *callee, bool *ret_ambiguous)
{
	const struct call_made *found = NULL;
	uint64_t at = 0;

	map_get(j->call_of, callee->parent, &at);
	for (; at; at = j->calls.items[at - 1].next) {
		const struct call_made *c = &j->calls.items[at - 1];

		if (!may_be_of(j, callee, c))
			continue;
		*ret_ambiguous |= found && found->interval != c->interval;
		found = c;
	}
	return found;
}

static void join_interval(struct joining *j, size_t callee, const struct interval_ids *ids)
{
	struct stitching *s = j->s;
	const struct interval *v = &s->t->intervals.items[callee];
	bool ambiguous = false;
	const struct call_made *c = ids->parent ? find_call(j, ids, &ambiguous) : NULL;
	struct remote r = { .callee = callee, .callee_run = stitch_run_of(s->run_of_sid, v->sid), .wrong = ambiguous };

	if (v->status != INTERVAL_COMPLETED)
		return;
	if (!c) {
		s->ret->uncalled += ids->parent != 0;
		return;
	}
	r.caller = c->interval;
	r.caller_run = stitch_run_of(s->run_of_sid, s->t->intervals.items[c->interval].sid);
	r.group = c->group;
	r.called_ns = c->ns;
	r.answered_ns = c->until_ns;
	r.first_wait = c->first_wait;
	r.wait_cnt = c->wait_cnt;
	r.low_ns = v->end_ns - r.answered_ns;
	r.high_ns = v->start_ns - r.called_ns;
	if (s->t->intervals.items[r.caller].status == INTERVAL_COMPLETED)
		VEC_ADD(&s->remotes, r);
}

void stitch_join(struct stitching *s)
{
	struct joining j = { .s = s, .ids_of = map_new(), .call_of = map_new() };
	uint64_t interval;

	for (size_t i = 0; i < s->t->ids.cnt; i++)
		map_set(j.ids_of, s->t->ids.items[i].sid, i + 1);
	find_calls(&j);
	find_waits(&j);
	for (size_t i = 0; i < s->t->ids.cnt; i++)
		if (map_get(s->interval_of, s->t->ids.items[i].sid, &interval) &&
		    (i + 1 == s->t->ids.cnt || s->t->ids.items[i + 1].sid != s->t->ids.items[i].sid))
			join_interval(&j, (size_t)interval - 1, &s->t->ids.items[i]);
	map_free(j.ids_of);
	map_free(j.call_of);
	VEC_RELEASE(&j.calls);
}
