/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * invocations.c - invocations in tuples: nested, labelled, none without an end.
 *
 * A thread's records are closed calls in the order they returned, calls closed for it (longjmp),
 * and frames that were open when it was last seen, which end there.  Calls of one thread nest; one
 * that reaches out of its caller (a coroutine that moved its stack) is cut at the caller's end.
 *
 * A thread that waits executes nothing: what a waiting primitive of the project calls inside itself
 * (PostgreSQL's LWLockAcquire: a semaphore) is part of its wait, which has the primitive's name.
 *
 *	lock 10..60, blocked 12..58, sem_take 13..57, log 70..80: lock and log are left
 *
 * The root function of an interval begins a moment before the interval does; it is labelled with
 * the first interval inside it.
 */
#include "base/banned.h"
#include "trace/replay.h"

struct open_call {
	int64_t end_ns;
};

static void add_functions(struct reading *rd);
static void sort_records(struct raw *r);
static void add_thread(struct reading *rd, uint32_t thread, struct raw_invocation *v, size_t cnt);

/* Calls that come as events join the others; they were closed after all those inside them. */
static void join_frames(struct raw *r)
{
	for (size_t i = 0; i < r->events.cnt; i++) {
		const struct raw_event *e = &r->events.items[i];
		bool open = e->kind == EVENT_OPEN_FRAME;
		uint64_t fid = open ? e->words[0] : e->words[1];

		if ((open || e->kind == EVENT_FRAME) && fid && fid <= UINT16_MAX)
			VEC_ADD(&r->invocations, (struct raw_invocation){ e->ns,
				open ? RAW_OPEN : (int64_t)e->words[0], e->thread, (uint32_t)fid,
				(uint32_t)r->invocations.cnt });
	}
}

struct part {				/* of the sorted records: one thread's */
	uint64_t tid;
	uint32_t thread;
	size_t first, cnt;
};

static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* In the order that trace_sort() wants: there may be more of them than memory to sort them again. */
void build_invocations(struct reading *rd)
{
	struct raw *r = &rd->raw;
	_cleanup_(freep) struct part *parts = xcalloc(r->threads.cnt + 1, sizeof(*parts));
	size_t at = 0;

	join_frames(r);
	sort_records(r);
	add_functions(rd);
	for (uint32_t thread = 0; thread < r->threads.cnt; thread++) {
		parts[thread] = (struct part){ r->threads.items[thread].tid, thread, at, 0 };
		while (at < r->invocations.cnt && r->invocations.items[at].thread == thread)
			at++;
		parts[thread].cnt = at - parts[thread].first;
	}
	qsort(parts, r->threads.cnt, sizeof(*parts), compare_parts);
	for (size_t i = 0; i < r->threads.cnt; i++)
		if (parts[i].cnt)
			add_thread(rd, parts[i].thread, &r->invocations.items[parts[i].first],
				   parts[i].cnt);
	VEC_RELEASE(&r->invocations);
}

static void add_functions(struct reading *rd)
{
	struct raw *r = &rd->raw;

	/* Numbers that the table does not know: it was cut off. */
	for (size_t i = 0; i < r->invocations.cnt; i++)
		while (r->functions.cnt <= r->invocations.items[i].fid)
			VEC_EXTEND(&r->functions);
	for (size_t fid = 1; fid < r->functions.cnt; fid++) {	/* fid 1 is function 0 */
		const struct raw_function *f = &r->functions.items[fid];
		const char *name = f->name;

		if (!name || !*name)
			name = arena_printf(r->arena, "function-%zu", fid);
		VEC_ADD(&rd->t->functions, (struct function){ name, f->file, f->line, f->key,
			f->level > 0, false, true });
	}
}

static int compare_records(const void *a, const void *b)
{
	const struct raw_invocation *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return x->order > y->order ? -1 : x->order < y->order;	/* the outer returns last */
}

static void sort_records(struct raw *r)
{
	if (r->invocations.cnt)
		qsort(r->invocations.items, r->invocations.cnt, sizeof(r->invocations.items[0]),
		      compare_records);
}

static uint64_t label_of(const struct timeline *line, size_t *at, const struct raw_invocation *v)
{
	uint64_t sid = timeline_sid(line, at, v->start_ns);

	if (sid == SID_NONE && *at < line->changes.cnt && line->changes.items[*at].ns < v->end_ns)
		sid = line->changes.items[*at].sid;
	return sid;
}

/* Did it begin and end while its thread waited?  at: as in timeline_sid(). */
static bool is_inside_wait(const struct timeline *line, size_t *at, const struct raw_invocation *v)
{
	while (*at < line->waits.cnt && line->waits.items[*at].end_ns <= v->start_ns)
		++*at;
	return *at < line->waits.cnt && line->waits.items[*at].start_ns < v->start_ns &&
	       v->end_ns <= line->waits.items[*at].end_ns;
}

/* A snapshot found the frame open, and its call in a chunk a moment later. */
static bool is_twice(const struct raw *r, const struct raw_invocation *v, size_t i, size_t cnt)
{
	return v[i].end_ns == RAW_OPEN && v[i].start_ns > r->from_ns && i + 1 < cnt && v[i + 1].start_ns == v[i].start_ns &&
	       v[i + 1].fid == v[i].fid;
}

static void add_thread(struct reading *rd, uint32_t thread, struct raw_invocation *v, size_t cnt)
{
	const struct raw_thread *t = &rd->raw.threads.items[thread];
	VEC(struct open_call) open = { NULL, 0, 0 };
	size_t change = 0, wait = 0;

	for (size_t i = 0; i < cnt; i++) {
		int64_t start_ns = v[i].start_ns;

		if (is_twice(&rd->raw, v, i, cnt))
			continue;
		if (v[i].end_ns == RAW_OPEN)
			v[i].end_ns = t->last_ns > start_ns ? t->last_ns : start_ns;
		if (v[i].end_ns < start_ns)
			v[i].end_ns = start_ns;
		while (open.cnt && open.items[open.cnt - 1].end_ns <= start_ns &&
		       open.items[open.cnt - 1].end_ns < v[i].end_ns)
			open.cnt--;
		if (open.cnt && v[i].end_ns > open.items[open.cnt - 1].end_ns)
			v[i].end_ns = open.items[open.cnt - 1].end_ns;
		if (is_inside_wait(&rd->timelines[thread], &wait, &v[i]))
			continue;
		VEC_ADD(&open, (struct open_call){ v[i].end_ns });
		VEC_ADD(&rd->t->invocations, (struct invocation){ t->tid,
			label_of(&rd->timelines[thread], &change, &v[i]), v[i].fid - 1, CALL_SITE_NONE,
			start_ns, v[i].end_ns, (uint32_t)rd->t->invocations.cnt });
	}
	VEC_RELEASE(&open);
}
