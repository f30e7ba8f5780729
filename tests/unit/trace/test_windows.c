/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_windows.c - an analysis that gets its trace in windows finds the same, bit for bit, as one that has all of
 * it at once; rows that go through the file are the rows that were added.
 *
 * Random traces are cut at random moments.  A window has what struct analysis_window promises and no more: all
 * else is left out, so that whoever looks at it gets another answer.  The same traces are cut by trace/windows/slices.c.
 */
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "analysis/analyze.h"
#include "analysis/tree/rows.h"
#include "tests/bench/shapes.h"
#include "tests/oracle/random_trace.h"
#include "tests/unit/same_findings.h"
#include "trace/windows/slices.h"
#include "base/banned.h"

enum { TRACES = 1500, CUTS_MAX = 8 };

static size_t cut_cnt;			/* windows that had something left out */
static size_t slice_cnt, slice_cut_cnt;	/* the same of slices */

/* The names of t; none of its tuples. */
static void take_names(struct trace *window, const struct trace *t)
{
	for (size_t i = 0; i < t->interval_names.cnt; i++)
		VEC_ADD(&window->interval_names, t->interval_names.items[i]);
	for (size_t i = 0; i < t->call_sites.cnt; i++)
		VEC_ADD(&window->call_sites, t->call_sites.items[i]);
	for (size_t i = 0; i < t->work_names.cnt; i++)
		VEC_ADD(&window->work_names, t->work_names.items[i]);
	for (size_t i = 0; i < t->functions.cnt; i++)
		VEC_ADD(&window->functions, t->functions.items[i]);
}

/* Intervals that belong to the window; returns the earliest moment that they could depend on. */
static int64_t take_intervals(struct trace *window, const struct trace *t, int64_t before_ns, int64_t until_ns)
{
	int64_t low_ns = until_ns;

	for (size_t i = 0; i < t->intervals.cnt; i++) {
		const struct interval *iv = &t->intervals.items[i];
		int64_t end_ns = iv->status == INTERVAL_OPEN ? INT64_MAX : iv->end_ns;

		if (end_ns <= before_ns || end_ns > until_ns)
			continue;
		VEC_ADD(&window->intervals, *iv);
		if (iv->status == INTERVAL_COMPLETED && iv->start_ns < low_ns)
			low_ns = iv->start_ns;
	}
	return low_ns;
}

/* The start of the thread's segment that is under way at low_ns. */
static int64_t segment_start(const struct trace *t, uint64_t tid, int64_t low_ns)
{
	for (size_t i = 0; i < t->segments.cnt; i++) {
		const struct segment *s = &t->segments.items[i];

		if (s->tid == tid && s->start_ns < low_ns && s->end_ns >= low_ns)
			return s->start_ns;
	}
	return low_ns;
}

static struct trace *window_of(const struct trace *t, int64_t before_ns, int64_t until_ns)
{
	struct trace *w = trace_new();
	int64_t low_ns;

	take_names(w, t);
	trace_copy_devices(w, t);
	low_ns = take_intervals(w, t, before_ns, until_ns);
	for (size_t i = 0; i < t->segments.cnt; i++) {
		struct segment s = t->segments.items[i];

		if (s.start_ns > until_ns || (s.end_ns < low_ns && s.end_ns <= before_ns))
			continue;
		if (s.state == STATE_RUNNING && s.end_ns > until_ns)
			s.end_ns = until_ns;
		VEC_ADD(&w->segments, s);
	}
	for (size_t i = 0; i < t->invocations.cnt; i++) {
		const struct invocation *v = &t->invocations.items[i];

		if (v->start_ns <= until_ns && (v->end_ns >= low_ns || v->end_ns > before_ns))
			VEC_ADD(&w->invocations, *v);
	}
	for (size_t i = 0; i < t->wakeups.cnt; i++) {
		const struct wakeup *k = &t->wakeups.items[i];

		if (k->time_ns <= until_ns && k->time_ns >= segment_start(t, k->tid, low_ns))
			VEC_ADD(&w->wakeups, *k);
	}
	for (size_t i = 0; i < t->creations.cnt; i++)
		if (t->creations.items[i].time2_ns <= until_ns && t->creations.items[i].time2_ns >= low_ns)
			VEC_ADD(&w->creations, t->creations.items[i]);
	for (size_t i = 0; i < t->works.cnt; i++)
		VEC_ADD(&w->works, t->works.items[i]);
	cut_cnt += w->segments.cnt < t->segments.cnt || w->invocations.cnt < t->invocations.cnt;
	return w;
}

static void add_window(struct analyzer *a, const struct trace *t, int64_t before_ns, int64_t until_ns)
{
	_cleanup_(trace_freep) struct trace *w = window_of(t, before_ns, until_ns);

	trace_sort(w);
	analyzer_add(a, &(struct analysis_window){ w, before_ns, until_ns });
}

static struct analyzer *in_windows(const struct trace *t, struct random *r, int64_t last_ns)
{
	struct analyzer *a = analyzer_new();
	int64_t before_ns = INT64_MIN, until_ns;
	uint32_t cuts = random_below(r, CUTS_MAX);

	for (uint32_t i = 1; i <= cuts; i++) {
		until_ns = last_ns * (int64_t)i / (cuts + 1) + random_below(r, 9);
		if (until_ns <= before_ns)
			continue;
		add_window(a, t, before_ns, until_ns);
		before_ns = until_ns;
	}
	add_window(a, t, before_ns, INT64_MAX);
	return a;
}

static struct analyzer *in_slices(const struct trace *t, unsigned int seed)
{
	struct analyzer *a = analyzer_new();
	_cleanup_(trace_slices_freep) struct trace_slices *s = NULL;
	const struct trace_window *w;

	trace_stream_records = 1 + seed % 40 + t->invocations.cnt / 100;
	s = trace_slices_new(t);
	while ((w = trace_slices_next(s))) {
		analyzer_add(a, &(struct analysis_window){ w->t, w->before_ns, w->until_ns });
		slice_cnt++;
		slice_cut_cnt += w->t->segments.cnt < t->segments.cnt && w->t->invocations.cnt < t->invocations.cnt;
		assert_true(w->done_cnt <= w->record_cnt);
	}
	return a;
}

static void add_keys(struct trace *t)
{
	for (size_t i = 0; i < t->functions.cnt; i++)
		t->functions.items[i].key = 100 + i;
}

/* SIDs, so that nestings are seen inside intervals; some of these are lost or root-only. */
static void add_sids(struct trace *t, struct random *r)
{
	for (size_t i = 0; i < t->invocations.cnt; i++)
		if (random_below(r, 3))
			t->invocations.items[i].sid = random_below(r, 3);
	for (size_t i = 0; i < t->intervals.cnt; i++) {
		t->intervals.items[i].lost = random_below(r, 12) == 0;
		t->intervals.items[i].root_only = random_below(r, 12) == 0;
	}
}

static bool is_named(const struct trace *t, uint64_t tid)
{
	for (size_t i = 0; i < t->threads.cnt; i++)
		if (t->threads.items[i].tid == tid)
			return true;
	return false;
}

/* Half of them were cut off: results say from when on each thread is not known any more. */
static void add_threads(struct trace *t, struct random *r)
{
	trace_sort(t);
	for (size_t i = 0; i < t->segments.cnt; i++) {
		struct thread_name n = { .tid = t->segments.items[i].tid, .pid = 1 };

		if (i && n.tid == t->segments.items[i - 1].tid)
			continue;
		n.open_end = random_below(r, 2);
		if (!is_named(t, n.tid))
			VEC_ADD(&t->threads, n);
	}
	t->losses.cut_off = random_below(r, 2);
}

static void same_observed(const struct findings *a, const struct findings *b)
{
	assert_int_equal(a->observed.cnt, b->observed.cnt);
	for (size_t i = 0; i < a->observed.cnt; i++) {
		assert_true(a->observed.items[i].caller == b->observed.items[i].caller);
		assert_true(a->observed.items[i].callee == b->observed.items[i].callee);
	}
}

static void compare_with(struct trace *t, struct analyzer *a)
{
	for (size_t i = 0; i < t->interval_names.cnt; i++) {
		_cleanup_(findings_freep) struct findings *whole = NULL, *cut = NULL;
		struct analyze_options o = { .interval = t->interval_names.items[i], .quantile = .6 };

		assert_int_equal(analyze(t, &o, &whole), 0);
		assert_int_equal(analyzer_finish(a, t, &o, &cut), 0);
		if (whole->clamped || cut->clamped)
			whole->clamped = cut->clamped = 0;	/* counted once a window */
		same_findings(whole, cut);
		same_observed(whole, cut);
	}
}

static void compare(struct trace *t, unsigned int seed, int64_t last_ns)
{
	_cleanup_(analyzer_freep) struct analyzer *a = NULL, *b = NULL;
	struct random r = { seed };

	add_keys(t);
	add_sids(t, &r);
	add_threads(t, &r);
	trace_sort(t);
	trace_find_idle(t);
	a = in_windows(t, &r, last_ns);
	compare_with(t, a);
	b = in_slices(t, seed);
	compare_with(t, b);
}

static void compare_random(unsigned int seed)
{
	_cleanup_(trace_freep) struct trace *t = random_trace(seed, seed % 2 ? RANDOM_PROGRAM : RANDOM_ANY);

	compare(t, seed, RANDOM_TIME_MAX);
}

static void test_windows(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= TRACES; seed++)
		compare_random(seed);
	assert_true(cut_cnt > TRACES);
	print_message("%zu slices, %zu cut\n", slice_cnt, slice_cut_cnt);
	assert_true(slice_cnt > 2 * TRACES && slice_cut_cnt > TRACES);
}

/* Hundreds of intervals, many under way at once: functions are found in another order, confidence intervals and
 * all else that is summed up in floating point must not notice. */
static void test_shapes(void **state)
{
	(void)state;
	for (size_t i = 0; i < shape_cnt; i++)
		for (unsigned int seed = 1; seed <= 3; seed++) {
			_cleanup_(trace_freep) struct trace *t = shape_new(&shapes[i], 2000);
			int64_t last_ns = 0;

			for (size_t k = 0; k < t->intervals.cnt; k++)
				if (t->intervals.items[k].end_ns > last_ns)
					last_ns = t->intervals.items[k].end_ns;
			for (size_t k = 0; k < t->invocations.cnt; k++)	/* each request has functions of its own */
				t->invocations.items[k].function =
					(uint32_t)(t->invocations.items[k].start_ns * 7 / (1 + seed)) % 12;
			compare(t, seed, last_ns);
		}
}

/* hold reaches out of work, 0..10, and is cut there: a slice that does not have work any more would not know. */
static void test_dishonest(void **state)
{
	static const int64_t calls[][2] = { { 0, 10 }, { 5, 40 }, { 15, 16 }, { 22, 23 }, { 32, 33 } };
	_cleanup_(trace_freep) struct trace *t = trace_new();
	_cleanup_(analyzer_freep) struct analyzer *a = NULL;

	(void)state;
	trace_add_string(t, &t->interval_names, "request");
	VEC_ADD(&t->functions, (struct function){ .name = "work", .key = 1, .probed = true });
	VEC_ADD(&t->functions, (struct function){ .name = "hold", .key = 2, .probed = true });
	for (uint64_t i = 0; i < 3; i++)
		VEC_ADD(&t->intervals, (struct interval){ .sid = i, .status = INTERVAL_COMPLETED, .start_tid = 1, .end_tid = 1,
							  .start_ns = (int64_t)i * 10, .end_ns = (int64_t)i * 14 + 4 });
	VEC_ADD(&t->segments, (struct segment){ 1, SID_NONE, 0, 100, STATE_RUNNING, 0 });
	for (uint32_t i = 0; i < 5; i++)
		VEC_ADD(&t->invocations, (struct invocation){ 1, SID_NONE, i == 1, CALL_SITE_NONE, calls[i][0], calls[i][1], i });
	trace_sort(t);
	a = in_slices(t, 0);
	compare_with(t, a);
}

/* Every few rows become a run of the file. */
static void test_windows_and_file(void **state)
{
	size_t before = rows_memory_bytes;

	(void)state;
	rows_memory_bytes = 400;
	for (unsigned int seed = TRACES; seed <= TRACES + 2000; seed++)
		compare_random(seed);
	rows_memory_bytes = before;
}

/* 3,000 rows, not in order; long times, works. */
static void test_rows(void **state)
{
	enum { ROWS = 3000 };
	_cleanup_(rows_freep) struct rows *rows = rows_new();
	size_t before = rows_memory_bytes;
	struct rows_walk w;

	(void)state;
	rows_memory_bytes = 5000;
	for (uint64_t i = 0; i < ROWS; i++) {
		uint64_t at = i * 1237 % ROWS;	/* each once; two have the same start */
		struct cell row[] = { { (uint32_t)at, (int64_t)at << 30 }, { 7, 1 } };

		rows_add(rows, &(struct row_head){ (int64_t)at / 2, (int64_t)at + 5, at, 3, 4, 1, 0 }, row, 1 + at % 2,
			 &(struct noted_work){ 5, -(int64_t)at }, at % 3 == 0);
	}
	for (int round = 0; round < 2; round++) {
		for (rows_begin(&w, rows); rows_next(&w); ) {
			assert_true(w.head.sid == w.row && w.head.end_ns == (int64_t)w.row + 5);
			assert_int_equal(w.cells.cnt, 1 + w.row % 2);
			assert_true(w.cells.items[0].ns == (int64_t)w.row << 30);
			assert_int_equal(w.cells.items[0].place, w.row);
			assert_int_equal(w.works.cnt, w.row % 3 == 0);
			if (w.works.cnt)
				assert_true(w.works.items[0].value == -(int64_t)w.row);
		}
		assert_int_equal(w.row, ROWS - 1);
		rows_end(&w);
	}
	assert_int_equal(rows_error(rows), 0);
	rows_memory_bytes = before;
}

static void test_no_file(void **state)
{
	_cleanup_(rows_freep) struct rows *rows = rows_new();
	size_t before = rows_memory_bytes;
	const char *dir = getenv("TMPDIR");
	_cleanup_(freep) char *kept = dir ? xstrdup(dir) : NULL;

	(void)state;
	setenv("TMPDIR", "/nowhere/at/all", 1);
	rows_memory_bytes = 0;
	rows_add(rows, &(struct row_head){ 1, 2, 3, 4, 5, 1, 0 }, NULL, 0, NULL, 0);
	assert_true(rows_error(rows) < 0);
	rows_memory_bytes = before;
	if (kept)
		setenv("TMPDIR", kept, 1);
	else
		unsetenv("TMPDIR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_dishonest),
		cmocka_unit_test(test_windows_and_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
