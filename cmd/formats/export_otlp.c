/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_otlp.c - `vprof export --format otlp`: OpenTelemetry's TracesData as JSON, one interval per line.
 *
 * There are spans for the interval, its calls and its waits.  A wait links to the waker's span if the export has it.  Times are
 * wall clock times derived from the run's start: their order and lengths are exact, the date is off by up to some ms.
 */
#include <inttypes.h>

#include "base/banned.h"
#include "base/map.h"
#include "base/saturate.h"
#include "cmd/formats/export_format.h"
#include "cmd/formats/pieces/slices.h"
#include "report/output.h"

struct writer {
	FILE *out;
	const struct export_input *in;
	const slices *slices;
	int64_t to_wall_ns;		/* from CLOCK_MONOTONIC */
};

/* Identifies the run and the interval; all spans of an interval share it. */
static void put_trace_id(struct writer *w, uint64_t sid)
{
	fprintf(w->out, "\"traceId\":\"%016" PRIx64 "%016" PRIx64 "\"", hash_u64(hash_u64(0, w->in->run->number),
		(uint64_t)w->in->run->started_ns), sid);
}

/* A slice's id is its place, from 1; an interval's id is the hash of its number.  Never 0, which means none. */
static uint64_t interval_span(uint64_t sid)
{
	return hash_u64(1, sid) | UINT64_C(1) << 63;
}

static void put_times(struct writer *w, int64_t start_ns, int64_t end_ns)
{
	fprintf(w->out, ",\"kind\":1,\"startTimeUnixNano\":\"%" PRId64 "\",\"endTimeUnixNano\":\"%" PRId64 "\"",
		narrow_saturated((__int128)start_ns + w->to_wall_ns), narrow_saturated((__int128)end_ns + w->to_wall_ns));
}

static void put_attribute(FILE *out, const char *before, const char *key, const char *text)
{
	fprintf(out, "%s{\"key\":\"%s\",\"value\":{\"stringValue\":", before, key);
	json_write_text(out, text);
	fputs("}}", out);
}

static void put_number(FILE *out, const char *key, uint64_t number)
{
	fprintf(out, ",{\"key\":\"%s\",\"value\":{\"intValue\":\"%" PRIu64 "\"}}", key, number);
}

static void put_link(struct writer *w, const struct slice *s)
{
	if (s->waker == SLICE_NONE)
		return;
	fputs(",\"links\":[{", w->out);
	put_trace_id(w, w->slices->items[s->waker].sid);
	fprintf(w->out, ",\"spanId\":\"%016zx\",\"attributes\":[", s->waker + 1);
	put_attribute(w->out, "", "vprof.link", "wakeup");
	fputs("]}]", w->out);
}

static void put_slice(struct writer *w, size_t at)
{
	const struct slice *s = &w->slices->items[at];
	const struct trace *t = w->in->trace;
	const struct function *f = s->is_wait ? NULL : &t->functions.items[s->function];

	fputs(",{", w->out);
	put_trace_id(w, s->sid);
	fprintf(w->out, ",\"spanId\":\"%016zx\",\"parentSpanId\":\"%016" PRIx64 "\",\"name\":", at + 1,
		s->parent == SLICE_NONE ? interval_span(s->sid) : (uint64_t)s->parent + 1);
	json_write_text(w->out, slice_name(t, s));
	put_times(w, s->start_ns, s->end_ns);
	fputs(",\"attributes\":[", w->out);
	put_attribute(w->out, "", s->is_wait ? "vprof.wait" : "code.function.name", s->is_wait ? trace_state_name(s->wait) : f->name);
	put_number(w->out, "thread.id", s->tid);
	if (f && f->file)
		put_attribute(w->out, ",", "code.file.path", f->file);
	if (f && f->line)
		put_number(w->out, "code.line.number", f->line);
	fputc(']', w->out);
	put_link(w, s);
	fputc('}', w->out);
}

/* Links the slices of each interval into a list. */
static size_t *list_by_sid(const slices *list, struct map *first)
{
	size_t *next = xcalloc(list->cnt + 1, sizeof(*next));

	for (size_t i = list->cnt; i-- > 0; ) {
		uint64_t *slot = map_slot(first, list->items[i].sid);

		next[i] = *slot;		/* 0: end of the list; else the next + 1 */
		*slot = i + 1;
	}
	return next;
}

static void put_interval(struct writer *w, const struct interval_row *row, uint64_t at, const size_t *next)
{
	fputs("{\"resourceSpans\":[{\"resource\":{\"attributes\":[", w->out);
	put_attribute(w->out, "", "service.name", w->in->run->command ? w->in->run->command : "vprof");
	fputs("]},\"scopeSpans\":[{\"scope\":{\"name\":\"vprof\"},\"spans\":[{", w->out);
	put_trace_id(w, row->sid);
	fprintf(w->out, ",\"spanId\":\"%016" PRIx64 "\",\"name\":", interval_span(row->sid));
	json_write_text(w->out, w->in->findings->interval.name);
	put_times(w, row->start_ns, row->end_ns);
	fputs(",\"attributes\":[", w->out);
	put_attribute(w->out, "", "vprof.kind", "interval");
	put_number(w->out, "thread.id", row->start_tid);
	put_number(w->out, "vprof.sid", row->sid);
	fputs("]}", w->out);
	for (; at; at = next[at - 1])
		put_slice(w, at - 1);
	fputs("]}]}]}\n", w->out);
}

/* Assumes that the first moment of the trace is the start of the run. */
static int64_t to_wall(const struct export_input *in)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < in->trace->intervals.cnt; i++)
		first = in->trace->intervals.items[i].start_ns < first ? in->trace->intervals.items[i].start_ns : first;
	for (size_t i = 0; i < in->trace->segments.cnt; i++)
		first = in->trace->segments.items[i].start_ns < first ? in->trace->segments.items[i].start_ns : first;
	return first == INT64_MAX ? 0 : narrow_saturated((__int128)in->run->started_ns - first);
}

static int write_otlp(FILE *out, const struct export_input *in)
{
	_cleanup_(map_freep) struct map *first = map_new();
	slices list = { NULL, 0, 0 };
	struct writer w = { out, in, &list, to_wall(in) };
	_cleanup_(freep) size_t *next = NULL;

	slices_read(in, &list);
	next = list_by_sid(&list, first);
	for (size_t i = 0; i < in->chosen_cnt; i++) {
		const struct interval_row *row = &in->findings->intervals.items[in->chosen[i]];
		uint64_t at = 0;

		map_get(first, row->sid, &at);
		put_interval(&w, row, at, next);
	}
	VEC_RELEASE(&list);
	return 0;
}

static const struct export_writer writer = { .takes_intervals = true, .write = write_otlp };

const struct export_format export_otlp = {
	.name = "otlp", .writer = &writer, .takes_interval = true,
	.options = export_intervals_options, .has_options = export_intervals_given,
};
