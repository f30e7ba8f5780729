/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_chrome_trace.c - `vprof export --format chrome-trace`: JSON for Perfetto, speedscope and chrome://tracing.
 *
 *	X	a call or a wait of a thread; those of one thread nest
 *	b, e	an interval; intervals may overlap
 *	s, f	an arrow from the waking thread to the wait that it ended
 *	M	the name of a thread
 *
 * Times are microseconds with three decimals, of CLOCK_MONOTONIC.
 */
#include <inttypes.h>

#include "base/banned.h"
#include "cmd/formats/export_format.h"
#include "cmd/formats/pieces/slices.h"
#include "report/output.h"

static void put_us(FILE *out, const char *key, int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	fprintf(out, ",\"%s\":%s%" PRIu64 ".%03" PRIu64, key, ns < 0 ? "-" : "", size / 1000, size % 1000);
}

struct writer {
	FILE *out;
	const struct trace *t;
	const char *before;		/* the next event: "" or ",\n" */
	uint64_t flow;
};

/* {"ph":"X","pid":1,"tid":2,"ts":3.000 */
static void begin(struct writer *w, const char *phase, uint64_t tid, int64_t ns)
{
	fprintf(w->out, "%s{\"ph\":\"%s\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64, w->before, phase, thread_pid(w->t, tid), tid);
	put_us(w->out, "ts", ns);
	w->before = ",\n";
}

static void put_slice(struct writer *w, const struct slice *s)
{
	const struct function *f = s->is_wait ? NULL : &w->t->functions.items[s->function];

	begin(w, "X", s->tid, s->start_ns);
	put_us(w->out, "dur", s->end_ns - s->start_ns);
	fprintf(w->out, ",\"cat\":\"%s\",\"name\":", s->is_wait ? "wait" : "function");
	json_write_text(w->out, slice_name(w->t, s));
	if (s->sid == SID_NONE)
		fputs(",\"args\":{\"interval\":\"-\"", w->out);
	else
		fprintf(w->out, ",\"args\":{\"interval\":\"%" PRIu64 "\"", s->sid);
	if (s->is_wait) {
		fputs(",\"wait\":", w->out);
		json_write_text(w->out, trace_state_name(s->wait));
	}
	if (f && f->file) {
		fputs(",\"file\":", w->out);
		json_write_text(w->out, f->file);
		fprintf(w->out, ",\"line\":%" PRIu32, f->line);
	}
	fputs("}}", w->out);
}

static void put_flow(struct writer *w, const struct slice *s, const slices *all)
{
	if (s->waker == SLICE_NONE)
		return;
	begin(w, "s", all->items[s->waker].tid, s->wake_ns);
	fprintf(w->out, ",\"id\":%" PRIu64 ",\"cat\":\"wakeup\",\"name\":\"wakes\"}", ++w->flow);
	begin(w, "f", s->tid, s->end_ns);
	fprintf(w->out, ",\"bp\":\"e\",\"id\":%" PRIu64 ",\"cat\":\"wakeup\",\"name\":\"wakes\"}", w->flow);
}

static void put_interval(struct writer *w, const char *name, const struct interval_row *row)
{
	for (unsigned end = 0; end < 2; end++) {
		begin(w, end ? "e" : "b", end ? row->end_tid : row->start_tid, end ? row->end_ns : row->start_ns);
		fprintf(w->out, ",\"id\":\"0x%" PRIx64 "\",\"cat\":\"interval\",\"name\":", row->sid);
		json_write_text(w->out, name);
		fprintf(w->out, ",\"args\":{\"interval\":\"%" PRIu64 "\"}}", row->sid);
	}
}

static void put_thread(struct writer *w, const struct thread_name *x)
{
	if (!x->name)
		return;
	fprintf(w->out, "%s{\"ph\":\"M\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64 ",\"name\":\"thread_name\",\"args\":{\"name\":",
		w->before, thread_pid(w->t, x->tid), x->tid);
	json_write_text(w->out, x->name);
	fputs("}}", w->out);
	w->before = ",\n";
}

static int write_chrome(FILE *out, const struct export_input *in)
{
	struct writer w = { out, in->trace, "", 0 };
	slices list = { NULL, 0, 0 };

	slices_read(in, true, &list);
	fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"producer\":\"vprof\",\"clock\":\"CLOCK_MONOTONIC\"},\"traceEvents\":[\n", out);
	for (size_t i = 0; i < in->trace->threads.cnt; i++)
		put_thread(&w, &in->trace->threads.items[i]);
	for (size_t i = 0; i < in->chosen_cnt; i++)
		put_interval(&w, in->findings->interval.name, &in->findings->intervals.items[in->chosen[i]]);
	for (size_t i = 0; i < list.cnt; i++)
		put_slice(&w, &list.items[i]);
	for (size_t i = 0; i < list.cnt; i++)
		put_flow(&w, &list.items[i], &list);
	fputs("\n]}\n", out);
	VEC_RELEASE(&list);
	return 0;
}

static const struct export_writer writer = { .takes_intervals = true, .write = write_chrome };

const struct export_format export_chrome_trace = {
	.name = "chrome-trace", .writer = &writer, .takes_interval = true,
	.options = export_intervals_options, .has_options = export_intervals_given,
};
