/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * false_wakeups.c - keeps only the wait of each chunk that began last, and each false wake-up with the wait
 * that it could mean.
 *
 *	wait 10..20, wait 30..40, false 41, wait 50..60, wait 70..80	->	30..40, false 41, 70..80
 *
 * A false wake-up that comes first in its chunk means a wait of an earlier one, and one after an outer wait
 * may mean the inner wait of an earlier one.  So all of a thread are put in order of time in the end.
 */
#include "trace/raw/false_wakeups.h"

#include <stdlib.h>
#include "base/banned.h"
#include "base/order.h"
#include "base/search.h"

static bool begins_later(const struct turn *a, const struct turn *b)
{
	return a->start != b->start ? a->start > b->start : a->order > b->order;
}

void false_wakeups_note(struct false_wakeups *f, uint32_t thread, const struct raw_record *events, size_t cnt,
			uint32_t first_order)
{
	struct turn latest = { .thread = thread };
	bool is_new = false;

	f->chunk_first = f->turns.cnt;
	for (size_t i = 0; i < cnt; i++) {
		const struct raw_record *r = &events[i];
		struct turn turn = { r->ticks, r->ticks, thread, first_order + (uint32_t)i, 0, 0 };

		if (r->kind == EVENT_WAIT && r->words[0] > r->ticks) {
			turn.end = r->words[0];
			turn.waker = r->words[3];
			turn.woken = r->words[4];
			if (latest.end && !begins_later(&turn, &latest))
				continue;
			latest = turn;
			is_new = true;
		} else if (r->kind == EVENT_FALSE_WAKEUP) {
			if (is_new)
				VEC_ADD(&f->turns, latest);
			is_new = false;
			VEC_ADD(&f->turns, turn);
			f->cnt++;
		}
	}
	if (is_new)
		VEC_ADD(&f->turns, latest);
}

bool false_wakeups_may_have(const struct false_wakeups *f, uint32_t order)
{
	const struct turn *t = f->turns.items;
	size_t at = partition_point(i, f->turns.cnt - f->chunk_first, t[f->chunk_first + i].order < order);

	at += f->chunk_first;
	return at < f->turns.cnt && t[at].order == order;
}

/* By thread and the time of logging: a wait is logged when it ends. */
static int compare_turns(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	if (turn_is_wait(x) != turn_is_wait(y))
		return turn_is_wait(x) ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void false_wakeups_settle(struct false_wakeups *f)
{
	const struct turn *latest = NULL;

	if (f->cnt)
		qsort(f->turns.items, f->turns.cnt, sizeof(*f->turns.items), compare_turns);
	for (size_t i = 0; f->cnt && i < f->turns.cnt; i++) {
		const struct turn *t = &f->turns.items[i];

		if (latest && latest->thread != t->thread)
			latest = NULL;
		if (!turn_is_wait(t) && latest)
			VEC_ADD(&f->waits, latest->order);
		else if (turn_is_wait(t) && (!latest || begins_later(t, latest)))
			latest = t;
	}
	if (f->waits.cnt)
		qsort(f->waits.items, f->waits.cnt, sizeof(*f->waits.items), compare_uint32);
}

void false_wakeups_forget_turns(struct false_wakeups *f)
{
	VEC_RELEASE(&f->turns);
}

bool false_wakeups_has(const struct false_wakeups *f, uint32_t order)
{
	size_t at = partition_point(i, f->waits.cnt, f->waits.items[i] < order);

	return at < f->waits.cnt && f->waits.items[at] == order;
}

void false_wakeups_release(struct false_wakeups *f)
{
	VEC_RELEASE(&f->waits);
	VEC_RELEASE(&f->turns);
}
