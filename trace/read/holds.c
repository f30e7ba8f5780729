/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * holds.c - a wait for a lock, divided among those who held the lock meanwhile.
 *
 * A thread that releases the lock is charged from the time when it got the lock, or began to wait for it:
 * what it did before has nothing to do with the lock.  From a release to the next taking the lock is free,
 * and the thread that was woken has no processor yet.
 *
 *	T1 waits from 30, woken at 45.  T3 lets go at 38; T2 takes it at 41 and lets go at 45
 *	-> T3 30..38, free 38..41, T2 41..45
 *	T2 had waited since 35 and got it at 41: T3 30..38, T2 38..45 (its own wake-up from 38 to 41 is part of that)
 *
 * If several threads hold it at once (readers), the first to release it is charged.  A thread whose taking
 * was not recorded held the lock since before the wait began, since later takings are recorded (format.h).  A
 * lock of the user's own (RELEASE) may also be taken by a function that is not listed.  A thread that
 * releases such a lock twice in one wait without a recorded taking used such a function: it held the lock
 * when it released it, but since when is unknown.
 *
 *	T1 waits from 30, woken at 45.  T2 lets go at 38 and at 45 -> T2 30..38, unknown 38..44, T2 44..45
 *
 * A wait knows its first RELEASES_MOST releases and the last one; the holders in between are unknown.
 *
 * Posts of a semaphore count as releases only if it is used as a lock: a thread that took it during the wait
 * posts it.  Else the last poster is charged with the whole wait.
 */
#include "base/banned.h"
#include "trace/read/holds.h"

struct dividing {
	const struct lock_wait *w;
	const struct release *list, *last;	/* last: the one at woken_ns, or NULL */
	size_t cnt;
	int64_t at_ns;
	struct held *ret;
	size_t ret_cnt;
};

static bool is_told(const struct dividing *d, const struct release *r)
{
	return r->taken_ns > d->w->start_ns;
}

/* Number of this wait's releases before r; r may be the last. */
static size_t cnt_before(const struct dividing *d, const struct release *r)
{
	return r == d->last ? d->cnt : (size_t)(r - d->list);
}

/* Whether its thread took the lock by a function that is not listed. */
static bool is_unlisted(const struct dividing *d, const struct release *r)
{
	if (r->kind != EVENT_RELEASE || is_told(d, r))
		return false;
	for (size_t i = cnt_before(d, r); i-- > 0;)
		if (d->list[i].thread == r->thread)
			return !is_told(d, &d->list[i]);
	return false;
}

/* When r's thread got the lock, or began to wait for it, as far as is known; at_ns at the earliest. */
static int64_t since(const struct dividing *d, const struct release *r)
{
	int64_t ns = is_told(d, r) ? r->wanted_ns : is_unlisted(d, r) ? r->ns - 1 : d->at_ns;

	return ns > d->at_ns ? ns : d->at_ns;
}

static bool counts(const struct dividing *d, const struct release *r)
{
	return r->thread != d->w->thread && r->ns > d->at_ns;
}

/* From i on, the first release whose thread holds the lock at the cursor; if there is none, that of the next
 * thread to take it; NULL: only the last is left. */
static const struct release *next_holder(const struct dividing *d, size_t i)
{
	const struct release *next = NULL;

	for (; i < d->cnt; i++) {
		if (!counts(d, &d->list[i]))
			continue;
		if (since(d, &d->list[i]) == d->at_ns)
			return &d->list[i];
		if (!next || since(d, &d->list[i]) < since(d, next))
			next = &d->list[i];
	}
	return next && d->last && since(d, d->last) < since(d, next) ? NULL : next;
}

static void add(struct dividing *d, int64_t since_ns, int64_t until_ns, uint32_t thread)
{
	if (since_ns < until_ns)
		d->ret[d->ret_cnt++] = (struct held){ since_ns, until_ns, thread };
}

/* r's thread held the lock up to r; before that the lock was free, or the holder is unknown. */
static void pass(struct dividing *d, const struct release *r, bool rest_is_unknown)
{
	int64_t since_ns = since(d, r);

	if (rest_is_unknown)
		add(d, d->at_ns, since_ns, HELD_UNKNOWN);
	add(d, since_ns, r->ns, r->thread);
	d->at_ns = r->ns;
}

static bool is_no_lock(const struct dividing *d)
{
	bool posts = d->last && d->last->kind == EVENT_POST;

	for (size_t i = 0; i < d->cnt; i++) {
		if (d->list[i].kind != EVENT_POST || is_told(d, &d->list[i]))
			return false;
		posts = true;
	}
	return posts && !(d->last && is_told(d, d->last));
}

size_t holds_during(const struct releases *list, const struct lock_wait *w, struct held ret[HELD_MOST])
{
	struct dividing d = { .w = w, .at_ns = w->start_ns, .ret = ret };
	const struct release *r;

	d.list = releases_between(list, w->object, w->start_ns, w->woken_ns, &d.cnt);
	d.last = w->waker == UINT32_MAX ? NULL : releases_at(list, w->object, w->waker, w->woken_ns);
	if (is_no_lock(&d))
		d.cnt = 0;
	else
		while ((r = next_holder(&d, 0)))
			pass(&d, r, is_unlisted(&d, r));
	if (d.last && !is_no_lock(&d))
		pass(&d, d.last, d.cnt == RELEASES_MOST || is_unlisted(&d, d.last));
	else
		add(&d, d.at_ns, w->woken_ns, w->waker);
	return d.ret_cnt;
}
