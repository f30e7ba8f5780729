/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * target_traces.c - traces in all their forms: the runtime's, the kernel's, tuples, perf script's text.
 *
 * An accepted trace has to be a model as trace/model.h describes it.  The text form's reader is strict (spans that
 * overlap or cross are damage), so it is the judge: whatever model a reader makes is written as tuples,
 * which must be readable again and then say the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/analyze.h"
#include "analysis/tree/execution_table.h"
#include "analysis/whole_run/blocked_samples.h"
#include "analysis/whole_run/criticality.h"
#include "analysis/whole_run/wait_graph.h"
#include "base/banned.h"
#include "tests/fuzz/targets.h"
#include "trace/kernel/kernel.h"
#include "trace/merge/merge.h"
#include "trace/perf/perf_script.h"
#include "trace/read/reader.h"
#include "trace/tuples/tuples.h"
#include "trace/windows/stream.h"

static void promise(bool held, const char *what, const char *detail)
{
	if (held)
		return;
	fprintf(stderr, "broken: %s: %s\n", what, detail);
	abort();
}

struct text {
	char *data;
	size_t len;
};

static struct text write_text(const struct trace *t)
{
	struct text text = { NULL, 0 };
	FILE *out = open_memstream(&text.data, &text.len);

	promise(out && tuples_write(out, t) == 0 && fclose(out) == 0, "cannot be written", "");
	return text;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The tuples, in any order but the same for equal traces; comments are none.  Cuts text up. */
static char **tuples_of(struct text *text)
{
	char **lines = xcalloc(text->len + 1, sizeof(*lines)), *rest;
	size_t cnt = 0;

	for (char *line = strtok_r(text->data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (*line != '#')
			lines[cnt++] = line;
	qsort(lines, cnt, sizeof(*lines), compare_lines);
	return lines;
}

static void promise_same(struct text *a, struct text *b)
{
	char **x = tuples_of(a), **y = tuples_of(b);

	for (size_t i = 0; x[i] || y[i]; i++)
		promise(x[i] && y[i] && !strcmp(x[i], y[i]), "written, read and written it is another trace",
			x[i] ? x[i] : y[i]);
	free(x);
	free(y);
}

static void analyse(struct trace *t)
{
	struct wait_graph_options options = { .threshold = 0.2, .prefilter = 0.01 };
	struct wait_graph *graph = NULL;
	struct findings *f = NULL;
	execution_rows rows = { NULL, 0, 0 };

	if (analyze(t, &(struct analyze_options){ .interval = NULL }, &f) == 0)
		findings_free(f);
	execution_table(t, NULL, CHARGE_WAKER, &rows);
	VEC_RELEASE(&rows);
	if (wait_graph_new(t, &options, &graph) == 0)
		wait_graph_free(graph);
	criticality_free(criticality_new(t, -1));
	blocked_samples_free(blocked_samples_new(t, INT64_MAX / 100));
}

void fuzz_model(struct trace *t)
{
	struct diag diag = DIAG_INIT;
	struct trace *again = NULL, *both;
	struct text text = write_text(t), second;

	if (tuples_parse(text.data, text.len, "written", &again, &diag)) {
		fprintf(stderr, "%s\n", text.data);
		promise(false, "what was written cannot be read", diag.text);
	}
	second = write_text(again);
	promise_same(&text, &second);
	both = traces_merge((struct trace *[]){ t, again }, 2);
	trace_free(both);
	analyse(t);
	trace_free(again);
	free(text.data);
	free(second.data);
}

void fuzz_trace(const uint8_t *data, size_t len)
{
	static const struct name_alias alias = { "query", "request" };
	struct diag diag = DIAG_INIT;
	struct trace *t = NULL;

	if (trace_read(fuzz_file(data, len), &(struct reader_options){ .aliases = &alias, .alias_cnt = 1 }, &t, &diag)) {
		promise(!t && diag.status == EXIT_DATA && *diag.text, "an error without a message", "");
		return;
	}
	fuzz_model(t);
	trace_free(t);
}

/* A possible kernel's side of it: off the CPU about when the runtime says so, and now and then at other times. */
static void kernel_side_of(struct kernel_trace *k, const struct trace *t, const uint8_t *data, size_t len)
{
	k->arena = arena_new();
	k->end_ns = INT64_MAX / 4;
	for (size_t i = 0; i < t->segments.cnt && i < 4000; i++) {
		const struct segment *s = &t->segments.items[i];
		uint8_t x = data[i % len], y = data[(i * 7 + 3) % len];
		struct kernel_off o = { .tid = (uint32_t)s->tid, .pid = 1, .waker = y & 15, .state = x & 3, .syscall = 202 };

		if (s->start_ns < 8 || s->end_ns > INT64_MAX / 4)
			continue;
		o.out_ns = s->start_ns + (x & 7) - 3;
		o.in_ns = s->end_ns + (x >> 3 & 7) - 4;
		o.woken_ns = o.in_ns - (y >> 5);
		o.flags = (uint32_t)y & (OFF_WOKEN | OFF_IOWAIT | OFF_PREEMPTED);
		o.waker_kind = (enum kernel_waker)(x >> 6);
		o.after_loss = y == 255;
		if (x != 0)
			VEC_ADD(&k->offs, o);
	}
	for (size_t i = 0; i < t->threads.cnt && i < 16; i++)
		VEC_ADD(&k->lives, (struct kernel_life){ data[i % len] & 1 ? KERNEL_FORK : KERNEL_EXIT,
			(uint32_t)t->threads.items[i].tid, 1, 0, data[i % len], "" });
	kernel_sort(k);
}

/* The file in windows of a few records, and what an analysis makes of them. */
static void read_windows(struct trace_stream *s)
{
	_cleanup_(analyzer_freep) struct analyzer *a = analyzer_new();
	struct trace_window w = { 0 };
	struct findings *f = NULL;
	struct diag diag = DIAG_INIT;
	uint64_t done = 0;
	int r;

	while ((r = trace_stream_next(s, &w, &diag)) > 0) {
		promise(w.done_cnt >= done && w.done_cnt <= w.record_cnt, "windows go on", "");
		for (size_t i = 0; i < w.t->invocations.cnt; i++)
			promise(w.t->invocations.items[i].function < trace_stream_names(s)->functions.cnt,
				"a call of no function", "");
		done = w.done_cnt;
		analyzer_add(a, &(struct analysis_window){ w.t, w.before_ns, w.until_ns });
	}
	promise(r == 0 || r == TRACE_STREAM_UNFIT || *diag.text, "an error without a message", "");
	if (r == 0 && analyzer_finish(a, trace_stream_names(s), &(struct analyze_options){ .interval = NULL }, &f) == 0)
		findings_free(f);
	trace_window_release(&w);
}

void fuzz_stream(const uint8_t *data, size_t len)
{
	const char *path = fuzz_file(data, len);
	struct kernel_trace k = { .arena = NULL };
	struct trace *whole = NULL;

	trace_stream_records = 20;
	for (int with_kernel = 0; with_kernel < 2; with_kernel++) {
		_cleanup_(trace_stream_closep) struct trace_stream *s = NULL;
		struct diag diag = DIAG_INIT;
		int r = trace_stream_open(path, NULL, &s, &diag);

		if (r != 1) {
			promise(!s && (r == TRACE_STREAM_UNFIT || *diag.text), "an error without a message", "");
			return;
		}
		if (with_kernel && (!len || trace_read(path, &(struct reader_options){ .aliases = NULL }, &whole, &diag)))
			return;
		if (with_kernel)
			kernel_side_of(&k, whole, data, len);
		if (!with_kernel || trace_stream_kernel(s, &k) == 1)
			read_windows(s);
	}
	kernel_release(&k);
	trace_free(whole);
}

void fuzz_tuples(const uint8_t *data, size_t len)
{
	struct diag diag = DIAG_INIT;
	struct trace *t = NULL;

	if (tuples_parse((const char *)data, len, "input", &t, &diag)) {
		promise(!t && diag.status == EXIT_DATA && *diag.text, "an error without a message", "");
		return;
	}
	fuzz_model(t);
	trace_free(t);
}

/* Adds possible records of the runtime for thread tid: it ran, waited, called. */
static void add_thread(struct trace *t, uint32_t tid, uint32_t pid, int64_t start_ns, int64_t end_ns)
{
	static const enum trace_state states[] = { STATE_RUNNING, STATE_LOCK, STATE_RUNNING, STATE_IO };
	int64_t quarter_ns = (end_ns - start_ns) / 4;
	uint64_t sid = t->intervals.cnt + 1;

	VEC_ADD(&t->threads, (struct thread_name){ tid, pid, "thread", KIND_THREAD, false, 0 });
	if (quarter_ns <= 0)
		return;
	for (unsigned int i = 0; i < 4; i++)
		VEC_ADD(&t->segments, (struct segment){ tid, sid, start_ns + i * quarter_ns,
			start_ns + (i + 1) * quarter_ns, states[i], 0 });
	VEC_ADD(&t->intervals, (struct interval){ .sid = sid, .status = INTERVAL_COMPLETED,
		.start_tid = tid, .end_tid = tid, .start_ns = start_ns,
		.end_ns = start_ns + 4 * quarter_ns });
	VEC_ADD(&t->invocations, (struct invocation){ tid, sid, 0, CALL_SITE_NONE, start_ns,
		start_ns + 3 * quarter_ns, 0 });
	VEC_ADD(&t->wakeups, (struct wakeup){ tid, tid + 1, start_ns + 2 * quarter_ns - 1 });
}

static struct trace *model_for(const struct kernel_trace *k)
{
	struct trace *t = trace_new();
	size_t first = 0;

	trace_add_string(t, &t->interval_names, "request");
	VEC_ADD(&t->functions, (struct function){ .name = "work", .probed = true });
	for (size_t i = 0; i < k->offs.cnt && t->threads.cnt < 4; i++)
		if (i + 1 == k->offs.cnt || k->offs.items[i + 1].tid != k->offs.items[i].tid) {
			add_thread(t, k->offs.items[i].tid, k->offs.items[i].pid,
				   k->offs.items[first].out_ns, k->offs.items[i].in_ns);
			first = i + 1;
		}
	trace_sort(t);
	return t;
}

/* As windows have it. */
static void read_spilled(const struct kernel_trace *k, const char *path)
{
	struct diag diag = DIAG_INIT;
	struct kernel_trace s = { 0 };

	kernel_spill_offs = 1;
	promise(kernel_read_spilled(&s, path, &diag) == 0 && s.offs.cnt == k->offs.cnt && s.end_ns == k->end_ns,
		"the same where it is spilled", diag.text);
	for (size_t i = 0; i < k->offs.cnt; i++)
		promise(s.offs.items[i].tid == k->offs.items[i].tid && s.offs.items[i].in_ns == k->offs.items[i].in_ns &&
			s.offs.items[i].out_ns == k->offs.items[i].out_ns, "the same offs where they are spilled", "");
	kernel_release(&s);
}

void fuzz_kernel(const uint8_t *data, size_t len)
{
	const char *path = fuzz_file(data, len);
	struct diag diag = DIAG_INIT;
	struct kernel_trace k = { 0 };
	struct trace *t;

	if (kernel_read(&k, path, &diag)) {
		promise(diag.status == EXIT_DATA && *diag.text, "an error without a message", "");
	} else {
		read_spilled(&k, path);
		t = model_for(&k);
		kernel_merge(t, &k);
		fuzz_model(t);
		trace_free(t);
		t = trace_new();
		kernel_merge(t, &k);
		fuzz_model(t);
		trace_free(t);
	}
	kernel_release(&k);
}

void fuzz_perf(const uint8_t *data, size_t len)
{
	static const char *const comms[] = { "w", "dd" };
	static const struct perf_choice choice = { comms, 2, NULL, 0 };
	struct perf_script_stats stats;

	for (int chosen = 0; chosen < 2; chosen++) {
		struct diag diag = DIAG_INIT;
		struct kernel_trace k = { 0 };

		if (perf_script_parse((const char *)data, len, "input", chosen ? &choice : NULL, &k, &stats,
				      &diag)) {
			promise((diag.status == EXIT_DATA || diag.status == EXIT_NO_EVIDENCE) && *diag.text, "an error without a message", "");
		} else {
			struct trace *t = trace_new();

			kernel_merge(t, &k);
			fuzz_model(t);
			trace_free(t);
		}
		kernel_release(&k);
	}
}
