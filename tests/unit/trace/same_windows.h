/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * same_windows.h - the windows of a trace against the whole, for the tests of windows; all of it is static, as in random_program.h.
 */
#ifndef TESTS_SAME_WINDOWS_H
#define TESTS_SAME_WINDOWS_H

#include "analysis/analyze.h"
#include "tests/unit/same_findings.h"
#include "tests/unit/trace/random_program.h"
#include "trace/windows/stream.h"

/* A sum over the calls that t has for that interval. */
static uint64_t sum_calls(const struct trace *t, const struct interval *iv)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->invocations.cnt; i++) {
		const struct invocation *v = &t->invocations.items[i];

		if (v->sid == iv->sid && v->start_ns >= iv->start_ns && v->end_ns <= iv->end_ns)
			sum += 1000003 * (uint64_t)v->start_ns + (uint64_t)v->end_ns;
	}
	return sum;
}

/* Compares the calls of intervals that ended in the window; a window has to know no others. */
static void same_calls(const struct trace *whole, const struct trace_window *w)
{
	for (size_t i = 0; i < w->t->intervals.cnt; i++)
		if (w->t->intervals.items[i].status == INTERVAL_COMPLETED)
			assert_int_equal(sum_calls(w->t, &w->t->intervals.items[i]), sum_calls(whole, &w->t->intervals.items[i]));
}

/* false: not fit for it. */
static bool add_windows(struct analyzer *a, struct trace_stream *s, const struct trace *whole, size_t *windows)
{
	struct trace_window w = { .t = NULL };
	struct diag diag = DIAG_INIT;
	int e;

	while ((e = trace_stream_next(s, &w, &diag)) > 0) {
		analyzer_add(a, &(struct analysis_window){ w.t, w.before_ns, w.until_ns });
		if (whole)
			same_calls(whole, &w);
		++*windows;
	}
	trace_window_release(&w);
	assert_true(e == 0 || e == TRACE_STREAM_UNFIT);
	return e == 0;
}

static void same(struct trace *whole, const struct trace *names, struct analyzer *a)
{
	assert_int_equal(whole->interval_names.cnt, names->interval_names.cnt);
	assert_memory_equal(&whole->losses, &names->losses, sizeof(whole->losses));
	assert_memory_equal(&whole->off_cpu, &names->off_cpu, sizeof(whole->off_cpu));
	assert_int_equal(whole->functions.cnt, names->functions.cnt);
	for (size_t i = 0; i < whole->interval_names.cnt; i++) {
		_cleanup_(findings_freep) struct findings *x = NULL, *y = NULL;
		struct analyze_options o = { .interval = whole->interval_names.items[i], .quantile = .6 };

		assert_int_equal(analyze(whole, &o, &x), 0);
		assert_int_equal(analyzer_finish(a, names, &o, &y), 0);
		x->clamped = y->clamped = 0;
		same_findings(x, y);
		assert_int_equal(x->observed.cnt, y->observed.cnt);
	}
}

/* Looks at the threads that find them on the CPU, in the run queue or off it as it happens. */
static void put_accounts(void)
{
	unsigned char data[1 << 14];
	struct encoder e = { data, 0, sizeof(data), false };

	for (uint64_t serial = 1; serial <= THREADS; serial++) {
		uint64_t run = 0, delay = 0, slices = 1;

		for (int64_t ns = 0; ns < actors[serial - 1].now_ns; ) {
			uint32_t past = 1 + random_below(&r, 40), what = random_below(&r, 3);

			ns += past;
			run += what == 0 ? past : random_below(&r, 4);
			delay += what == 1 ? random_below(&r, past) : 0;
			slices += random_below(&r, 3);
			put(&e, serial);
			put(&e, (uint64_t)ns);
			put(&e, run);
			put(&e, delay);
			put(&e, slices << 1 | (what == 2));
			put(&e, 1 + random_below(&r, 3));
		}
	}
	trace_file_block(&file, BLOCK_ACCOUNTS, e.data, e.len);
}

#endif
