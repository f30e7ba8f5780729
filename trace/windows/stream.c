/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stream.c - one window after the other; stream_open.c is the beginning.
 *
 * A window ends where some chunk does, so that there is enough in it.  Its steps:
 *
 *	load	the chunks that are due (stream_load.c), and the early records of the index
 *	play	events that began in the window: intervals, creations, who worked on what
 *	lines	segments and wakeups of the waits that are new or were kept
 *	calls	invocations that began in the window; those that were kept stand before them
 *	keep	what ended after the oldest open interval began
 *
 * A running thread's last segment ends with the window, and the next window has it anew. */
#include <errno.h>
#include <string.h>
#include "base/banned.h"
#include "trace/windows/saved_states.h"
#include "trace/windows/stream.h"
#include "trace/windows/stream_state.h"

size_t trace_stream_records = (size_t)1 << 16;

/* ---- closing ---- */

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
	saving_free(s->saving);
	s->saving = NULL;
	states_free(s->states);
	s->states = NULL;
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

void stream_choose_end(struct trace_stream *s)
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

void stream_play(struct trace_stream *s)
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
	saving_note(s);
	r = states_jump(s, reterr);
	if (r < 0)
		return r;
	stream_choose_end(s);
	r = s->kernel ? stream_settle_end(s, reterr) : stream_load(s, reterr);
	if (r < 0)
		return r;
	stream_play(s);
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
	if (s->is_last)
		saving_end(s);
	return 1;
}
