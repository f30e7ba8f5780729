/* SPDX-License-Identifier: GPL-3.0-or-later */
/* saved_stream.c - see saved_stream.h. */
#include "trace/windows/saved_stream.h"

#include <stdlib.h>
#include "base/banned.h"
#include "trace/read/off_cpu.h"

/* ---- a state ---- */

static void pass_change(struct archive *v, struct sid_change *c, const void *unused)
{
	(void)unused;
	archive_time(v, &c->ns);
	archive_u64(v, &c->sid);
}

static void pass_blocked(struct archive *v, struct blocked *b, const void *unused)
{
	(void)unused;
	archive_time(v, &b->start_ns);
	archive_time(v, &b->end_ns);
}

static void pass_ns(struct archive *v, int64_t *ns, const void *unused)
{
	(void)unused;
	archive_time(v, ns);
}

static void pass_creation(struct archive *v, struct creation *c, const void *unused)
{
	(void)unused;
	archive_u64(v, &c->tid);
	archive_u64(v, &c->tid2);
	archive_time(v, &c->time_ns);
	archive_time(v, &c->time2_ns);
	c->task = NAME_NONE;		/* recorded tasks have no names, nor do they name intervals */
}

static void pass_work(struct archive *v, struct work *w, const struct trace *t)
{
	archive_u64(v, &w->sid);
	archive_below(v, &w->name, t->work_names.cnt);
	archive_time(v, &w->value);
}

static void pass_call(struct archive *v, struct invocation *c, const struct trace_stream *s, uint32_t thread)
{
	archive_u64(v, &c->sid);
	archive_below(v, &c->function, s->rd.t->functions.cnt);
	archive_time(v, &c->start_ns);
	archive_time(v, &c->end_ns);
	archive_u32(v, &c->order);
	c->tid = s->rd.raw.threads.items[thread].tid;
	c->call_site = CALL_SITE_NONE;
}

/* Calls that are under way: what ended before the state is nothing to those that want what is after it. */
static void pass_calls(struct archive *v, struct trace_stream *s, uint32_t thread)
{
	struct line *l = &s->lines[thread];
	size_t cnt = 0;

	for (size_t i = 0; v->out && i < l->kept.cnt; i++)
		cnt += l->kept.items[i].end_ns > s->rd.until_ns;
	cnt = archive_cnt(v, cnt);
	if (!v->out) {
		l->kept.cnt = 0;
		for (size_t i = 0; i < cnt; i++)
			pass_call(v, VEC_EXTEND(&l->kept), s, thread);
		return;
	}
	for (size_t i = 0; i < l->kept.cnt; i++)
		if (l->kept.items[i].end_ns > s->rd.until_ns)
			pass_call(v, &l->kept.items[i], s, thread);
}

static void pass_line(struct archive *v, struct trace_stream *s, uint32_t thread)
{
	struct sid_history *h = &s->rd.histories[thread];
	struct line *l = &s->lines[thread];

	ARCHIVE_VEC(v, &h->changes, pass_change, NULL);
	ARCHIVE_VEC(v, &h->unknown, pass_blocked, NULL);
	archive_bool(v, &h->is_redone);
	archive_time(v, &h->redone_ns);
	archive_time(v, &l->low_ns);
	ARCHIVE_VEC(v, &l->calls.open_ends_ns, pass_ns, NULL);
	pass_calls(v, s, thread);
}

void stream_save_state(struct trace_stream *s, struct archive *v)
{
	struct trace *t = s->rd.t;

	archive_time(v, &s->rd.until_ns);
	archive_u32(v, &s->order);
	archive_u64(v, &s->loaded_cnt);
	ARCHIVE_VEC(v, &s->rd.raw.events, raw_event_save, &s->rd.raw);
	ARCHIVE_VEC(v, &t->creations, pass_creation, NULL);
	ARCHIVE_VEC(v, &t->works, pass_work, t);
	for (uint32_t i = 0; i < s->rd.raw.threads.cnt && !v->failed; i++)
		pass_line(v, s, i);
	replay_save(s->replay, v);
	for (size_t i = s->kept_cnt = 0; i < s->rd.raw.threads.cnt; i++)
		s->kept_cnt += s->lines[i].kept.cnt;
}

/* ---- what all have in common ---- */

static void pass_name(struct archive *v, const char **name, struct trace *t)
{
	archive_text_in(v, t->arena, name);
	archive_refuse(v, !*name);
}

static void pass_span(struct archive *v, struct span *span, const void *unused)
{
	uint32_t state = span->state;

	(void)unused;
	archive_time(v, &span->start_ns);
	archive_time(v, &span->end_ns);
	archive_below(v, &state, STATE_CNT);
	span->state = (enum trace_state)state;
}

static void pass_wake(struct archive *v, struct off_cpu_wake *wake, const void *unused)
{
	(void)unused;
	archive_time(v, &wake->end_ns);
	archive_time(v, &wake->ready_ns);
}

static void pass_offs(struct archive *v, struct reading *rd)
{
	bool are_known = rd->offs;

	archive_u64(v, &rd->t->off_cpu.placed_ns);
	archive_u64(v, &rd->t->off_cpu.runnable_ns);
	archive_u64(v, &rd->t->off_cpu.unplaced_ns);
	archive_u64(v, &rd->t->off_cpu.run_ns);
	archive_u64(v, &rd->t->off_cpu.delay_ns);
	archive_bool(v, &are_known);
	if (are_known && !v->out)
		rd->offs = xcalloc(rd->raw.threads.cnt + 1, sizeof(*rd->offs));
	for (size_t i = 0; are_known && i < rd->raw.threads.cnt; i++) {
		struct spans *offs = &rd->offs[i];
		VEC(struct span) spans = { (struct span *)offs->items, offs->cnt, offs->cnt };
		VEC(struct off_cpu_wake) wakes = { (struct off_cpu_wake *)offs->wakes, offs->wake_cnt, offs->wake_cnt };

		ARCHIVE_VEC(v, &spans, pass_span, NULL);
		ARCHIVE_VEC(v, &wakes, pass_wake, NULL);
		*offs = (struct spans){ spans.items, spans.cnt, wakes.items, wakes.cnt };
	}
}

static void pass_names(struct archive *v, struct trace *t)
{
	ARCHIVE_VEC(v, &t->interval_names, pass_name, t);
	ARCHIVE_VEC(v, &t->work_names, pass_name, t);
}

void stream_save_whole(struct trace_stream *s, struct archive *v)
{
	index_save(&s->index, &s->rd.raw, &s->blocks, v);
	pass_names(v, s->rd.t);
	pass_offs(v, &s->rd);
	replay_save_known(s->replay, v);
}

/* Functions, labels, anchors and other tables, from the trace itself. */
static bool read_tables(struct trace_stream *s)
{
	struct diag unheard = DIAG_INIT;
	int e = 0;

	s->blocks.skips_chunks = s->blocks.checks_again = true;
	while (!e && blocks_next(&s->blocks, &e, &unheard))
		e = raw_decode_table(&s->rd.raw, &s->blocks, &unheard);
	s->rd.raw.cut_bytes = s->blocks.cut_bytes;
	VEC_RELEASE(&s->rd.raw.accounts);		/* what they say is among the times off the CPU */
	return !e && !blocks_have_holes(&s->blocks) && index_settle(&s->index, &s->blocks, &unheard) == 0;
}

bool stream_read_whole(struct trace_stream *s, struct archive *v)
{
	index_save(&s->index, &s->rd.raw, &s->blocks, v);
	pass_names(v, s->rd.t);
	pass_offs(v, &s->rd);
	if (v->failed || !read_tables(s))
		return false;
	number_threads(&s->rd.raw);
	stream_take_cpu_use(s);
	stream_begin(s);
	replay_save_known(s->replay, v);
	for (size_t i = 0; i < s->index.invocations.cnt; i++)
		archive_refuse(v, s->index.invocations.items[i].fid >= s->rd.raw.functions.cnt);
	return !v->failed;
}
