/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stream.c - one window after the other.
 *
 * A window ends where some chunk does, so that there is enough in it.  Its steps:
 *
 *	load	the chunks that are due (stream_load.c), and the early records of the index
 *	play	events that began in the window: intervals, creations, who worked on what
 *	lines	segments and wakeups of the waits that are new or were kept
 *	calls	invocations that began in the window; those that were kept stand before them
 *	keep	what ended after the oldest open interval began
 *
 * A running thread's last segment ends with the window, and the next window has it anew.
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

size_t trace_stream_records = (size_t)1 << 16;

static int play_before(struct trace_stream *s, struct diag *reterr);

/* ---- opening ---- */

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

int trace_stream_open(const char *path, const struct reader_options *o, struct trace_stream **ret,
		      struct diag *reterr)
{
	_cleanup_(trace_stream_closep) struct trace_stream *s = xcalloc(1, sizeof(*s));
	int r;

	s->blocks.fd = -1;
	r = has_parts(path) ? TRACE_STREAM_UNFIT
			    : blocks_open(&s->blocks, path, TRACE_MAGIC, TRACE_VERSION, reterr);
	s->rd.options = o;
	s->rd.t = trace_new();
	s->rd.raw.arena = s->rd.t->arena;
	s->rd.raw.from_ns = INT64_MIN;
	s->rd.until_ns = INT64_MIN;
	if (!r)
		r = index_read(&s->index, &s->rd.raw, &s->blocks, reterr);
	if (r)
		return r;
	if (s->index.unfit || !sums_fit(&s->index))
		return TRACE_STREAM_UNFIT;
	number_threads(&s->rd.raw);
	s->rd.t->cpu_use = s->rd.raw.cpu_use;
	s->rd.t->cpu_use.kernel_knows = o && o->kernel_knows;
	memset(&s->rd.raw.cpu_use, 0, sizeof(s->rd.raw.cpu_use));
	if (o && o->kernel_knows)
		cpu_use_sum_accounts(&s->rd.raw, &s->rd.t->off_cpu);
	if (s->index.waited_ns.cnt && !(o && o->kernel_knows))
		r = off_cpu_find(&s->rd, path, s->index.waited_ns.items, reterr);
	if (r)
		return r;
	make_lines(s);
	add_threads(&s->rd, s->index.stopped, s->index.times_out);
	trace_sort_events(s->rd.t);
	build_functions(&s->rd, s->index.last_fid);
	trace_name_peers(s->rd.t);
	start_replay(s, NULL);
	r = play_before(s, reterr);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 1;
}

/* Releases all but the names: there are no more windows. */
static void let_go(struct trace_stream *s)
{
	for (size_t i = 0; s->lines && i < s->rd.raw.threads.cnt; i++) {
		waiting_release(&s->lines[i].waiting);
		VEC_RELEASE(&s->lines[i].calls.open_ends_ns);
		VEC_RELEASE(&s->lines[i].kept);
		VEC_RELEASE(&s->lines[i].chunks);
		sid_history_release(&s->rd.histories[i]);
	}
	free(s->lines);
	s->lines = NULL;
	free(s->rd.histories);
	s->rd.histories = NULL;
	replay_free(s->replay);
	s->replay = NULL;
	VEC_RELEASE(&s->by_end);
	VEC_RELEASE(&s->by_tid);
	VEC_RELEASE(&s->due);
	VEC_RELEASE(&s->loaded);
	VEC_RELEASE(&s->waiting);
	VEC_RELEASE(&s->fresh);
	VEC_RELEASE(&s->waits);
	kernel_windows_free(s->kernel);
	offs_release(&s->rd);
	index_release(&s->index);
	raw_release(&s->rd.raw);
	blocks_close(&s->blocks);
	stream_wanted_free(s->wanted);
	s->wanted = NULL;
}

void trace_stream_close(struct trace_stream *s)
{
	if (!s)
		return;
	if (!s->is_over)
		let_go(s);
	trace_free(s->rd.t);
	free(s);
}

struct trace *trace_stream_names(struct trace_stream *s)
{
	return s->rd.t;
}

/* ---- play, lines ---- */

/* Chooses the window's end so that at least as much is new in it as is kept. */
static void choose_end(struct trace_stream *s)
{
	size_t wanted = trace_stream_records > s->kept_cnt ? trace_stream_records : s->kept_cnt, cnt = 0;

	s->rd.before_ns = s->rd.until_ns;
	for (; s->next_end < s->by_end.cnt; s->next_end++) {
		const struct index_chunk *c = s->by_end.items[s->next_end];

		if (cnt >= wanted && c->last_ns > s->rd.until_ns)
			break;
		cnt += c->cnt;
		if (c->last_ns > s->rd.until_ns)
			s->rd.until_ns = c->last_ns;
	}
	stream_move_end(s, s->rd.until_ns);
}

static void play(struct trace_stream *s)
{
	const struct trace_index *x = &s->index;
	size_t left = 0;

	s->fresh.cnt = 0;
	for (size_t i = 0; i < s->waiting.cnt; i++) {
		if (s->waiting.items[i].ns <= s->rd.until_ns)
			VEC_ADD(&s->fresh, s->waiting.items[i]);
		else
			s->waiting.items[left++] = s->waiting.items[i];
	}
	s->waiting.cnt = left;
	for (; s->early_event < x->events.cnt; s->early_event++) {
		if (x->events.items[s->early_event].ns > s->rd.until_ns)
			break;
		VEC_ADD(&s->fresh, x->events.items[s->early_event]);
	}
	if (s->fresh.cnt)
		qsort(s->fresh.items, s->fresh.cnt, sizeof(*s->fresh.items), compare_raw_events);
	replay_events(s->replay, s->fresh.items, s->fresh.cnt);
	if (s->is_last)
		replay_end(s->replay);
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
		choose_end(s);
		r = stream_load(s, reterr);
		if (r == 0)
			play(s);
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

static bool is_of_wait(enum trace_event kind)
{
	return kind == EVENT_WAIT || kind == EVENT_RELEASE || kind == EVENT_UNLOCK || kind == EVENT_POST || kind == EVENT_TAKEN;
}

/* Makes segments from the waits and releases of this window and of those kept. */
static int make_segments(struct trace_stream *s, struct diag *reterr)
{
	struct raw *r = &s->rd.raw;
	size_t known;
	int err;

	for (size_t i = 0; i < s->fresh.cnt; i++)
		if (is_of_wait(s->fresh.items[i].kind))
			VEC_ADD(&r->events, s->fresh.items[i]);
	for (size_t i = 0; i < r->threads.cnt; i++)
		s->rd.histories[i].waits.cnt = 0;
	s->rd.t->segments.cnt = s->rd.t->wakeups.cnt = 0;
	known = r->events.cnt;
	err = stream_load_waits(s, reterr);
	if (err == 0)
		build_segments(&s->rd, true);
	r->events.cnt = known;
	return err;
}

static void merge_kernel(struct trace_stream *s)
{
	if (!s->kernel)
		return;
	kernel_windows_merge(s->kernel, s->rd.until_ns);
	if (s->is_last)
		kernel_windows_end(s->kernel);
}

/* ---- calls ---- */

/* The next early call of the thread that begins in the window, or NULL. */
static const struct raw_invocation *next_early(const struct trace_stream *s, const struct line *l)
{
	const struct raw_invocation *early;

	if (l->early == l->early_end)
		return NULL;
	early = &s->index.invocations.items[l->early];
	return early->start_ns <= s->rd.until_ns ? early : NULL;
}

/* The next call of the thread that begins in the window, or NULL. */
static const struct raw_invocation *next_call(const struct trace_stream *s, const struct line *l)
{
	const struct raw_invocation *early = next_early(s, l), *v = NULL;

	if (l->waiting.first < l->waiting.calls.cnt &&
	    l->waiting.calls.items[l->waiting.first].start_ns <= s->rd.until_ns)
		v = &l->waiting.calls.items[l->waiting.first];
	return early && (!v || compare_raw_invocations(early, v) < 0) ? early : v;
}

static void pass_call(struct line *l, const struct raw_invocation *v)
{
	if (l->waiting.first < l->waiting.calls.cnt && v == &l->waiting.calls.items[l->waiting.first])
		l->waiting.first++;
	else
		l->early++;
}

/* Repeats calls of earlier windows in this one; keeps those that the next window needs, too. */
static void repeat_calls(struct trace_stream *s, uint32_t thread, int64_t low_ns)
{
	struct sid_history *line = &s->rd.histories[thread];
	struct line *l = &s->lines[thread];
	size_t left = 0;

	for (size_t i = 0; i < l->kept.cnt; i++) {
		struct invocation *v = &l->kept.items[i];

		if (line->is_redone)
			v->sid = call_redone_sid(line, v, l->low_ns);
		if (v->sid == SID_NONE && v->end_ns > s->rd.before_ns)
			v->sid = call_late_sid(line, v, s->rd.before_ns);
		VEC_ADD(&s->rd.t->invocations, *v);
		if (v->end_ns >= low_ns)
			l->kept.items[left++] = *v;
	}
	l->kept.cnt = left;
	line->is_redone = false;
}

static bool is_later(const struct invocation *a, const struct invocation *b)
{
	return a->start_ns != b->start_ns ? a->start_ns > b->start_ns : a->end_ns < b->end_ns;
}

/* Adds the cnt new calls, after those that the window has; the thread's calls start at first.  low_ns: the
 * next window does not need calls that end earlier. */
static void add_calls(struct trace_stream *s, struct line *l, size_t first, size_t cnt, int64_t low_ns)
{
	struct invocation *calls = s->rd.t->invocations.items;
	size_t end = s->rd.t->invocations.cnt + cnt;
	uint32_t order = s->order;
	bool is_unordered = false;

	for (size_t i = s->rd.t->invocations.cnt; i < end; i++) {
		calls[i].order = order++;
		is_unordered |= i > first && is_later(&calls[i - 1], &calls[i]);
		if (calls[i].end_ns >= low_ns)
			VEC_ADD(&l->kept, calls[i]);
	}
	s->order = order;
	s->is_unordered |= is_unordered;
	s->rd.t->invocations.cnt = end;
}

/* Takes a run of ordinary calls; returns how many, 0 if the next one is not ordinary. */
static size_t make_plain_calls(struct trace_stream *s, struct line *l)
{
	const struct raw_invocation *early = next_early(s, l);
	size_t cnt = l->waiting.calls.cnt - l->waiting.first;

	if (cnt == 0)
		return 0;
	VEC_ROOM(&s->rd.t->invocations, cnt);
	cnt = call_take_plain(&l->calls, &s->rd, &l->waiting.calls.items[l->waiting.first], cnt,
			      early ? early->start_ns - 1 : s->rd.until_ns,
			      &s->rd.t->invocations.items[s->rd.t->invocations.cnt]);
	l->waiting.first += cnt;
	return cnt;
}

/* The next one, if it is to be taken, else 0. */
static size_t make_call(struct trace_stream *s, struct line *l, const struct raw_invocation *v)
{
	pass_call(l, v);
	if (call_is_twice(&s->rd.raw, v, next_call(s, l)))
		return 0;
	VEC_RESERVE(&s->rd.t->invocations);
	return call_take(&l->calls, &s->rd, v, &s->rd.t->invocations.items[s->rd.t->invocations.cnt]);
}

static void make_calls(struct trace_stream *s, uint32_t thread, int64_t low_ns)
{
	struct line *l = &s->lines[thread];
	const struct raw_invocation *v;
	size_t first = s->rd.t->invocations.cnt;

	repeat_calls(s, thread, low_ns);
	call_line_start(&l->calls);
	while ((v = next_call(s, l))) {
		size_t cnt = make_plain_calls(s, l);

		add_calls(s, l, first, cnt ? cnt : make_call(s, l, v), low_ns);
	}
}

/* ---- keep ---- */

/* Keeps what the thread worked on at low_ns, and since. */
static void keep_changes(struct sid_history *line, int64_t low_ns)
{
	size_t first = 0;

	while (first + 1 < line->changes.cnt && line->changes.items[first + 1].ns <= low_ns)
		first++;
	if (first == 0)
		return;
	memmove(line->changes.items, line->changes.items + first,
		(line->changes.cnt - first) * sizeof(*line->changes.items));
	line->changes.cnt -= first;
}

/* Keeps the waits that go on or ended lately, with everything inside them; the releases that these saw, and
 * what their threads had waited for. */
static void keep_events(struct raw *r, const struct line *lines, int64_t low_ns)
{
	int64_t first_ns = low_ns;
	size_t kept = 0;

	for (size_t i = 0; i < r->events.cnt; i++) {
		const struct raw_event *e = &r->events.items[i];

		if (e->kind == EVENT_WAIT && (int64_t)e->words[0] >= lines[e->thread].low_ns &&
		    e->words[1] == WAIT_LOCK && e->ns < first_ns)
			first_ns = e->ns;
	}
	for (size_t i = 0; i < r->events.cnt; i++) {
		const struct raw_event *e = &r->events.items[i];

		if (e->kind == EVENT_WAIT ? (int64_t)e->words[0] >= lines[e->thread].low_ns || (int64_t)e->words[0] >= first_ns
					  : e->ns >= first_ns)
			r->events.items[kept++] = *e;
	}
	r->events.cnt = kept;
}

/* Keeps what the next window needs. */
static void keep(struct trace_stream *s)
{
	int64_t low_ns = replay_oldest(s->replay, s->rd.until_ns);

	replay_forget(s->replay, low_ns);
	stream_keep_from(s, low_ns);
	keep_events(&s->rd.raw, s->lines, low_ns);
	s->kept_cnt = 0;
	for (size_t i = 0; i < s->rd.raw.threads.cnt; i++) {
		waiting_forget(&s->lines[i].waiting);
		keep_changes(&s->rd.histories[i], s->lines[i].low_ns);
		s->kept_cnt += s->lines[i].kept.cnt;
	}
}

/* ---- windows ---- */

static void copy_names(strings *to, const strings *from)
{
	for (size_t i = to->cnt; i < from->cnt; i++)
		VEC_ADD(to, from->items[i]);
}

/* What each window rebuilds is swapped with the window before, whose memory is reused. */
#define SWAP(a, b)				\
	do {					\
		__typeof__(a) swapped_ = a;	\
		a = b;				\
		b = swapped_;			\
	} while (0)

static void fill_window(struct trace_stream *s, struct trace_window *w)
{
	struct trace *t = s->rd.t, *to;

	if (!w->t)
		w->t = trace_new();
	to = w->t;
	copy_names(&to->interval_names, &t->interval_names);
	copy_names(&to->work_names, &t->work_names);
	copy_names(&to->call_sites, &t->call_sites);
	trace_copy_devices(to, t);
	to->functions.items = t->functions.items;
	to->functions.cnt = t->functions.cnt;
	SWAP(to->intervals, t->intervals);
	SWAP(to->segments, t->segments);
	SWAP(to->invocations, t->invocations);
	SWAP(to->wakeups, t->wakeups);
	t->intervals.cnt = 0;
	to->creations.cnt = to->works.cnt = 0;
	for (size_t i = 0; i < t->creations.cnt; i++)
		VEC_ADD(&to->creations, t->creations.items[i]);
	for (size_t i = 0; i < t->works.cnt; i++)
		VEC_ADD(&to->works, t->works.items[i]);
	trace_sort_events(to);
	if (s->is_unordered)
		trace_sort(to);
	w->before_ns = s->rd.before_ns;
	w->until_ns = s->rd.until_ns;
	w->done_cnt = s->loaded_cnt;
	w->record_cnt = s->index.record_cnt;
}

void trace_window_release(struct trace_window *w)
{
	if (w->t) {
		w->t->functions.items = NULL;	/* the stream's */
		trace_free(w->t);
	}
	w->t = NULL;
}

int trace_stream_next(struct trace_stream *s, struct trace_window *ret, struct diag *reterr)
{
	int64_t low_ns;
	int r;

	if (s->is_last) {
		if (!s->is_over)
			let_go(s);
		s->is_over = true;
		return 0;
	}
	if (s->rd.until_ns != INT64_MIN)
		keep(s);
	choose_end(s);
	r = s->kernel ? stream_settle_end(s, reterr) : stream_load(s, reterr);
	if (r < 0)
		return r;
	play(s);
	r = make_segments(s, reterr);
	if (r < 0)
		return r;
	merge_kernel(s);
	s->rd.t->invocations.cnt = 0;
	low_ns = replay_oldest(s->replay, s->rd.until_ns);
	s->is_unordered = false;
	for (size_t i = 0; i < s->by_tid.cnt; i++)
		make_calls(s, s->by_tid.items[i], low_ns);
	if (s->rd.unfit)
		return TRACE_STREAM_UNFIT;
	fill_window(s, ret);
	return 1;
}
