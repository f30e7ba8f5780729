/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * releases.c - when each lock was released while a thread waited for it.
 *
 * One sorted array; a wait looks its object's stretch of it up by halving.  A wait that saw more than
 * RELEASES_MOST of them (a lock that is passed around a thousand times while one thread starves) keeps the
 * first ones.  The first ones are known as soon as the wait is, the last ones only when it is over
 * (stream.h).
 *
 * The releaser's own wait for the lock says when it got the lock, or TAKEN if it got it at once:
 *
 *	T2 UNLOCK 38; T3 TAKEN 41, UNLOCK 45; T4 waits for it from 30 to 47, UNLOCK 52
 *	-> 38 by T2, unknown since when; 45 by T3 since 41; 52 by T4 since 47, wanted since 30
 */
#include "base/banned.h"
#include "base/search.h"
#include "trace/read/releases.h"

struct mark {				/* a thread's action on an object */
	struct release r;
	uint32_t order;
	bool is_release;
};

typedef VEC(struct mark) marks;

static int compare_releases(const void *a, const void *b)
{
	const struct release *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* By object and thread, then time.  A thread that gets and releases a lock in one moment gets it first. */
static int compare_marks(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	if (x->r.object != y->r.object)
		return x->r.object < y->r.object ? -1 : 1;
	if (x->r.thread != y->r.thread)
		return x->r.thread < y->r.thread ? -1 : 1;
	if (x->r.ns != y->r.ns)
		return x->r.ns < y->r.ns ? -1 : 1;
	if (x->is_release != y->is_release)
		return x->is_release ? 1 : -1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static bool is_release(enum trace_event kind)
{
	return kind == EVENT_RELEASE || kind == EVENT_UNLOCK || kind == EVENT_POST;
}

/* Whether the wait was for a lock, and got it at its end. */
static bool is_taking(const struct raw_event *e)
{
	return e->kind == EVENT_WAIT && e->words[1] == WAIT_LOCK && (int64_t)e->words[0] > e->ns &&
	       e->words[3] != WAKER_TIME_OUT;
}

static void collect_marks(const struct raw *r, marks *ret)
{
	for (size_t i = 0; i < r->events.cnt; i++) {
		const struct raw_event *e = &r->events.items[i];
		struct mark m = { .order = e->order };

		if (is_release(e->kind) || e->kind == EVENT_TAKEN)
			m.r = (struct release){ e->words[0], e->ns, e->thread, e->kind, e->ns, e->ns };
		else if (is_taking(e))
			m.r = (struct release){ e->words[2], (int64_t)e->words[0], e->thread, e->kind, (int64_t)e->words[0],
						e->ns };
		else
			continue;
		m.is_release = is_release(e->kind);
		VEC_ADD(ret, m);
	}
	if (ret->cnt)
		qsort(ret->items, ret->cnt, sizeof(ret->items[0]), compare_marks);
}

void releases_collect(const struct raw *r, struct releases *ret)
{
	marks all = { NULL, 0, 0 };
	const struct mark *taken = NULL;

	collect_marks(r, &all);
	for (size_t i = 0; i < all.cnt; i++) {
		const struct mark *m = &all.items[i];
		struct release *added;

		if (i == 0 || m->r.object != m[-1].r.object || m->r.thread != m[-1].r.thread)
			taken = NULL;
		if (!m->is_release) {
			taken = m;
			continue;
		}
		VEC_ADD(&ret->list, m->r);
		added = &ret->list.items[ret->list.cnt - 1];
		added->taken_ns = taken ? taken->r.taken_ns : INT64_MIN;
		added->wanted_ns = taken ? taken->r.wanted_ns : INT64_MIN;
		taken = NULL;
	}
	VEC_RELEASE(&all);
	if (ret->list.cnt)
		qsort(ret->list.items, ret->list.cnt, sizeof(ret->list.items[0]), compare_releases);
}

/* Index of the first release of object later than ns (or of a later object). */
static size_t first_after(const struct releases *list, uint64_t object, int64_t ns)
{
	const struct release *r = list->list.items;

	return partition_point(i, list->list.cnt, r[i].object < object || (r[i].object == object && r[i].ns <= ns));
}

const struct release *releases_between(const struct releases *list, uint64_t object,
				       int64_t start_ns, int64_t end_ns, size_t *ret_cnt)
{
	size_t first = first_after(list, object, start_ns);
	size_t end = first_after(list, object, end_ns - 1);

	*ret_cnt = end > first ? end - first : 0;
	if (*ret_cnt > RELEASES_MOST)
		*ret_cnt = RELEASES_MOST;
	return *ret_cnt ? &list->list.items[first] : NULL;
}

const struct release *releases_at(const struct releases *list, uint64_t object, uint32_t thread, int64_t ns)
{
	const struct release *r = list->list.items;

	for (size_t i = first_after(list, object, ns); i-- > 0 && r[i].object == object && r[i].ns == ns; )
		if (r[i].thread == thread)
			return &r[i];
	return NULL;
}
