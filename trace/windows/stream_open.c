/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stream_open.c - from the file to where the first window can begin.
 *
 * A trace that was cut off is replayed once before, to find the intervals without an end
 * (replay_unfinished()); so is a trace in which intervals may be nested (nesting.h).
 */
#include <errno.h>
#include <string.h>
#include "base/banned.h"
#include "trace/parts.h"
#include "trace/peers.h"
#include "trace/raw/cpu_use.h"
#include "trace/read/off_cpu.h"
#include "trace/windows/stream.h"
#include "trace/windows/stream_state.h"

static int by_end(const void *a, const void *b)
{
	const struct index_chunk *x = *(const struct index_chunk *const *)a;
	const struct index_chunk *y = *(const struct index_chunk *const *)b;

	return x->last_ns < y->last_ns ? -1 : x->last_ns > y->last_ns;
}

static int by_tid(const void *a, const void *b, void *arg)
{
	const struct raw *r = arg;
	uint64_t x = r->threads.items[*(const uint32_t *)a].tid, y = r->threads.items[*(const uint32_t *)b].tid;

	return x < y ? -1 : x > y;
}

static void make_lines(struct trace_stream *s)
{
	const struct trace_index *x = &s->index;
	size_t thread_cnt = s->rd.raw.threads.cnt, at = 0;

	s->lines = xcalloc(thread_cnt + 1, sizeof(*s->lines));
	s->rd.histories = xcalloc(thread_cnt + 1, sizeof(*s->rd.histories));
	for (uint32_t i = 0; i < thread_cnt; i++) {
		s->lines[i].early = at;
		while (at < x->invocations.cnt && x->invocations.items[at].thread == i)
			at++;
		s->lines[i].early_end = at;
		VEC_ADD(&s->by_tid, i);
	}
	if (thread_cnt)
		qsort_r(s->by_tid.items, thread_cnt, sizeof(*s->by_tid.items), by_tid, &s->rd.raw);
	for (size_t i = 0; i < x->chunks.cnt; i++) {
		VEC_ADD(&s->by_end, &x->chunks.items[i]);
		VEC_ADD(&s->lines[x->chunks.items[i].thread].chunks, (uint32_t)i);
	}
	if (s->by_end.cnt)
		qsort(s->by_end.items, s->by_end.cnt, sizeof(*s->by_end.items), by_end);
}

/* Whether sums stay exact over all intervals, however long one may be. */
static bool sums_fit(const struct trace_index *x)
{
	return squares_fit(x->begin_cnt, x->last_ns > x->first_ns ? (__int128)x->last_ns - x->first_ns : 0);
}

static bool has_parts(const char *path)
{
	size_t cnt;
	char **parts = trace_parts(path, &cnt);

	trace_parts_release(&parts);
	return cnt > 0;
}

static void start_replay(struct trace_stream *s, struct map *unfinished)
{
	struct map *outermost = s->replay ? replay_nesting(s->replay) : NULL;

	replay_free(s->replay);
	replay_reset(&s->rd);
	s->replay = replay_new(&s->rd);
	replay_know_unfinished(s->replay, unfinished);
	if (outermost)
		replay_know_nesting(s->replay, outermost);
	replay_losses(s->replay, s->index.losses.items, s->index.losses.cnt);
}

/* Resets the replay to the first event. */
static void start_again(struct trace_stream *s, struct map *unfinished)
{
	s->next_chunk = s->early_event = s->next_end = 0;
	for (size_t i = 0; i < s->index.chunks.cnt; i++)
		s->index.chunks.items[i].is_loaded = false;
	s->loaded_cnt = 0;
	s->waiting.cnt = 0;
	s->rd.before_ns = s->rd.until_ns = INT64_MIN;
	s->is_last = false;
	start_replay(s, unfinished);
}

static int play_events(struct trace_stream *s, struct diag *reterr)
{
	int r = 0;

	s->events_only = true;
	while (r == 0 && !s->is_last) {
		replay_forget(s->replay, INT64_MAX);
		for (size_t i = 0; i < s->rd.raw.threads.cnt; i++)
			s->rd.histories[i].changes.cnt = 0;
		stream_choose_end(s);
		r = stream_load(s, reterr);
		if (r == 0)
			stream_play(s);
	}
	s->events_only = false;
	return r;
}

static int play_before(struct trace_stream *s, struct diag *reterr)
{
	int r = 0;

	if (s->index.seems_nested) {
		replay_learn_nesting(s->replay);
		r = play_events(s, reterr);
		if (r == 0)
			start_again(s, NULL);
	}
	if (r == 0 && !s->rd.raw.ended) {
		r = play_events(s, reterr);
		if (r == 0)
			start_again(s, replay_unfinished(s->replay));
	}
	return r;
}

int stream_open_file(struct trace_stream *s, const char *path, const struct reader_options *o, struct diag *reterr)
{
	s->blocks.fd = -1;
	s->rd.options = o;
	s->rd.t = trace_new();
	s->rd.raw.arena = s->rd.t->arena;
	s->rd.raw.from_ns = INT64_MIN;
	s->rd.until_ns = INT64_MIN;
	return has_parts(path) ? TRACE_STREAM_UNFIT : blocks_open(&s->blocks, path, TRACE_MAGIC, TRACE_VERSION, reterr);
}

void stream_take_cpu_use(struct trace_stream *s)
{
	struct reading *rd = &s->rd;

	rd->t->cpu_use = rd->raw.cpu_use;
	rd->t->cpu_use.kernel_knows = rd->options && rd->options->kernel_knows;
	memset(&rd->raw.cpu_use, 0, sizeof(rd->raw.cpu_use));
}

void stream_begin(struct trace_stream *s)
{
	make_lines(s);
	add_threads(&s->rd, s->index.stopped, s->index.times_out);
	trace_sort_events(s->rd.t);
	build_functions(&s->rd, s->index.last_fid);
	trace_name_peers(s->rd.t);
	start_replay(s, NULL);
}

int trace_stream_open(const char *path, const struct reader_options *o, struct trace_stream **ret,
		      struct diag *reterr)
{
	_cleanup_(trace_stream_closep) struct trace_stream *s = xcalloc(1, sizeof(*s));
	int r = stream_open_file(s, path, o, reterr);

	if (!r)
		r = index_read(&s->index, &s->rd.raw, &s->blocks, reterr);
	if (r)
		return r;
	if (s->index.unfit || !sums_fit(&s->index))
		return TRACE_STREAM_UNFIT;
	number_threads(&s->rd.raw);
	stream_take_cpu_use(s);
	if (!off_cpu_is_wanted(o))
		cpu_use_sum_accounts(&s->rd.raw, &s->rd.t->off_cpu);
	if (s->index.waited_ns.cnt && off_cpu_is_wanted(o))
		r = off_cpu_find(&s->rd, path, s->index.waited_ns.items, reterr);
	if (r)
		return r;
	stream_begin(s);
	r = play_before(s, reterr);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 1;
}
