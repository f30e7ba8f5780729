/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_wanted.c - stretches read from a trace equal the same stretches of the whole trace, wherever the reading begins.
 *
 * Random programs (random_program.h).  Windows are a few records long.
 */
#include "tests/unit/trace/same_windows.h"

#include "analysis/path/explain.h"
#include "base/file.h"
#include "trace/read/off_cpu.h"
#include "trace/windows/excerpt.h"
#include "trace/windows/saved_states.h"
#include "base/banned.h"

enum { TRACES = 1200, SAVED_TRACES = 300 };

static void same_paths(const path_pieces *x, const path_pieces *y)
{
	assert_int_equal(x->cnt, y->cnt);
	for (size_t i = 0; i < x->cnt; i++) {
		const struct path_piece *a = &x->items[i], *b = &y->items[i];

		assert_true(a->tid == b->tid && a->start_ns == b->start_ns && a->end_ns == b->end_ns);
		assert_true(a->state == b->state && a->depth == b->depth && a->frame_cnt == b->frame_cnt);
		for (size_t k = 0; k < a->frame_cnt; k++)
			assert_string_equal(a->frames[k], b->frames[k]);
	}
}

/* The paths of those of the intervals that end in the window; how many they are. */
static size_t same_in_window(struct trace *whole, const struct trace_window *w, const struct interval *wanted, size_t cnt)
{
	size_t seen = 0;

	for (size_t i = 0; i < cnt; i++) {
		_cleanup_(arena_freep) struct arena *arena = arena_new();
		path_pieces x = { NULL, 0, 0 }, y = { NULL, 0, 0 };

		if (wanted[i].end_ns <= w->before_ns || wanted[i].end_ns > w->until_ns)
			continue;
		assert_int_equal(explain_interval(whole, wanted[i].sid, arena, &x), 0);
		assert_int_equal(explain_interval(w->t, wanted[i].sid, arena, &y), 0);
		same_paths(&x, &y);
		assert_int_equal(sum_calls(w->t, &wanted[i]), sum_calls(whole, &wanted[i]));
		VEC_RELEASE(&x);
		VEC_RELEASE(&y);
		seen++;
	}
	return seen;
}

static size_t calls_in_windows(void)
{
	_cleanup_(trace_stream_closep) struct trace_stream *s = NULL;
	struct trace_window w = { .t = NULL };
	struct diag diag = DIAG_INIT;
	size_t cnt = 0;

	assert_int_equal(trace_stream_open(path, NULL, &s, &diag), 1);
	while (trace_stream_next(s, &w, &diag) > 0)
		cnt += w.t->invocations.cnt;
	trace_window_release(&w);
	return cnt;
}

/* A few intervals are wanted: they find what they find in the whole trace, and most other calls are not there. */
static void test_wanted(void **state)
{
	size_t call_cnt = 0, all_cnt = 0, wanted_cnt = 0;

	(void)state;
	for (unsigned int seed = 1; seed <= TRACES; seed++) {
		_cleanup_(trace_freep) struct trace *whole = NULL;
		_cleanup_(trace_stream_closep) struct trace_stream *s = NULL;
		struct trace_window w = { .t = NULL };
		struct interval wanted[2];
		struct time_span spans[2];
		struct diag diag = DIAG_INIT;
		size_t cnt = 0, seen = 0;
		int e;

		with_takings = seed % 2;
		with_stacks = seed % 4 == 0;		/* calls of several stacks cross, and all are kept */
		with_crossing = seed % 5 == 0;
		write_program(seed);
		write_chunks(seed);
		whole = read_trace(NULL);
		for (size_t i = 0; i < whole->intervals.cnt && cnt < 1 + seed % 2; i++) {
			const struct interval *v = &whole->intervals.items[(i + seed) % whole->intervals.cnt];

			if (v->status != INTERVAL_COMPLETED)
				continue;
			wanted[cnt] = *v;
			spans[cnt++] = (struct time_span){ v->start_ns, v->end_ns };
		}
		trace_stream_records = 1 + seed % 40;
		assert_int_equal(trace_stream_open(path, NULL, &s, &diag), 1);
		trace_stream_want(s, spans, cnt);
		while ((e = trace_stream_next(s, &w, &diag)) > 0) {
			call_cnt += cnt ? w.t->invocations.cnt : 0;
			seen += same_in_window(whole, &w, wanted, cnt);
		}
		assert_true(e == TRACE_STREAM_UNFIT || seen == cnt);
		wanted_cnt += seen;
		all_cnt += cnt ? calls_in_windows() : 0;
		trace_window_release(&w);
		unlink(path);
	}
	print_message("%zu intervals; %zu calls in windows, %zu in all\n", wanted_cnt, call_cnt, all_cnt);
	with_stacks = true;
	with_crossing = false;
	assert_true(wanted_cnt > TRACES / 2);
	assert_true(call_cnt < all_cnt * 9 / 10);	/* intervals are long here, and early calls are kept */
	VEC_RELEASE(&chunks);
}

/* ---- begun from what an earlier reading has noted (trace/windows/saved_states.h) ---- */

static const char *saved_path(void)
{
	static char saved[sizeof(path) + 4];

	snprintf(saved, sizeof(saved), "%s.vpi", path);
	return saved;
}

static uint64_t hash_of(const uint64_t *words, size_t cnt)
{
	return hash_bytes(0, words, cnt * sizeof(*words));
}

static uint64_t later(int64_t a, int64_t b)
{
	return (uint64_t)(a > b ? a : b);
}

static uint64_t sooner(int64_t a, int64_t b)
{
	return (uint64_t)(a < b ? a : b);
}

/* All that the window has of the time of that interval, cut at its start and end. */
static uint64_t sum_span(const struct trace *t, const struct interval *iv)
{
	int64_t from_ns = iv->start_ns, until_ns = iv->end_ns;
	uint64_t sum = 0;

	for (size_t i = 0; i < t->segments.cnt; i++) {
		const struct segment *g = &t->segments.items[i];

		if (g->start_ns < until_ns && g->end_ns > from_ns)
			sum += hash_of((const uint64_t[]){ g->tid, g->sid, later(g->start_ns, from_ns), sooner(g->end_ns, until_ns),
							   g->state, g->caller }, 6);
	}
	for (size_t i = 0; i < t->invocations.cnt; i++) {
		const struct invocation *v = &t->invocations.items[i];

		if (v->start_ns < until_ns && v->end_ns > from_ns)
			sum += hash_of((const uint64_t[]){ v->tid, v->sid == iv->sid, v->function, (uint64_t)v->start_ns,
							   sooner(v->end_ns, until_ns) }, 5);
	}
	for (size_t i = 0; i < t->wakeups.cnt; i++) {
		const struct wakeup *k = &t->wakeups.items[i];

		if (k->time_ns >= from_ns && k->time_ns <= until_ns)
			sum += hash_of((const uint64_t[]){ k->tid, k->waker_tid, (uint64_t)k->time_ns }, 3);
	}
	for (size_t i = 0; i < t->creations.cnt; i++) {
		const struct creation *c = &t->creations.items[i];

		if (c->time2_ns >= from_ns && c->time2_ns <= until_ns)
			sum += hash_of((const uint64_t[]){ c->tid, c->tid2, (uint64_t)c->time_ns, (uint64_t)c->time2_ns }, 4);
	}
	return sum;
}

static struct map *span_sums;		/* sid -> sum_span(), of the windows of the whole trace */

static void note_sums(const struct trace *t)
{
	for (size_t i = 0; i < t->intervals.cnt; i++)
		if (t->intervals.items[i].status == INTERVAL_COMPLETED)
			map_set(span_sums, t->intervals.items[i].sid, sum_span(t, &t->intervals.items[i]));
}

static void same_spans(const struct trace_window *w, const struct interval *wanted, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		uint64_t sum;

		/* An interval that is under way is cut at the window's end, perhaps to length 0. */
		if (wanted[i].end_ns <= w->before_ns || wanted[i].end_ns > w->until_ns || wanted[i].start_ns == wanted[i].end_ns)
			continue;
		assert_true(map_get(span_sums, wanted[i].sid, &sum));
		assert_int_equal(sum_span(w->t, &wanted[i]), sum);
	}
}

/* Reads all windows; false: they are not fit for it, and nothing is noted. */
static bool save_states(void)
{
	_cleanup_(trace_stream_closep) struct trace_stream *s = NULL;
	struct trace_window w = { .t = NULL };
	struct diag diag = DIAG_INIT;
	int e;

	assert_int_equal(trace_stream_open(path, NULL, &s, &diag), 1);
	trace_stream_save(s, saved_path());
	while ((e = trace_stream_next(s, &w, &diag)) > 0)
		note_sums(w.t);
	trace_window_release(&w);
	assert_true(e == 0 || e == TRACE_STREAM_UNFIT);
	return e == 0;
}

/* ---- excerpts (trace/windows/excerpt.h) ---- */

static size_t excerpts, excerpt_calls, excerpt_waits, excerpt_wakeups;

/* Wake-ups: of one interval, since the time between two may be there or not. */
static void same_excerpts(const struct trace *x, const struct trace *y, bool of_one)
{
	assert_int_equal(x->invocations.cnt, y->invocations.cnt);
	for (size_t i = 0; i < x->invocations.cnt; i++) {
		const struct invocation *a = &x->invocations.items[i], *b = &y->invocations.items[i];

		assert_true(a->tid == b->tid && a->sid == b->sid && a->function == b->function);
		assert_true(a->start_ns == b->start_ns && a->end_ns == b->end_ns);
	}
	assert_int_equal(x->segments.cnt, y->segments.cnt);
	for (size_t i = 0; i < x->segments.cnt; i++)
		assert_memory_equal(&x->segments.items[i], &y->segments.items[i], sizeof(x->segments.items[i]));
	for (size_t i = 0; of_one && i < x->wakeups.cnt; i++)
		assert_memory_equal(&x->wakeups.items[i], &y->wakeups.items[i], sizeof(x->wakeups.items[i]));
	assert_true(!of_one || x->wakeups.cnt == y->wakeups.cnt);
	excerpts++;
	excerpt_calls += x->invocations.cnt;
	excerpt_waits += x->segments.cnt;
	excerpt_wakeups += x->wakeups.cnt;
}

static struct excerpt *excerpt_of(const struct interval *wanted, size_t cnt, struct excerpt_wanted *ret)
{
	for (size_t i = 0; i < cnt; i++)
		ret[i] = (struct excerpt_wanted){ wanted[i].sid, wanted[i].start_ns, wanted[i].end_ns };
	return excerpt_new(ret, cnt);
}

/* By the definition: from all of the trace at once. */
static void same_as_all(struct excerpt *x, struct trace *whole, const struct interval *wanted, size_t cnt)
{
	struct excerpt_wanted list[2];
	_cleanup_(excerpt_freep) struct excerpt *all = excerpt_of(wanted, cnt, list);

	excerpt_begin(all, whole);
	excerpt_add(all, &(struct trace_window){ .t = whole, .before_ns = INT64_MIN, .until_ns = INT64_MAX });
	excerpt_end(all, whole);
	same_excerpts(excerpt_trace(all), excerpt_trace(x), cnt == 1);
	assert_int_equal(excerpt_first_ns(all), excerpt_first_ns(x));
}

/* These intervals alone; how many windows that takes. */
static size_t same_from_states(struct trace *whole, const struct interval *wanted, size_t cnt)
{
	struct excerpt_wanted list[2];
	_cleanup_(excerpt_freep) struct excerpt *x = excerpt_of(wanted, cnt, list);
	_cleanup_(trace_stream_closep) struct trace_stream *s = NULL;
	struct trace_window w = { .t = NULL };
	struct diag diag = DIAG_INIT;
	struct time_span spans[2];
	size_t seen = 0, windows = 0;

	for (size_t i = 0; i < cnt; i++)
		spans[i] = (struct time_span){ wanted[i].start_ns, wanted[i].end_ns };
	assert_int_equal(trace_stream_open_saved(path, saved_path(), NULL, &s), 1);
	trace_stream_want(s, spans, cnt);
	excerpt_begin(x, trace_stream_names(s));
	while (seen < cnt && trace_stream_next(s, &w, &diag) > 0) {
		seen += same_in_window(whole, &w, wanted, cnt);
		same_spans(&w, wanted, cnt);
		excerpt_add(x, &w);
		windows++;
	}
	assert_int_equal(seen, cnt);
	excerpt_end(x, trace_stream_names(s));
	if (!with_polls)		/* what a loop worked on may only show when the interval has ended */
		same_as_all(x, whole, wanted, cnt);
	trace_window_release(&w);
	return windows;
}

/* Each interval of the whole, and pairs of them. */
static size_t same_each(struct trace *whole)
{
	struct interval wanted[2];
	size_t windows = 0, cnt = 0;

	for (size_t i = 0; i < whole->intervals.cnt; i++) {
		if (whole->intervals.items[i].status != INTERVAL_COMPLETED)
			continue;
		wanted[1] = wanted[0];
		wanted[0] = whole->intervals.items[i];
		windows += same_from_states(whole, wanted, cnt++ && i % 3 ? 2 : 1);
	}
	return windows;
}

/* The same without states; how many windows. */
static size_t windows_without(const struct trace *whole)
{
	size_t windows = 0;

	for (size_t i = 0; i < whole->intervals.cnt; i++) {
		_cleanup_(trace_stream_closep) struct trace_stream *s = NULL;
		struct trace_window w = { .t = NULL };
		struct diag diag = DIAG_INIT;

		if (whole->intervals.items[i].status != INTERVAL_COMPLETED)
			continue;
		assert_int_equal(trace_stream_open(path, NULL, &s, &diag), 1);
		while (trace_stream_next(s, &w, &diag) > 0 && ++windows && w.until_ns < whole->intervals.items[i].end_ns)
			;
		trace_window_release(&w);
	}
	return windows;
}

static void same_as_whole(struct trace *whole)
{
	_cleanup_(trace_stream_closep) struct trace_stream *s = NULL;
	_cleanup_(analyzer_freep) struct analyzer *a = analyzer_new();
	size_t windows = 0;

	assert_int_equal(trace_stream_open_saved(path, saved_path(), NULL, &s), 1);
	assert_true(add_windows(a, s, whole, &windows));
	same(whole, trace_stream_names(s), a);
}

/* Wake-ups that the threads' accounts alone tell of. */
static size_t late_cnt(const struct trace *t)
{
	size_t cnt = 0;

	for (size_t i = 0; i < t->wakeups.cnt; i++)
		cnt += t->wakeups.items[i].waker_tid == TID_NOBODY;
	return cnt;
}

static void test_saved(void **state)
{
	size_t fit = 0, windows = 0, without = 0, late = 0;
	int64_t tick_ns = off_cpu_tick_ns;

	(void)state;
	off_cpu_tick_ns = 40;		/* all that these programs do takes some 300 ns */
	saved_states_bytes = 1 << 14;
	for (unsigned int seed = 1; seed <= SAVED_TRACES; seed++) {
		_cleanup_(trace_freep) struct trace *whole = NULL;

		with_takings = seed % 2;
		with_polls = seed % 3 == 0;
		with_stacks = seed % 4 == 0;
		with_crossing = seed % 5 < 2;
		write_program(seed);
		write_chunks(seed);
		if (!is_cut_off)
			put_accounts();
		whole = read_trace(NULL);
		trace_stream_records = 1 + seed % 40;
		span_sums = map_new();
		if (save_states()) {
			same_as_whole(whole);
			windows += same_each(whole);
			without += windows_without(whole);
			late += late_cnt(whole);
			fit++;
		}
		map_free(span_sums);
		unlink(saved_path());
		unlink(path);
	}
	print_message("%zu of %d fit; %zu windows, %zu without what was noted\n", fit, SAVED_TRACES, windows, without);
	print_message("%zu excerpts: %zu calls, %zu waits, %zu wake-ups\n", excerpts, excerpt_calls, excerpt_waits, excerpt_wakeups);
	off_cpu_tick_ns = tick_ns;
	assert_true(fit > SAVED_TRACES * 3 / 5);
	assert_true(late > SAVED_TRACES / 10);
	assert_true(excerpt_calls > excerpts && excerpt_waits > excerpts / 2 && excerpt_wakeups > excerpts / 2);
	with_stacks = with_polls = true;
	with_crossing = false;
	VEC_RELEASE(&chunks);
}

/* ---- what was noted comes from anybody ---- */

enum { HEADER_BYTES = 56, WRONG = 3000 };

static void write_wrong(const char *good, size_t len)
{
	_cleanup_(freep) char *text = xmalloc(len);

	memcpy(text, good, len);
	for (uint32_t i = 0; i < 1 + random_below(&r, 3); i++)
		text[HEADER_BYTES + random_below(&r, (uint32_t)(len - HEADER_BYTES))] = (char)random_below(&r, 256);
	assert_int_equal(file_write(saved_path(), text, len, 0600), 0);
}

/* Whatever comes of it; how many windows. */
static size_t read_wrong(const struct interval *wanted)
{
	_cleanup_(trace_stream_closep) struct trace_stream *s = NULL;
	struct trace_window w = { .t = NULL };
	struct diag diag = DIAG_INIT;
	size_t windows = 0;

	if (trace_stream_open_saved(path, saved_path(), NULL, &s) < 0)
		return 0;
	trace_stream_want(s, &(struct time_span){ wanted->start_ns, wanted->end_ns }, 1);
	while (trace_stream_next(s, &w, &diag) > 0) {
		_cleanup_(arena_freep) struct arena *arena = arena_new();
		path_pieces pieces = { NULL, 0, 0 };

		explain_interval(w.t, wanted->sid, arena, &pieces);
		VEC_RELEASE(&pieces);
		windows++;
	}
	trace_window_release(&w);
	return windows;
}

/* Numbers that make no sense are refused, or the windows are wrong; nothing worse. */
static void test_wrong(void **state)
{
	size_t windows = 0, read_cnt = 0;

	(void)state;
	saved_states_trusted = true;
	for (unsigned int seed = 1; seed <= 30; seed++) {
		_cleanup_(trace_freep) struct trace *whole = NULL;
		_cleanup_(freep) char *good = NULL;
		size_t len = 0;

		write_program(seed);
		write_chunks(seed);
		whole = read_trace(NULL);
		trace_stream_records = 20;
		span_sums = map_new();
		if (whole->intervals.cnt && save_states())
			assert_int_equal(file_read(saved_path(), &good, &len), 0);
		for (int i = 0; good && i < WRONG / 30; i++) {
			size_t cnt;

			write_wrong(good, len);
			cnt = read_wrong(&whole->intervals.items[whole->intervals.cnt / 2]);
			windows += cnt;
			read_cnt += cnt > 0;
		}
		map_free(span_sums);
		unlink(saved_path());
		unlink(path);
	}
	print_message("%zu of %d could be read, %zu windows\n", read_cnt, WRONG, windows);
	assert_true(read_cnt > WRONG / 10 && read_cnt < WRONG);
	saved_states_trusted = false;
	VEC_RELEASE(&chunks);
}

static void write_other(unsigned int seed)
{
	write_program(seed);
	write_chunks(seed);
	trace_free(read_trace(NULL));
}

/* Saved states of another trace, of other options, damaged or missing ones are not used. */
static void test_not_of_it(void **state)
{
	const struct reader_options inner = { .inner = (const char *const[]){ "x" }, .inner_cnt = 1 };
	_cleanup_(freep) char *good = NULL, *other = NULL;
	struct trace_stream *s = NULL;
	size_t len;

	(void)state;
	with_stacks = false;
	trace_stream_records = 20;
	span_sums = map_new();
	write_other(3);
	assert_true(save_states());
	assert_int_equal(trace_stream_open_saved(path, saved_path(), NULL, &s), 1);
	trace_stream_close(s);
	assert_int_equal(trace_stream_open_saved(path, saved_path(), &inner, &s), TRACE_STREAM_UNFIT);
	assert_int_equal(trace_stream_open_saved(path, "nothing.vpi", NULL, &s), TRACE_STREAM_UNFIT);
	assert_int_equal(file_read(saved_path(), &good, &len), 0);
	good[len / 2] ^= 1;
	assert_int_equal(file_write(saved_path(), good, len, 0600), 0);
	assert_int_equal(trace_stream_open_saved(path, saved_path(), NULL, &s), TRACE_STREAM_UNFIT);
	good[len / 2] ^= 1;
	unlink(saved_path());
	unlink(path);
	write_other(4);
	other = xstrdup(saved_path());
	assert_int_equal(file_write(other, good, len, 0600), 0);
	assert_int_equal(trace_stream_open_saved(path, other, NULL, &s), TRACE_STREAM_UNFIT);
	unlink(other);
	unlink(path);
	map_free(span_sums);
	with_stacks = true;
	VEC_RELEASE(&chunks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wanted),
		cmocka_unit_test(test_saved),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_not_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
