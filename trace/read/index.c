/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * index.c - the first reading: chunks, threads and the few records that began before their chunk.
 *
 * Records are logged when they end, so a chunk's records all ended after its first one did, its floor.  What began
 * before the floor is kept here: the calls and the wait that were under way, as many as the stack is deep.  The
 * rest of a thread's chunks follow each other in time, in whatever order they stand in the file.
 *
 *	chunk 1: g 10..20, h 30..40		floor 20: g is early, due at 30
 *	chunk 2: k 50..60, f 5..70, l 80..90	floor 60: k and f are early, due at 80
 */
#include "trace/read/index.h"

#include <string.h>
#include "base/banned.h"
#include "base/saturate.h"
#include "trace/encode.h"
#include "trace/format.h"
#include "trace/read/off_cpu.h"
#include "trace/read/replay.h"

struct thread_note {
	uint64_t first, last;		/* ticks; first > last: nothing */
	uint64_t named_at;
	struct waited waited;		/* ticks */
};

struct indexing {
	struct trace_index *x;
	struct raw *raw;
	VEC(struct thread_note) notes;
	/* The records of the chunk being read, each kind in its order: */
	VEC(struct raw_call) calls;
	VEC(struct raw_record) events;
	struct map *woken_by;		/* waker -> ticks of its last wake-up */
	uint32_t event_cnt, invocation_cnt;
};

static bool has_end(enum trace_event kind)
{
	return kind == EVENT_WAIT || kind == EVENT_FRAME;
}

static void saw(struct thread_note *t, uint64_t ticks)
{
	t->first = ticks < t->first ? ticks : t->first;
	t->last = ticks > t->last ? ticks : t->last;
}

static void note_woken(struct indexing *g, uint64_t waker, uint64_t ticks)
{
	uint64_t *woken = waker ? map_slot(g->woken_by, waker) : NULL;

	if (woken && ticks > *woken)
		*woken = ticks;
}

static void note_event(struct indexing *g, uint32_t thread, const struct raw_record *r)
{
	struct raw_thread *t = &g->raw->threads.items[thread];
	struct thread_note *note = &g->notes.items[thread];
	const char *name = thread_name_of_event(r->kind, r->words);

	if (name && r->ticks >= note->named_at) {
		t->name = arena_strndup(g->raw->arena, name, 16);
		note->named_at = r->ticks;
	}
	g->x->stopped[thread] |= r->kind == EVENT_STOP;
	g->x->seems_nested |= r->kind == EVENT_BEGIN && r->words[2] & BEGIN_AGAIN;
	g->x->begin_cnt += r->kind == EVENT_BEGIN ? begin_weight(r->words[2]) : 0;
	g->x->unfit |= r->kind == EVENT_REOPEN;
	g->x->has_stacks |= r->kind == EVENT_WAIT && r->words[1] == WAIT_QUEUE;
	g->x->times_out |= wait_times_out(r->kind, r->ticks, r->words);
	raw_add_own_look(g->raw, thread, r);
	g->raw->has_moves |= is_move(r->kind, r->words, t);
	if (is_own_wait(r->kind, r->words))
		waited_add(&note->waited, r->ticks, r->words[0]);
	if (r->kind == EVENT_WAIT && r->words[0] > r->ticks &&
	    !false_wakeups_may_have(&g->x->false_wakeups, g->event_cnt))
		note_woken(g, r->words[3], r->words[4]);
}

static struct raw_event event_of(const struct raw_record *r, uint32_t thread, uint32_t order)
{
	struct raw_event e = { (int64_t)r->ticks, thread, order, r->kind, r->caller, r->polls, { 0 } };

	memcpy(e.words, r->words, event_words(r->kind) * sizeof(e.words[0]));
	return e;
}

void index_forget_waker(const struct trace_index *x, struct raw_event *e)
{
	if (e->kind == EVENT_WAIT && x->false_wakeups.waits.cnt && false_wakeups_has(&x->false_wakeups, e->order))
		e->words[3] = 0;
}

bool index_frame(const struct raw_event *e, struct raw_invocation *ret)
{
	if (!frame_of_event(e, ret))
		return false;
	ret->order = e->order | (uint32_t)1 << 31;
	return true;
}

static void keep_early_event(struct indexing *g, uint32_t thread, const struct raw_record *r)
{
	struct raw_event e = event_of(r, thread, g->event_cnt);
	struct raw_invocation v;

	if (index_frame(&e, &v))
		VEC_ADD(&g->x->invocations, v);
	else
		VEC_ADD(&g->x->events, e);
}

/* The table of functions may be cut off before this number. */
static void note_frame(struct indexing *g, uint32_t thread, const struct raw_record *r)
{
	struct raw_event e = event_of(r, thread, g->event_cnt);
	struct raw_invocation v;

	if (frame_of_event(&e, &v) && v.fid > g->x->last_fid)
		g->x->last_fid = v.fid;
}

static void note_record(struct indexing *g, struct index_chunk *c, const struct raw_record *r)
{
	struct thread_note *t = &g->notes.items[c->thread];

	saw(t, r->ticks);
	if (has_end(r->kind))
		saw(t, r->words[0]);
	note_event(g, c->thread, r);
	note_frame(g, c->thread, r);
	if (r->kind == EVENT_LOSS)
		VEC_ADD(&g->x->losses, event_of(r, c->thread, g->event_cnt));
	if (r->ticks < c->floor)
		keep_early_event(g, c->thread, r);
	else if (r->ticks < (uint64_t)c->due_ns)
		c->due_ns = (int64_t)r->ticks;
	if (r->kind == EVENT_OPEN_FRAME) {
		c->has_open = true;
		VEC_ADD(&g->x->open_ns, (int64_t)r->ticks);
	}
	if (r->kind != EVENT_OPEN_FRAME && raw_logged_at(r) > (uint64_t)c->last_ns)
		c->last_ns = (int64_t)raw_logged_at(r);
	g->event_cnt++;
}

static void note_calls(struct indexing *g, struct index_chunk *c)
{
	for (size_t i = 0; i < g->calls.cnt; i++) {
		const struct raw_call *v = &g->calls.items[i];

		if (v->start < c->floor)
			VEC_ADD(&g->x->invocations, (struct raw_invocation){ (int64_t)v->start, (int64_t)v->end,
				c->thread, v->fid, g->invocation_cnt + (uint32_t)i });
		else if (v->start < (uint64_t)c->due_ns)
			c->due_ns = (int64_t)v->start;
	}
}

struct extent {				/* of the calls of a chunk; ticks */
	uint64_t first, last;		/* an end that makes no sense may also be the smallest */
	uint64_t first_logged;
};

static struct extent calls_extent(struct indexing *g)
{
	struct extent e = { UINT64_MAX, 0, UINT64_MAX };
	uint32_t last_fid = g->x->last_fid;

	for (size_t i = 0; i < g->calls.cnt; i++) {
		const struct raw_call *v = &g->calls.items[i];
		uint64_t low = v->start < v->end ? v->start : v->end, high = v->start < v->end ? v->end : v->start;

		e.first = low < e.first ? low : e.first;
		e.last = high > e.last ? high : e.last;
		e.first_logged = high < e.first_logged ? high : e.first_logged;
		last_fid = v->fid > last_fid ? v->fid : last_fid;
	}
	g->x->last_fid = last_fid;
	return e;
}

static void note_chunk(struct indexing *g, struct index_chunk *c)
{
	struct extent e = calls_extent(g);

	c->first_event = g->event_cnt;
	c->first_invocation = g->invocation_cnt;
	c->floor = e.first_logged;
	c->due_ns = INT64_MAX;
	c->last_ns = (int64_t)e.last;
	for (size_t i = 0; i < g->events.cnt; i++) {
		uint64_t logged = raw_logged_at(&g->events.items[i]);

		c->floor = logged < c->floor ? logged : c->floor;
	}
	if (g->calls.cnt) {
		saw(&g->notes.items[c->thread], e.first);
		saw(&g->notes.items[c->thread], e.last);
	}
	note_calls(g, c);
	g->invocation_cnt += (uint32_t)g->calls.cnt;
	false_wakeups_note(&g->x->false_wakeups, c->thread, g->events.items, g->events.cnt, g->event_cnt);
	for (size_t i = 0; i < g->events.cnt; i++)
		note_record(g, c, &g->events.items[i]);
	g->x->record_cnt += c->cnt;
}

static uint32_t find_thread(struct indexing *g, const struct raw_chunk *c)
{
	uint32_t thread = raw_add_thread(g->raw, c);

	while (g->notes.cnt <= thread) {
		g->x->stopped = xrealloc(g->x->stopped, g->notes.cnt + 1, sizeof(*g->x->stopped));
		g->x->stopped[g->notes.cnt] = false;
		VEC_ADD(&g->notes, (struct thread_note){ .first = UINT64_MAX });
	}
	return thread;
}

static void read_record(struct indexing *g, struct decoder *d, uint64_t *before)
{
	struct raw_record r;

	raw_decode_record(d, before, &r);
	if (d->bad)
		return;
	if (r.kind == EVENT_NONE)
		VEC_ADD(&g->calls, (struct raw_call){ r.ticks, r.words[0], r.fid });
	else
		VEC_ADD(&g->events, r);
}

static void read_records(struct indexing *g, struct decoder *d, uint64_t cnt)
{
	uint64_t before = 0;

	g->calls.cnt = g->events.cnt = 0;
	while (cnt && !d->bad) {
		size_t room = decode_left(d) / CALL_BYTES_MIN + 1, calls;

		room = cnt < room ? cnt : room;
		VEC_ROOM(&g->calls, room);
		calls = raw_decode_calls(d, &before, g->calls.items + g->calls.cnt, room);
		g->calls.cnt += calls;
		cnt -= calls;
		if (cnt) {
			read_record(g, d, &before);
			cnt--;
		}
	}
}

static bool read_chunks(struct indexing *g, const struct blocks *b)
{
	struct decoder d = { b->plain, b->plain + b->len, false };
	struct raw_chunk chunk;

	while (!d.bad && decode_left(&d) && raw_decode_chunk(&d, &chunk)) {
		struct index_chunk c = { .block_at = b->at, .thread = find_thread(g, &chunk),
					 .cnt = (uint32_t)chunk.cnt };

		c.at = (uint32_t)(d.at - b->plain);
		read_records(g, &d, chunk.cnt);
		if (d.bad)
			break;
		note_chunk(g, &c);
		VEC_ADD(&g->x->chunks, c);
	}
	return !d.bad;
}

/* ---- to nanoseconds ---- */

static int by_due(const void *a, const void *b)
{
	const struct index_chunk *x = a, *y = b;

	if (x->due_ns != y->due_ns)
		return x->due_ns < y->due_ns ? -1 : 1;
	return x->first_event + (uint64_t)x->first_invocation < y->first_event + (uint64_t)y->first_invocation
		       ? -1 : 1;
}

static void convert_threads(struct indexing *g)
{
	struct trace_index *x = g->x;
	const struct raw_anchor *first = &x->ruler.anchors[0], *last = &x->ruler.anchors[x->ruler.cnt - 1];
	double ns_each = (double)(last->mono_ns - first->mono_ns) / (double)(last->ticks - first->ticks);

	x->first_ns = INT64_MAX;
	for (size_t i = 0; i < g->notes.cnt; i++) {
		struct raw_thread *t = &g->raw->threads.items[i];

		VEC_ADD(&x->waited_ns, (uint64_t)real_saturated((double)g->notes.items[i].waited.sum * ns_each));
		if (g->notes.items[i].first > g->notes.items[i].last)
			continue;
		t->first_ns = ruler_ns(&x->ruler, g->notes.items[i].first);
		t->last_ns = ruler_ns(&x->ruler, g->notes.items[i].last);
		x->first_ns = t->first_ns < x->first_ns ? t->first_ns : x->first_ns;
		x->last_ns = t->last_ns > x->last_ns ? t->last_ns : x->last_ns;
	}
}

static void convert_records(struct indexing *g)
{
	struct trace_index *x = g->x;

	for (size_t i = 0; i < x->chunks.cnt; i++) {
		struct index_chunk *c = &x->chunks.items[i];

		if (c->due_ns != INT64_MAX)
			c->due_ns = ruler_ns(&x->ruler, (uint64_t)c->due_ns);
		c->last_ns = ruler_ns(&x->ruler, (uint64_t)c->last_ns);
	}
	for (size_t i = 0; i < x->events.cnt; i++) {
		x->events.items[i].ns = ruler_ns(&x->ruler, (uint64_t)x->events.items[i].ns);
		ruler_words(&x->ruler, x->events.items[i].kind, x->events.items[i].words);
		index_forget_waker(x, &x->events.items[i]);
	}
	for (size_t i = 0; i < x->losses.cnt; i++) {
		x->losses.items[i].ns = ruler_ns(&x->ruler, (uint64_t)x->losses.items[i].ns);
		ruler_words(&x->ruler, EVENT_LOSS, x->losses.items[i].words);
	}
	for (size_t i = 0; i < x->open_ns.cnt; i++)
		x->open_ns.items[i] = ruler_ns(&x->ruler, (uint64_t)x->open_ns.items[i]);
	for (size_t i = 0; i < x->invocations.cnt; i++) {
		struct raw_invocation *v = &x->invocations.items[i];

		v->start_ns = ruler_ns(&x->ruler, (uint64_t)v->start_ns);
		if (v->end_ns != RAW_OPEN)
			v->end_ns = ruler_ns(&x->ruler, (uint64_t)v->end_ns);
	}
}

/* A waker was awake when it woke another thread, even if it logged nothing more. */
static bool extend_waker(uint64_t waker, uint64_t ticks, void *arg)
{
	struct indexing *g = arg;
	struct raw_thread *t = NULL;
	int64_t woken_ns = ruler_ns(&g->x->ruler, ticks);

	if (waker == WAKER_TIME_OUT)
		return true;
	if (!(waker & 1)) {
		uint32_t thread = raw_find_thread(g->raw, waker >> 1);

		t = thread == UINT32_MAX ? NULL : &g->raw->threads.items[thread];
	}
	for (size_t i = 0; waker & 1 && i < g->raw->threads.cnt; i++)
		if (g->raw->threads.items[i].kernel_tid == waker >> 1) {
			/* Which of the two threads it was depends on the time of each wake-up. */
			g->x->unfit |= t != NULL;
			t = &g->raw->threads.items[i];
		}
	if (t && t->first_ns <= t->last_ns && woken_ns >= t->first_ns && woken_ns > t->last_ns)
		t->last_ns = woken_ns;
	return true;
}

static void settle_false_wakeups(struct indexing *g)
{
	struct false_wakeups *f = &g->x->false_wakeups;

	false_wakeups_settle(f);
	for (size_t i = 0; i < f->turns.cnt; i++)
		if (turn_is_wait(&f->turns.items[i]) && !false_wakeups_has(f, f->turns.items[i].order))
			note_woken(g, f->turns.items[i].waker, f->turns.items[i].woken);
	false_wakeups_forget_turns(f);
}

static int finish(struct indexing *g, const struct blocks *b, struct diag *reterr)
{
	struct trace_index *x = g->x;
	int r;

	x->unfit |= g->raw->windowed;
	if (x->unfit)
		return 0;
	r = ruler_init(&x->ruler, g->raw, x->record_cnt > 0, b->path, reterr);
	if (r || !x->ruler.cnt)
		return r;
	settle_false_wakeups(g);
	convert_threads(g);
	convert_records(g);
	map_each(g->woken_by, extend_waker, g);
	ruler_pauses(&x->ruler, g->raw);
	/* A pause before anything was recorded (--delay) changes nothing. */
	for (size_t i = 0; i < g->raw->pauses.cnt; i++)
		x->unfit |= (int64_t)g->raw->pauses.items[i].until > x->first_ns;
	if (g->raw->lost_since)
		g->raw->lost_since = (uint64_t)ruler_ns(&x->ruler, g->raw->lost_since);
	if (x->chunks.cnt)
		qsort(x->chunks.items, x->chunks.cnt, sizeof(*x->chunks.items), by_due);
	if (x->events.cnt)
		qsort(x->events.items, x->events.cnt, sizeof(*x->events.items), compare_raw_events);
	if (x->invocations.cnt)
		qsort(x->invocations.items, x->invocations.cnt, sizeof(*x->invocations.items),
		      compare_raw_invocations);
	return 0;
}

int index_read(struct trace_index *x, struct raw *r, struct blocks *b, struct diag *reterr)
{
	struct indexing g = { .x = x, .raw = r, .woken_by = map_new() };
	int err = 0;

	memset(x, 0, sizeof(*x));
	x->raw = r;
	r->thread_of = map_new();
	x->unfit = blocks_have_holes(b);
	while (!err && !x->unfit && blocks_next(b, &err, reterr)) {
		if (b->kind != BLOCK_CHUNKS)
			err = raw_decode_table(r, b, reterr);
		else if (!read_chunks(&g, b))
			err = blocks_damaged(b, "a record makes no sense", reterr);
	}
	r->cut_bytes = b->cut_bytes;
	x->unfit |= blocks_have_holes(b);
	if (!err)
		err = finish(&g, b, reterr);
	for (size_t i = 0; i < g.notes.cnt; i++)
		waited_release(&g.notes.items[i].waited);
	VEC_RELEASE(&g.notes);
	VEC_RELEASE(&g.calls);
	VEC_RELEASE(&g.events);
	map_free(g.woken_by);
	return err;
}

void index_release(struct trace_index *x)
{
	VEC_RELEASE(&x->chunks);
	VEC_RELEASE(&x->events);
	VEC_RELEASE(&x->invocations);
	VEC_RELEASE(&x->losses);
	VEC_RELEASE(&x->open_ns);
	VEC_RELEASE(&x->waited_ns);
	false_wakeups_release(&x->false_wakeups);
	free(x->stopped);
}
