/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay_left.c - an event loop's polls belong to none of its intervals.
 *
 * Where nothing says that a thread leaves an interval, it seems to work on it until its end.  A thread that serves one connection
 * does: when it polls, its request waits.  A loop does not: the function that began the interval has returned, and the loop waits
 * for whatever comes.  The proof is that it turns to another interval of the same name meanwhile: begins, resumes or ends one.  Then
 * the first interval lies aside since that poll began.  The thread takes it up again by the time it ends it: as its last poll
 * ended, or as it was done with the last other one.
 *
 *	BEGIN 1 10, poll 15..40, BEGIN 2 42, poll 50..70, END 1 75
 *	works on 1 10..15 and 70..75, on 2 42..50; what is between belongs to nobody
 *
 * A thread that has been seen to do so is a loop for all intervals of that name: other clients may make it leave one that meets no
 * other.  An interval whose beginning function is still running is not left; nor is one for which the program says when it is left.
 */
#include <string.h>
#include "base/banned.h"
#include "trace/read/replay_state.h"

enum { BY_HANDED = 1, BY_LEAVE = 2 };

void replay_note_return(struct replay *p, const struct raw_event *e, struct worker *w)
{
	if (e->words[0] < p->rd->raw.labels.cnt)
		p->returns[e->words[0]] |= e->kind == EVENT_LEAVE ? BY_LEAVE : BY_HANDED;
	if (w && w->thread == e->thread && w->left_ns == INT64_MAX)
		w->polled_ns = INT64_MAX;
}

/* Whether the function that began it may have returned, and nothing else says when the thread leaves it. */
static bool is_in_loop(const struct replay *p, const struct label *l, const struct worker *w)
{
	unsigned int by = l->id < p->rd->raw.labels.cnt ? p->returns[l->id] : 0;

	return !w->in_frame && !(by & BY_LEAVE) && (!(by & BY_HANDED) || w->handed_ns != INT64_MAX);
}

void replay_note_poll(struct replay *p, const struct raw_event *e)
{
	struct stack *s = &p->stacks[e->thread];

	if (e->kind != EVENT_WAIT || e->words[1] != WAIT_IO || !(e->polls || e->words[2] == OBJECT_POLLED) || (int64_t)e->words[0] <= e->ns)
		return;
	s->poll_end_ns = (int64_t)e->words[0];
	for (size_t i = 0; i < s->cnt; i++) {
		struct worker *w = s->items[i].left || s->items[i].sid == SID_NONE ? NULL : find_worker(p, s->items[i].sid);

		if (w && w->thread == e->thread && w->polled_ns == INT64_MAX && is_in_loop(p, &s->items[i], w))
			w->polled_ns = e->ns;
	}
}

/* From from_ns on the thread works on `instead` where it seemed to work on sid. */
static void redo_history(struct sid_history *line, int64_t from_ns, uint64_t sid, uint64_t instead)
{
	size_t first = line->changes.cnt, cnt;

	while (first && line->changes.items[first - 1].ns > from_ns)
		first--;
	line->redone_ns = line->is_redone && line->redone_ns < from_ns ? line->redone_ns : from_ns;
	line->is_redone = true;
	for (size_t i = first; i < line->changes.cnt; i++)
		if (line->changes.items[i].sid == sid)
			line->changes.items[i].sid = instead;
	if (!first || line->changes.items[first - 1].sid != sid)
		return;
	VEC_ADD(&line->changes, (struct sid_change){ .ns = 0 });
	cnt = line->changes.cnt - 1;
	memmove(&line->changes.items[first + 1], &line->changes.items[first], (cnt - first) * sizeof(*line->changes.items));
	line->changes.items[first] = (struct sid_change){ from_ns, instead };
}

/* The interval that the thread works on if not on that one: the next below. */
static uint64_t sid_below(const struct stack *s, size_t at)
{
	while (at-- > 0)
		if (!s->items[at].left)
			return s->items[at].sid;
	return SID_NONE;
}

static void leave(struct replay *p, uint32_t thread, size_t at, struct worker *w)
{
	struct stack *s = &p->stacks[thread];

	s->items[at].left = true;
	w->left_ns = w->polled_ns;
	redo_history(&p->rd->histories[thread], w->left_ns, w->interval.sid, sid_below(s, at));
}

void replay_turn_to(struct replay *p, const struct raw_event *e, uint32_t name, uint64_t sid)
{
	struct stack *s = &p->stacks[e->thread];

	for (size_t i = s->cnt; i-- > 0; ) {
		struct worker *w;

		if (s->items[i].left || s->items[i].sid == sid || s->items[i].sid == SID_NONE)
			continue;
		w = find_worker(p, s->items[i].sid);
		if (!w || w->interval.name != name || w->thread != e->thread || w->polled_ns == INT64_MAX)
			continue;
		leave(p, e->thread, i, w);
		map_set(p->loops, interval_hash(e->thread, name, 0), 1);
	}
}

/* Its place on the stack; cnt: it is not there. */
static size_t place_of(const struct stack *s, uint64_t sid)
{
	size_t at = 0;

	while (at < s->cnt && s->items[at].sid != sid)
		at++;
	return at;
}

static bool is_loop(const struct replay *p, uint32_t thread, uint32_t name)
{
	uint64_t unused;

	return map_get(p->loops, interval_hash(thread, name, 0), &unused);
}

void replay_take_up(struct replay *p, const struct raw_event *e, struct worker *w)
{
	struct sid_history *line = &p->rd->histories[e->thread];
	struct stack *s = &p->stacks[e->thread];
	size_t at = place_of(s, w->interval.sid), cnt = line->changes.cnt;
	int64_t from_ns = s->poll_end_ns;

	replay_turn_to(p, e, w->interval.name, w->interval.sid);
	if (w->thread != e->thread)
		return;
	if (at < s->cnt && w->left_ns == INT64_MAX && w->polled_ns != INT64_MAX && is_loop(p, e->thread, w->interval.name))
		leave(p, e->thread, at, w);
	if (w->left_ns == INT64_MAX)
		return;
	cnt = line->changes.cnt;
	if (cnt && line->changes.items[cnt - 1].ns > from_ns)
		from_ns = line->changes.items[cnt - 1].ns;
	if (replay_top_sid(s) == sid_below(s, at) && from_ns < e->ns) {
		line->redone_ns = line->is_redone && line->redone_ns < from_ns ? line->redone_ns : from_ns;
		line->is_redone = true;
		VEC_ADD(&line->changes, (struct sid_change){ from_ns, w->interval.sid });
	}
	if (at < s->cnt)
		s->items[at].left = false;
	w->left_ns = w->polled_ns = INT64_MAX;
}
