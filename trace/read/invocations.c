/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * invocations.c - invocations in tuples: nested, labelled, none without an end.
 *
 * A thread's records are closed calls in the order they returned, calls closed for it (longjmp), and frames
 * that were open when it was last seen, which end there.  Calls of one thread nest; one that reaches out of
 * its caller (a coroutine that moved its stack) is cut at the caller's end.
 *
 * A waiting thread executes no function: calls inside a waiting primitive of the project (PostgreSQL's
 * LWLockAcquire calls a semaphore) are part of its wait, which has the primitive's name.
 *
 *	lock 10..60, blocked 12..58, sem_take 13..57, log 70..80: lock and log are left
 *
 * The root function of an interval begins a moment before the interval does; it is labelled with the first
 * interval inside it.
 */
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "base/map.h"
#include "base/search.h"
#include "trace/read/replay.h"

#define PLACE '\001'

static void sort_records(struct raw *r);
static void add_thread(struct reading *rd, const struct raw_invocation *v, size_t cnt);

bool frame_of_event(const struct raw_event *e, struct raw_invocation *ret)
{
	bool open = e->kind == EVENT_OPEN_FRAME;
	uint64_t fid = open ? e->words[0] : e->words[1];

	if ((!open && e->kind != EVENT_FRAME) || !fid || fid > TRACE_FIDS_MAX)
		return false;
	*ret = (struct raw_invocation){ e->ns, open ? RAW_OPEN : (int64_t)e->words[0], e->thread,
					(uint32_t)fid, 0 };
	return true;
}

/* Calls that come as events join the others; they were closed after the calls inside them. */
static void join_frames(struct raw *r)
{
	struct raw_invocation v;

	for (size_t i = 0; i < r->events.cnt; i++)
		if (frame_of_event(&r->events.items[i], &v)) {
			v.order = (uint32_t)r->invocations.cnt;
			VEC_ADD(&r->invocations, v);
		}
}

struct part {				/* of the sorted records: one thread's */
	uint64_t tid;
	size_t first, cnt;
};

static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static uint32_t last_fid(const struct raw *r)
{
	uint32_t last = 0;

	for (size_t i = 0; i < r->invocations.cnt; i++)
		if (r->invocations.items[i].fid > last)
			last = r->invocations.items[i].fid;
	return last;
}

/* Adds the calls in the order of trace_sort(), since there may be too many to sort them again. */
void build_invocations(struct reading *rd)
{
	struct raw *r = &rd->raw;
	_cleanup_(freep) struct part *parts = xcalloc(r->threads.cnt + 1, sizeof(*parts));
	size_t at = 0;

	join_frames(r);
	sort_records(r);
	build_functions(rd, last_fid(r));
	for (uint32_t thread = 0; thread < r->threads.cnt; thread++) {
		parts[thread] = (struct part){ r->threads.items[thread].tid, at, 0 };
		while (at < r->invocations.cnt && r->invocations.items[at].thread == thread)
			at++;
		parts[thread].cnt = at - parts[thread].first;
	}
	qsort(parts, r->threads.cnt, sizeof(*parts), compare_parts);
	for (size_t i = 0; i < r->threads.cnt; i++)
		if (parts[i].cnt)
			add_thread(rd, &r->invocations.items[parts[i].first], parts[i].cnt);
	VEC_RELEASE(&r->invocations);
}

/* "log_append\001KEY\001server.c:28": log_append, called there (instrumenter/insert/call_sites.c). */
static bool is_place(const char *name, uint64_t *ret_key, const char **ret_at)
{
	const char *key = name ? strchr(name, PLACE) : NULL, *at = key ? strchr(key + 1, PLACE) : NULL;
	char *end;

	if (!at)
		return false;
	*ret_key = strtoull(key + 1, &end, 16);
	*ret_at = at + 1;
	return end == at && **ret_at;
}

/* Calls from known places are calls of the function; its number where its probe has none. */
static void find_meanings(struct reading *rd)
{
	struct raw *r = &rd->raw;
	_cleanup_(map_freep) struct map *by_key = map_new();

	rd->meanings = arena_alloc(r->arena, (r->functions.cnt + 1) * sizeof(*rd->meanings));
	for (uint32_t fid = 1; fid < r->functions.cnt; fid++) {
		rd->meanings[fid] = (struct number_meaning){ fid - 1, CALL_SITE_NONE };
		map_set(by_key, r->functions.items[fid].key, fid - 1);
	}
	for (uint32_t fid = 1; fid < r->functions.cnt; fid++) {
		struct function *f = &rd->t->functions.items[fid - 1];
		uint64_t key, function = fid - 1;
		const char *at;

		if (!is_place(r->functions.items[fid].name, &key, &at))
			continue;
		f->name = arena_strndup(r->arena, f->name, strcspn(f->name, (const char[]){ PLACE, '\0' }));
		f->key = 0;
		if (map_get(by_key, key, &function))
			f->probed = f->registered = false;
		else
			f->key = key;
		map_set(by_key, key, function);
		rd->meanings[fid] = (struct number_meaning){ (uint32_t)function, trace_add_string(rd->t, &rd->t->call_sites, at) };
	}
}

void build_functions(struct reading *rd, uint32_t last_fid)
{
	struct raw *r = &rd->raw;

	/* Function numbers missing in the table, because it was cut off. */
	while (last_fid && r->functions.cnt <= last_fid)
		VEC_EXTEND(&r->functions);
	for (size_t fid = 1; fid < r->functions.cnt; fid++) {	/* fid 1 is function 0 */
		const struct raw_function *f = &r->functions.items[fid];
		const char *name = f->name;

		if (!name || !*name)
			name = arena_printf(r->arena, "function-%zu", fid);
		VEC_ADD(&rd->t->functions, (struct function){ .name = name, .file = f->file, .line = f->line, .key = f->key,
			.probed = f->level > 0, .registered = true });
	}
	find_meanings(rd);
}

int compare_raw_invocations(const void *a, const void *b)
{
	const struct raw_invocation *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return x->order > y->order ? -1 : x->order < y->order;	/* the outer one returns last */
}

static void sort_records(struct raw *r)
{
	if (r->invocations.cnt)
		qsort(r->invocations.items, r->invocations.cnt, sizeof(r->invocations.items[0]),
		      compare_raw_invocations);
}

static uint64_t label_of(const struct sid_history *line, size_t *at, const struct raw_invocation *v)
{
	uint64_t sid = sid_history_at(line, at, v->start_ns);

	if (sid == SID_NONE && *at < line->changes.cnt && line->changes.items[*at].ns < v->end_ns)
		sid = line->changes.items[*at].sid;
	return sid;
}

/* Whether the call began and ended while its thread waited.  at: as in sid_history_at(). */
static bool is_inside_wait(const struct sid_history *line, size_t *at, const struct raw_invocation *v)
{
	while (*at < line->waits.cnt && line->waits.items[*at].end_ns <= v->start_ns)
		++*at;
	return *at < line->waits.cnt && line->waits.items[*at].start_ns < v->start_ns &&
	       v->end_ns <= line->waits.items[*at].end_ns;
}

bool call_is_twice(const struct raw *r, const struct raw_invocation *v, const struct raw_invocation *next)
{
	return v->end_ns == RAW_OPEN && v->start_ns > r->from_ns && next && next->start_ns == v->start_ns &&
	       next->fid == v->fid;
}

void call_line_start(struct call_line *l)
{
	l->change = l->wait = 0;
	l->plain_until_ns = INT64_MIN;
}

/* From where the walks through the history are now to the next change, or the beginning of the next wait. */
static void find_plain(struct call_line *l, const struct sid_history *line)
{
	l->plain_until_ns = INT64_MIN;
	l->plain_sid = l->change ? line->changes.items[l->change - 1].sid : SID_NONE;
	if (l->plain_sid == SID_NONE)
		return;
	l->plain_until_ns = l->change < line->changes.cnt ? line->changes.items[l->change].ns - 1 : INT64_MAX;
	if (l->wait < line->waits.cnt && line->waits.items[l->wait].start_ns < l->plain_until_ns)
		l->plain_until_ns = line->waits.items[l->wait].start_ns;
}

/* A call reaches to end_ns, or to the end of the one around it. */
static inline int64_t nest_call(ends_of_calls *open, int64_t start_ns, int64_t end_ns)
{
	while (open->cnt && open->items[open->cnt - 1] <= start_ns)
		open->cnt--;
	return open->cnt && end_ns > open->items[open->cnt - 1] ? open->items[open->cnt - 1] : end_ns;
}

bool call_take(struct call_line *l, const struct reading *rd, const struct raw_invocation *v,
	       struct invocation *ret)
{
	const struct raw_thread *t = &rd->raw.threads.items[v->thread];
	const struct sid_history *line = &rd->histories[v->thread];
	struct raw_invocation cut = *v;

	if (cut.end_ns == RAW_OPEN)
		cut.end_ns = t->last_ns;
	if (cut.end_ns < cut.start_ns)
		cut.end_ns = cut.start_ns;
	cut.end_ns = nest_call(&l->open_ends_ns, cut.start_ns, cut.end_ns);
	if (is_inside_wait(line, &l->wait, &cut))
		return false;
	VEC_ADD(&l->open_ends_ns, cut.end_ns);
	*ret = (struct invocation){ t->tid, label_of(line, &l->change, &cut), rd->meanings[cut.fid].function,
				    rd->meanings[cut.fid].call_site, cut.start_ns, cut.end_ns, 0 };
	find_plain(l, line);
	return true;
}

size_t call_take_plain(struct call_line *l, const struct reading *rd, const struct raw_invocation *v, size_t cnt,
		       int64_t until_ns, struct invocation *ret)
{
	const struct number_meaning *meanings = rd->meanings;
	ends_of_calls open = l->open_ends_ns;
	uint64_t tid, sid = l->plain_sid;
	size_t i = 0;

	if (cnt == 0)
		return 0;
	tid = rd->raw.threads.items[v->thread].tid;
	until_ns = l->plain_until_ns < until_ns ? l->plain_until_ns : until_ns;
	for (; i < cnt && v[i].start_ns <= until_ns && v[i].end_ns >= v[i].start_ns && v[i].end_ns != RAW_OPEN; i++) {
		int64_t end_ns = nest_call(&open, v[i].start_ns, v[i].end_ns);

		VEC_ADD(&open, end_ns);
		ret[i] = (struct invocation){ tid, sid, meanings[v[i].fid].function, meanings[v[i].fid].call_site, v[i].start_ns, end_ns, 0 };
	}
	l->open_ends_ns = open;
	return i;
}

uint64_t call_late_sid(const struct sid_history *line, const struct invocation *v, int64_t from_ns)
{
	for (size_t i = 0; i < line->changes.cnt && line->changes.items[i].ns < v->end_ns; i++)
		if (line->changes.items[i].ns > from_ns)
			return line->changes.items[i].sid;
	return SID_NONE;
}

uint64_t call_redone_sid(const struct sid_history *line, const struct invocation *v, int64_t from_ns)
{
	size_t cnt = line->changes.cnt, at = partition_point(i, cnt, line->changes.items[i].ns <= v->start_ns);
	bool is_known = v->start_ns >= from_ns || at > 0;
	uint64_t sid = at ? line->changes.items[at - 1].sid : SID_NONE;

	if (!is_known || v->end_ns < line->redone_ns)
		return v->sid;
	return sid == SID_NONE && at < cnt && line->changes.items[at].ns < v->end_ns ? line->changes.items[at].sid : sid;
}

static void add_thread(struct reading *rd, const struct raw_invocation *v, size_t cnt)
{
	struct call_line l = { .open_ends_ns = { NULL, 0, 0 } };
	struct invocation taken;

	call_line_start(&l);
	for (size_t i = 0; i < cnt; i++)
		if (!call_is_twice(&rd->raw, &v[i], i + 1 < cnt ? &v[i + 1] : NULL) &&
		    call_take(&l, rd, &v[i], &taken)) {
			taken.order = (uint32_t)rd->t->invocations.cnt;
			VEC_ADD(&rd->t->invocations, taken);
		}
	VEC_RELEASE(&l.open_ends_ns);
}
