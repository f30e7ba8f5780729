/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stream_load.c - chunks become records that wait for their window.
 *
 * A chunk is loaded with the window in which the first of its records begins; block by block, since a block
 * is unpacked as a whole.  A chunk that is due later is loaded early if a thread's wait goes on after the
 * window's end: in a wait with others inside it (a home-made lock that sleeps repeatedly) the last wake-up
 * counts, and an earlier one must not be reported.
 *
 *	lock 10..90 { sleep 15..30 woken at 28, sleep 40..85 woken at 80 }; the window ends at 35: woken at 80
 */
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "base/search.h"
#include "trace/encode.h"
#include "trace/windows/stream_state.h"

static int by_block(const void *a, const void *b, void *arg)
{
	const struct trace_index *index = arg;
	const struct index_chunk *x = &index->chunks.items[*(const uint32_t *)a];
	const struct index_chunk *y = &index->chunks.items[*(const uint32_t *)b];

	if (x->block_at != y->block_at)
		return x->block_at < y->block_at ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void take_event(struct trace_stream *s, uint32_t thread, const struct raw_record *r, uint32_t order)
{
	struct raw_event e = { ruler_ns(&s->index.ruler, r->ticks), thread, order, r->kind, r->caller, r->polls, { 0 } };
	struct raw_invocation v;

	memcpy(e.words, r->words, event_words(r->kind) * sizeof(e.words[0]));
	ruler_words(&s->index.ruler, e.kind, e.words);
	index_forget_waker(&s->index, &e);
	if (index_frame(&e, &v))
		VEC_ADD(&s->loaded, v);
	else
		VEC_ADD(&s->waiting, e);
}

/* first: the number of the first in the trace. */
static void take_calls(struct trace_stream *s, const struct index_chunk *c, const struct raw_call *calls, size_t cnt,
		       uint32_t first)
{
	struct ruler ruler = s->index.ruler;
	struct raw_invocation *to;

	if (cnt == 0)
		return;
	VEC_ROOM(&s->loaded, cnt);
	to = s->loaded.items + s->loaded.cnt;
	for (size_t i = 0; i < cnt; i++) {
		if (calls[i].start < c->floor)
			continue;
		*to++ = (struct raw_invocation){ ruler_ns(&ruler, calls[i].start), ruler_ns(&ruler, calls[i].end),
					       c->thread, calls[i].fid, first + (uint32_t)i };
	}
	s->loaded.cnt = (size_t)(to - s->loaded.items);
	s->index.ruler = ruler;
}

/* Returns whether it is a call. */
static bool take_record(struct trace_stream *s, const struct index_chunk *c, const struct raw_record *r, uint32_t event,
			uint32_t invocation)
{
	struct raw_call v = { r->ticks, r->words[0], r->fid };

	if (r->kind == EVENT_NONE)
		take_calls(s, c, &v, 1, invocation);
	else if (r->ticks >= c->floor)
		take_event(s, c->thread, r, event);
	return r->kind == EVENT_NONE;
}

/* Number of successive calls that are read at a time. */
enum { CALLS_AT_ONCE = 256 };

/* An index that was saved may claim anything. */
static bool has_functions(const struct trace_stream *s)
{
	for (size_t i = 0; i < s->loaded.cnt; i++)
		if (s->loaded.items[i].fid >= s->rd.raw.functions.cnt)
			return false;
	return true;
}

/* false: the block is not the one that the index knows. */
static bool load_chunk(struct trace_stream *s, const struct index_chunk *c)
{
	struct decoder d = { s->blocks.plain + c->at, s->blocks.plain + s->blocks.len, false };
	uint32_t events = c->first_event, invocations = c->first_invocation;
	struct raw_call calls[CALLS_AT_ONCE];
	uint64_t before = 0;

	s->loaded.cnt = 0;
	if (c->at > s->blocks.len)
		return false;
	for (uint32_t left = c->cnt; left && !d.bad; ) {
		size_t cnt = raw_decode_calls(&d, &before, calls, left < CALLS_AT_ONCE ? left : CALLS_AT_ONCE);
		struct raw_record r;

		take_calls(s, c, calls, cnt, invocations);
		invocations += (uint32_t)cnt;
		left -= cnt ? (uint32_t)cnt : 1;
		if (cnt)
			continue;
		raw_decode_record(&d, &before, &r);
		if (d.bad)
			break;
		if (take_record(s, c, &r, events, invocations))
			invocations++;
		else
			events++;
	}
	s->loaded_cnt += c->cnt;
	if (d.bad || (s->states && !has_functions(s)))
		return false;
	if (s->wanted)
		stream_filter(s->wanted, s->loaded.items, &s->loaded.cnt);
	if (!s->events_only)
		waiting_add(&s->lines[c->thread].waiting, s->loaded.items, s->loaded.cnt);
	return true;
}

/* In the order of the file. */
static int load_chunks(struct trace_stream *s, const uint32_t *chunks, size_t cnt, struct diag *reterr)
{
	uint64_t block_at = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < cnt; i++) {
		struct index_chunk *c = &s->index.chunks.items[chunks[i]];

		if (c->block_at != block_at && !blocks_again(&s->blocks, c->block_at, &r, reterr))
			break;
		block_at = c->block_at;
		if (!load_chunk(s, c))
			r = blocks_damaged(&s->blocks, "it was changed while it was read", reterr);
		c->is_loaded = true;
	}
	return r;
}

static int load_due(struct trace_stream *s, struct diag *reterr)
{
	int r;

	if (s->due.cnt)
		qsort_r(s->due.items, s->due.cnt, sizeof(*s->due.items), by_block, &s->index);
	r = load_chunks(s, s->due.items, s->due.cnt, reterr);
	for (size_t i = 0; s->due.cnt && i < s->rd.raw.threads.cnt; i++)
		waiting_settle(&s->lines[i].waiting);
	s->due.cnt = 0;
	return r;
}

int stream_load(struct trace_stream *s, struct diag *reterr)
{
	for (; s->next_chunk < s->index.chunks.cnt; s->next_chunk++) {
		const struct index_chunk *c = &s->index.chunks.items[s->next_chunk];

		if (c->due_ns > s->rd.until_ns)
			break;
		if (c->due_ns < INT64_MAX && !c->is_loaded)
			VEC_ADD(&s->due, (uint32_t)s->next_chunk);
	}
	return load_due(s, reterr);
}

/* ---- from a state that was saved ---- */

/* Whether the chunk has records that begin later than the moment, by which it was due. */
static bool goes_on(const struct index_chunk *c, int64_t ns)
{
	return c->last_ns > ns || c->has_open;
}

static void want_from(struct trace_stream *s)
{
	int64_t until_ns = s->rd.until_ns;

	s->next_chunk = 0;
	for (size_t i = 0; i < s->index.chunks.cnt; i++) {
		struct index_chunk *c = &s->index.chunks.items[i];

		c->is_loaded = c->due_ns <= until_ns;
		s->next_chunk += c->is_loaded;
		if (c->is_loaded && goes_on(c, until_ns))
			VEC_ADD(&s->due, (uint32_t)i);
	}
}

/* Forgets the loaded records that are known to be past. */
static void pass_records(struct trace_stream *s)
{
	int64_t until_ns = s->rd.until_ns;
	size_t left = 0;

	for (size_t i = 0; i < s->waiting.cnt; i++)
		if (s->waiting.items[i].ns > until_ns)
			s->waiting.items[left++] = s->waiting.items[i];
	s->waiting.cnt = left;
	for (size_t i = 0; i < s->rd.raw.threads.cnt; i++) {
		struct line *l = &s->lines[i];

		while (l->waiting.first < l->waiting.calls.cnt && l->waiting.calls.items[l->waiting.first].start_ns <= until_ns)
			l->waiting.first++;
		while (l->early < l->early_end && s->index.invocations.items[l->early].start_ns <= until_ns)
			l->early++;
	}
	while (s->early_event < s->index.events.cnt && s->index.events.items[s->early_event].ns <= until_ns)
		s->early_event++;
}

int stream_load_from(struct trace_stream *s, struct diag *reterr)
{
	int r;

	s->waiting.cnt = s->fresh.cnt = 0;
	for (size_t i = 0; i < s->rd.raw.threads.cnt; i++) {
		struct line *l = &s->lines[i];

		l->waiting.first = l->waiting.calls.cnt = l->next_chunk = 0;
	}
	want_from(s);
	r = load_due(s, reterr);
	pass_records(s);
	s->next_end = partition_point(i, s->by_end.cnt, s->by_end.items[i]->last_ns <= s->rd.until_ns);
	s->is_last = false;
	return r;
}

/* ---- ahead ---- */

static void find_waits(struct trace_stream *s)
{
	const struct raw *r = &s->rd.raw;

	s->last_wait_ns = INT64_MIN;
	for (size_t i = 0; i < r->threads.cnt; i++)
		s->lines[i].wait_until_ns = INT64_MIN;
	for (size_t i = 0; i < r->events.cnt; i++) {
		const struct raw_event *e = &r->events.items[i];
		struct line *l = &s->lines[e->thread];

		if (e->kind == EVENT_WAIT && (int64_t)e->words[0] > s->rd.until_ns &&
		    (int64_t)e->words[0] > l->wait_until_ns)
			l->wait_until_ns = (int64_t)e->words[0];
		if (l->wait_until_ns > s->last_wait_ns)
			s->last_wait_ns = l->wait_until_ns;
	}
}

static void want_chunks(struct trace_stream *s, struct line *l)
{
	for (; l->next_chunk < l->chunks.cnt; l->next_chunk++) {
		const struct index_chunk *c = &s->index.chunks.items[l->chunks.items[l->next_chunk]];

		if (c->due_ns > l->wait_until_ns)
			break;
		if (c->due_ns < INT64_MAX && !c->is_loaded)
			VEC_ADD(&s->due, l->chunks.items[l->next_chunk]);
	}
}

static bool is_ahead(const struct trace_stream *s, const struct raw_event *e)
{
	return e->kind == EVENT_WAIT && e->ns > s->rd.until_ns && e->ns < s->lines[e->thread].wait_until_ns;
}

int stream_load_lines(struct trace_stream *s, struct diag *reterr)
{
	for (size_t i = 0; i < s->rd.raw.threads.cnt; i++)
		want_chunks(s, &s->lines[i]);
	return load_due(s, reterr);
}

int stream_load_waits(struct trace_stream *s, struct diag *reterr)
{
	const struct trace_index *x = &s->index;
	int r;

	find_waits(s);
	r = stream_load_lines(s, reterr);
	for (size_t i = 0; i < s->waiting.cnt; i++)
		if (is_ahead(s, &s->waiting.items[i]))
			VEC_ADD(&s->rd.raw.events, s->waiting.items[i]);
	for (size_t i = s->early_event; i < x->events.cnt && x->events.items[i].ns < s->last_wait_ns; i++)
		if (is_ahead(s, &x->events.items[i]))
			VEC_ADD(&s->rd.raw.events, x->events.items[i]);
	return r;
}
