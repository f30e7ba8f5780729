/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * index_saved.c - an index that is kept, so that only the first reading of a trace makes it.
 *
 * Functions, labels, anchors and other tables are few: they are read from the trace again.
 */
#include "base/banned.h"
#include "trace/read/index.h"
#include "trace/archive.h"

/* Times of records: none is before the clock's beginning, or takes for ever. */
static void pass_moment(struct archive *s, int64_t *ns)
{
	archive_time(s, ns);
	archive_refuse(s, *ns < 0 || *ns == INT64_MAX);
}

void raw_event_save(struct archive *s, struct raw_event *e, const struct raw *r)
{
	uint32_t kind = e->kind, caller = e->caller;
	bool polls = e->polls;

	pass_moment(s, &e->ns);
	archive_below(s, &e->thread, r->threads.cnt);
	archive_u32(s, &e->order);
	archive_below(s, &kind, EVENT_CNT);
	e->kind = (enum trace_event)kind;
	for (unsigned int i = 0; i < event_words(kind); i++)
		archive_u64(s, &e->words[i]);
	if (kind != EVENT_WAIT)
		return;
	archive_below(s, &caller, (uint64_t)INT32_MAX + 1);
	archive_bool(s, &polls);
	e->caller = caller & INT32_MAX;
	e->polls = polls;
}

static void pass_invocation(struct archive *s, struct raw_invocation *v, const struct raw *r)
{
	archive_time(s, &v->start_ns);
	archive_time(s, &v->end_ns);
	archive_below(s, &v->thread, r->threads.cnt);
	archive_below(s, &v->fid, (uint64_t)TRACE_FIDS_MAX + 1);
	archive_u32(s, &v->order);
	archive_refuse(s, v->fid == 0 || v->start_ns < 0 || v->end_ns < 0 || v->start_ns == INT64_MAX);
}

static void pass_thread(struct archive *s, struct raw_thread *t, const struct raw *r)
{
	archive_u64(s, &t->serial);
	archive_u32(s, &t->pid);
	archive_u32(s, &t->kernel_tid);
	archive_text_in(s, r->arena, &t->name);
	archive_time(s, &t->first_ns);
	archive_time(s, &t->last_ns);
}

static void pass_order(struct archive *s, uint32_t *order, const void *unused)
{
	(void)unused;
	archive_u32(s, order);
}

static void pass_open(struct archive *s, int64_t *ns, const void *unused)
{
	(void)unused;
	archive_time(s, ns);
}

static void pass_ns(struct archive *s, uint64_t *ns, const void *unused)
{
	(void)unused;
	archive_u64(s, ns);
}

/* block: index of its block in the list.  Chunks follow each other nearly as they stand in the file. */
static void pass_chunk(struct archive *s, struct index_chunk *c, uint32_t *block, const struct raw *r, size_t block_cnt)
{
	archive_below(s, block, block_cnt);
	archive_below(s, &c->at, (uint64_t)TRACE_BLOCK_RAW_MAX + 1);
	archive_u32(s, &c->cnt);
	archive_below(s, &c->thread, r->threads.cnt);
	archive_u32(s, &c->first_event);
	archive_u32(s, &c->first_invocation);
	archive_u64(s, &c->floor);
	archive_bool(s, &c->has_open);
	archive_time(s, &c->due_ns);
	archive_time(s, &c->last_ns);
}

static void write_chunks(struct archive *s, struct trace_index *x, const struct raw *r, const struct blocks *b)
{
	_cleanup_(map_freep) struct map *block_of = map_new();

	for (size_t i = 0; i < b->list.whole.cnt; i++)
		map_set(block_of, b->list.whole.items[i].at, i);
	archive_cnt(s, x->chunks.cnt);
	for (size_t i = 0; i < x->chunks.cnt; i++) {
		uint32_t block = (uint32_t)*map_slot(block_of, x->chunks.items[i].block_at);

		pass_chunk(s, &x->chunks.items[i], &block, r, b->list.whole.cnt);
	}
}

static void read_chunks(struct archive *s, struct trace_index *x, const struct raw *r, const struct blocks *b)
{
	size_t cnt = archive_cnt(s, 0);

	for (size_t i = 0; i < cnt && !s->failed; i++) {
		struct index_chunk *c = VEC_EXTEND(&x->chunks);
		uint32_t block = 0;

		pass_chunk(s, c, &block, r, b->list.whole.cnt);
		if (s->failed)
			return;
		c->block_at = b->list.whole.items[block].at;
		archive_refuse(s, b->list.whole.items[block].kind != BLOCK_CHUNKS);
	}
}

/* Threads keep their numbers. */
static void find_threads(struct archive *s, struct raw *r)
{
	for (size_t i = 0; i < r->threads.cnt; i++) {
		uint64_t *index = map_slot(r->thread_of, r->threads.items[i].serial);

		archive_refuse(s, *index || !r->threads.items[i].serial);
		*index = i + 1;
	}
}

static void pass_stopped(struct archive *s, struct trace_index *x, size_t thread_cnt)
{
	if (!s->out)
		x->stopped = xcalloc(thread_cnt + 1, sizeof(*x->stopped));
	for (size_t i = 0; i < thread_cnt; i++)
		archive_bool(s, &x->stopped[i]);
}

void index_save(struct trace_index *x, struct raw *r, const struct blocks *b, struct archive *s)
{
	ARCHIVE_VEC(s, &r->threads, pass_thread, r);
	if (!s->out) {
		x->raw = r;
		r->thread_of = map_new();
		find_threads(s, r);
	}
	pass_stopped(s, x, r->threads.cnt);
	archive_bool(s, &r->has_moves);
	if (!s->out)
		read_chunks(s, x, r, b);
	else
		write_chunks(s, x, r, b);
	ARCHIVE_VEC(s, &x->events, raw_event_save, r);
	ARCHIVE_VEC(s, &x->invocations, pass_invocation, r);
	ARCHIVE_VEC(s, &x->losses, raw_event_save, r);
	ARCHIVE_VEC(s, &x->open_ns, pass_open, NULL);
	ARCHIVE_VEC(s, &x->false_wakeups.waits, pass_order, NULL);
	ARCHIVE_VEC(s, &x->waited_ns, pass_ns, NULL);
	archive_u64(s, &x->record_cnt);
	archive_u64(s, &x->begin_cnt);
	archive_time(s, &x->first_ns);
	archive_time(s, &x->last_ns);
	archive_below(s, &x->last_fid, (uint64_t)TRACE_FIDS_MAX + 1);
	archive_bool(s, &x->times_out);
	archive_bool(s, &x->seems_nested);
	archive_bool(s, &x->has_stacks);
}

int index_settle(struct trace_index *x, const struct blocks *b, struct diag *reterr)
{
	struct raw *r = x->raw;
	int e = ruler_init(&x->ruler, r, x->record_cnt > 0, b->path, reterr);

	if (e || !x->ruler.cnt)
		return e;
	ruler_pauses(&x->ruler, r);
	if (r->lost_since)
		r->lost_since = (uint64_t)ruler_ns(&x->ruler, r->lost_since);
	return 0;
}
